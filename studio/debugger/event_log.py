"""The log of a branch: its events, encoded and written in batches off the hot path."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from studio.agents.messages import Usage
from studio.checkpoints import Checkpoint, CheckpointStore, Codec, RunStore
from studio.debugger.event_codec import EventEncoder
from studio.debugger.joining import TokenJoiner, join_updates
from studio.debugger.run_usage import usage_text, with_call
from studio.engine.events import Event, NodeFinished

_EVERY = 0.25
"""Seconds between batches while events arrive."""
_BATCH = 50
"""Events written in one go."""
_PIECE = 0.002
"""Seconds of encoding after which the window gets its turn."""


class EventLog:
    """An event sink. ``failed`` is told once if the store does not take events; the run goes on without a log."""

    def __init__(
        self, store: RunStore, run: str, codec: Codec, failed: Callable[[str], None], before: Usage | None = None
    ) -> None:
        self._store, self._codec = store, codec
        self._usage = before
        self._run = run
        self._encoder = EventEncoder(codec)
        self._failed = failed
        self._broken = False
        self._waiting = TokenJoiner()
        self._news = asyncio.Event()
        self._lock = asyncio.Lock()
        self._writer: asyncio.Task[None] | None = None

    @property
    def usage(self) -> str:
        """What the model calls of the branch took, as a record keeps it; ``before`` was taken before this log began."""
        return usage_text(self._usage, self._codec)

    def start(self) -> None:
        """Begins to write in the background; :meth:`close` ends it."""
        self._writer = asyncio.create_task(self._keep_writing(), name=f"event log of {self._run}")

    def append(self, event: Event) -> None:
        """Takes one event."""
        self._usage = with_call(self._usage, event)
        if not self._broken:
            self._waiting.add(event)
            self._news.set()

    async def flush(self) -> None:
        """Returns when everything taken so far is in the store."""
        async with self._lock:
            while self._waiting and not self._broken:
                try:
                    await asyncio.sleep(0)
                    await self._store.append_events(self._run, self._encoded())
                except asyncio.CancelledError:
                    raise
                except Exception as error:
                    self._broken = True
                    self._failed(f"The events of this run are not kept from here on: {error}")

    def _encoded(self) -> list[dict[str, Any]]:
        """The next events, as many as fit into one piece of work."""
        end = time.perf_counter() + _PIECE
        encoded: list[dict[str, Any]] = []
        while self._waiting and len(encoded) < _BATCH and (not encoded or time.perf_counter() < end):
            event = self._waiting.pop()
            if isinstance(event, NodeFinished):
                event = replace(event, data=tuple(join_updates(event.data)))
            encoded.append(self._encoder.encode(event))
        return encoded

    async def close(self) -> None:
        """Writes the rest and ends the background task."""
        if self._writer is not None:
            self._writer.cancel()
            await asyncio.gather(self._writer, return_exceptions=True)
        await self.flush()

    async def _keep_writing(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await asyncio.sleep(_EVERY)
            await self.flush()


class LoggedFirst:
    """The checkpoint store of a run: what happened is in the log before the checkpoint that stands for it is saved, so
    that a killed program never has a checkpoint whose superstep nobody can show."""

    def __init__(self, store: CheckpointStore, log: EventLog) -> None:
        self._store = store
        self._log = log
        self.load = store.load
        self.infos = store.infos
        self.latest = store.latest
        self.delete = store.delete
        self.prune = store.prune
        self.close = store.close

    async def save(self, checkpoint: Checkpoint) -> int:
        """Writes the log, then the checkpoint."""
        await self._log.flush()
        return await self._store.save(checkpoint)
