"""What a workflow instance keeps from one run to the next, and how it goes into and comes out of a checkpoint."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from itertools import count
from typing import Any

from studio.checkpoints import Checkpoint, CheckpointKind, Frozen, PendingRequest, QueuedMessage
from studio.checkpoints.quick import maker
from studio.engine.events import State
from studio.engine.executor import Executor
from studio.engine.state import SharedState

_checkpoint = maker(Checkpoint)
_salt = os.urandom(2).hex()
_last = 0


def new_id() -> tuple[str, float]:
    """An id for a checkpoint and its time. The id is the time and a number of this process, 20 hexadecimal digits:
    later ones are greater, which keeps the index of a store small."""
    global _last
    _last = max(time.time_ns(), _last + 1)
    return f"{_last:016x}{_salt}", _last / 1e9


class Instance:
    """Queue by source, pending requests, fan-in buffers, shared state, counters. Plain data, no behaviour of a run."""

    def __init__(self, *, by_arrival: bool) -> None:
        self.status: State = "IDLE"
        self.superstep = 0
        self.queue: dict[str, list[QueuedMessage]] = {}
        self.requests: dict[str, PendingRequest] = {}
        self.fan_in: dict[str, list[QueuedMessage]] = {}
        self.state = SharedState(by_arrival=by_arrival)
        self.last_checkpoint: str | None = None
        self.number = count(1).__next__
        """Gives the next number for an id; ids are unique together with the superstep."""

    def enqueue(self, message: QueuedMessage) -> None:
        """The message waits for the next superstep."""
        queued = self.queue.get(message.source)
        if queued is None:
            self.queue[message.source] = [message]
        else:
            queued.append(message)

    def take(self) -> dict[str, list[QueuedMessage]]:
        """All queued messages by source; the queue is empty afterwards."""
        taken, self.queue = self.queue, {}
        return taken

    def replace_queue(self, messages: Iterable[QueuedMessage]) -> None:
        """Other messages wait for the next superstep."""
        self.queue = {}
        for message in list(messages):
            self.enqueue(message)

    def queued(self) -> tuple[QueuedMessage, ...]:
        """All queued messages in delivery order."""
        if len(self.queue) == 1:
            return tuple(*self.queue.values())
        return tuple(message for messages in self.queue.values() for message in messages)

    async def capture(
        self, kind: CheckpointKind, savers: Iterable[Executor], *, run: str, workflow: str, signature: str
    ) -> Checkpoint:
        """A checkpoint of this moment. Shares immutable values with the instance."""
        executors: dict[str, Mapping[str, Any]] = {}
        for executor in savers:
            saved = await executor.save()
            if saved:
                executors[executor.id] = saved
        id, created = new_id()
        return _checkpoint(
            id,
            parent=self.last_checkpoint,
            run=run,
            workflow=workflow,
            signature=signature,
            kind=kind,
            superstep=self.superstep,
            created=created,
            messages=self.queued(),
            requests=tuple(self.requests.values()),
            state=Frozen(self.state.committed),
            executors=executors,
            fan_in={key: tuple(buffer) for key, buffer in self.fan_in.items() if buffer} if self.fan_in else {},
        )

    async def restore(self, checkpoint: Checkpoint, executors: Mapping[str, Executor]) -> None:
        """Becomes what the checkpoint holds. Everything queued, pending or buffered here is gone afterwards."""
        self.state.replace(checkpoint.state)
        for id, executor in executors.items():
            await executor.restore(checkpoint.executors.get(id, {}))
        self.fan_in = {key: list(buffer) for key, buffer in checkpoint.fan_in.items()}
        self.queue = {}
        for message in checkpoint.messages:
            self.enqueue(message)
        self.requests = {request.id: request for request in checkpoint.requests}
        self.superstep = checkpoint.superstep
        self.last_checkpoint = checkpoint.id
