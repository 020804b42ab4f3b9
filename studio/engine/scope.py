"""One run: where its events go, its clock, and what it gives back."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

from studio.checkpoints import CheckpointStore, PendingRequest, QueuedMessage
from studio.engine.events import (
    EventSink,
    MessageQueued,
    OutputYielded,
    RequestRaised,
    State,
    StatusChanged,
)
from studio.engine.gate import Gate
from studio.engine.instance import Instance
from studio.engine.state import Rank
from studio.engine.types import Type, type_name
from studio.engine.validation import Role


class Scope:
    """What the nodes of one run share. ``emit`` is None when nobody listens: then no event is made at all."""

    __slots__ = (
        "_cancelling",
        "_intermediate",
        "_outputs",
        "_told_pending",
        "emit",
        "failed",
        "gate",
        "inside",
        "instance",
        "intermediate",
        "outputs",
        "prefix",
        "raised",
        "roles",
        "run",
        "started",
        "store",
        "streaming",
        "superstep",
        "task",
        "types",
    )

    def __init__(
        self,
        instance: Instance,
        roles: dict[str, Role],
        types: dict[str, Type],
        *,
        events: EventSink | None,
        gate: Gate | None,
        store: CheckpointStore | None,
        run: str,
        streaming: bool,
        inside: tuple[str, ...] = (),
        started: float | None = None,
    ) -> None:
        self.instance = instance
        self.roles = roles
        self.types = types
        self.emit: Callable[[Any], object] | None = None if events is None else events.append
        self.gate = gate
        self.store = store
        self.run = run
        self.streaming = streaming
        self.inside = inside
        self.prefix = "".join(f"{id}/" for id in inside)
        self.started = time.perf_counter() if started is None else started
        self.superstep = instance.superstep
        """Number of the running superstep, or of the next one."""
        self.outputs: list[Any] = []
        self.intermediate: list[Any] = []
        self.raised: list[PendingRequest] = []
        self.failed: str | None = None
        """The node that raised first."""
        self._outputs: list[tuple[Rank, Any]] = []
        self._intermediate: list[tuple[Rank, Any]] = []
        self._told_pending = False
        self.task = asyncio.current_task()
        """The task that awaits the run; nodes may run in it or in tasks of their own."""
        self._cancelling = 0 if self.task is None else self.task.cancelling()

    def cancelled(self) -> bool:
        """Whether somebody cancelled the current task since the run started."""
        task = asyncio.current_task()
        return task is not None and task.cancelling() > (self._cancelling if task is self.task else 0)

    def now(self) -> float:
        """Seconds since the run started."""
        return time.perf_counter() - self.started

    def id(self, kind: str) -> str:
        """A new id, unique in the run: superstep and a number."""
        return f"{self.prefix}{kind}{self.superstep}.{self.instance.number()}"

    def status(self, state: State) -> None:
        """The run is in another state."""
        self.instance.status = state
        self.tell(StatusChanged, state)

    def tell(self, kind: Callable[..., Any], *fields: Any) -> None:
        """An event of the run itself; nested runs keep theirs to themselves."""
        if self.emit is not None and not self.inside:
            self.emit(kind(self.now(), *fields))

    def queue(self, message: QueuedMessage) -> None:
        """A message waits for the next superstep."""
        self.instance.enqueue(message)
        if self.emit is not None:
            m = message
            self.emit(
                MessageQueued(
                    self.now(), self.superstep, m.id, m.source, m.target, m.data, m.invocation, m.purpose, self.inside
                )
            )

    def output(self, node: str, invocation: str, rank: Rank, data: Any, role: Role | None = None) -> None:
        """A node yielded; the designation decides what becomes of it."""
        role = role or self.roles.get(node)
        if role is None:
            return
        between = role == "intermediate"
        (self._intermediate if between else self._outputs).append((rank, data))
        if self.emit is not None and not self.inside:
            self.emit(OutputYielded(self.now(), self.superstep, node, invocation, data, between))

    def settle(self, *, by_arrival: bool) -> None:
        """The outputs of a superstep are complete: they take their place in delivery order."""
        for yielded, kept in ((self._outputs, self.outputs), (self._intermediate, self.intermediate)):
            if len(yielded) > 1 and not by_arrival:
                yielded.sort(key=_rank)
            kept.extend(data for _, data in yielded)
            yielded.clear()

    def request(self, id: str, node: str, data: Any, response_type: Type) -> None:
        """A node asks; the question is pending from now on."""
        name = type_name(response_type)
        self.types.setdefault(name, response_type)
        request = PendingRequest(id, node, data, name)
        self.instance.requests[id] = request
        self.raised.append(request)
        self.show(request)

    def show(self, request: PendingRequest, *, again: bool = False) -> None:
        """The event of a pending request; the first of a run also changes the status."""
        self.tell(RequestRaised, request.id, request.node, request.data, request.response_type, again)
        self.pending()

    def pending(self) -> None:
        """The run goes on with open requests; told once."""
        if not self._told_pending:
            self._told_pending = True
            self.status("IN_PROGRESS_PENDING_REQUESTS")


def _rank(entry: tuple[Rank, Any]) -> Rank:
    return entry[0]
