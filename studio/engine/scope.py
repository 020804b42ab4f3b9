"""One run: where its events go, its clock, and what it gives back."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping
from operator import itemgetter
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from studio.checkpoints import CheckpointStore, PendingRequest, QueuedMessage
from studio.checkpoints.quick import maker
from studio.engine.events import (
    EventSink,
    MessageQueued,
    OutputYielded,
    RequestCancelled,
    RequestRaised,
    State,
    StatusChanged,
)
from studio.engine.gate import Gate, hook
from studio.engine.instance import Instance
from studio.engine.recorder import Recorder
from studio.engine.state import Rank
from studio.engine.types import Type, type_name
from studio.engine.validation import Role

if TYPE_CHECKING:
    from studio.engine.executor import Executor

_queued_message = maker(QueuedMessage)
_message_was_queued = maker(MessageQueued)
_output_yielded = maker(OutputYielded)
_rank = itemgetter(0)


class Scope:
    """What the nodes of one run share. ``emit`` is None when nobody listens: then no event is made at all."""

    __slots__ = (
        "_caller",
        "_cancelling",
        "_intermediate",
        "_marks",
        "_message_queued",
        "_outputs",
        "_told_pending",
        "abandoned",
        "after_model_call",
        "after_node",
        "checkpoint_saved",
        "emit",
        "failed",
        "gate",
        "given_up",
        "inside",
        "instance",
        "intermediate",
        "invocation_stamp",
        "message_stamp",
        "number",
        "outer",
        "outputs",
        "prefix",
        "raised",
        "recorder",
        "result_of_model",
        "result_of_tool",
        "roles",
        "run",
        "started",
        "stopping",
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
        executors: Mapping[str, Executor],
        *,
        events: EventSink | None,
        gate: Gate | None,
        store: CheckpointStore | None,
        run: str,
        streaming: bool,
        outer: Scope | None = None,
        inside: tuple[str, ...] = (),
    ) -> None:
        self.instance = instance
        self.roles = roles
        self.types = types
        self.emit: Callable[[Any], object] | None = None if events is None else events.append
        self.gate = gate
        self._take_hooks(gate, executors)
        self.store = store
        self.run = run
        self.streaming = streaming
        self.inside = inside
        self.prefix = "".join(f"{id}/" for id in inside)
        self.started: float = perf_counter() if outer is None else outer.started
        self.number = instance.number
        self.at(instance.superstep)
        self._nothing_yet()
        self.abandoned: list[asyncio.Task[Any]] = []
        """Nodes that did not end when they were cancelled."""
        self.outer = outer
        """The run around this one, for a nested workflow."""
        self._own_task()

    def _own_task(self) -> None:
        self._caller = asyncio.current_task()
        self.task: asyncio.Task[Any] | None = None if self.outer is None else self._caller
        """The task of the run; nodes may run in it or in tasks of their own."""
        self._cancelling = 0 if self._caller is None else self._caller.cancelling()
        self._marks = 0 if self.outer is None else self._cancelling
        self.stopping = False
        """The run was stopped by its caller."""
        self.given_up = False
        """Something in the running superstep failed: the rest of it is cancelled."""

    def _take_hooks(self, gate: Gate | None, executors: Mapping[str, Executor]) -> None:
        self.after_node = hook(gate, "after_node")
        self.after_model_call = hook(gate, "after_model_call")
        self.checkpoint_saved = hook(gate, "checkpoint_saved")
        self._message_queued = hook(gate, "message_queued")
        self.result_of_model = hook(gate, "result_of_model")
        self.result_of_tool = hook(gate, "result_of_tool")
        recorder = None if gate is None else Recorder(gate, executors)
        self.recorder = recorder if recorder is not None and recorder.wanted else None

    def _nothing_yet(self) -> None:
        self.outputs: list[Any] = []
        self.intermediate: list[Any] = []
        self.raised: list[PendingRequest] = []
        self.failed: str | None = None
        """The node that raised first."""
        self._outputs: list[tuple[Rank, Any]] = []
        self._intermediate: list[tuple[Rank, Any]] = []
        self._told_pending = False

    def at(self, superstep: int) -> None:
        """``superstep`` is the number of the running superstep, or of the next one."""
        self.superstep = superstep
        self.message_stamp = f"{self.prefix}m{superstep}."
        self.invocation_stamp = f"{self.prefix}i{superstep}."

    def left_behind(self, task: asyncio.Task[Any]) -> None:
        """A node does not end although it was cancelled: the run ends without it, and what it does is not heard."""
        self.abandoned.append(task)
        task.add_done_callback(_noted)

    def cancelled(self) -> bool:
        """Whether somebody cancelled the current task since the run started."""
        task = asyncio.current_task()
        return task is not None and task.cancelling() > self.marks_of(task)

    def marked(self) -> bool:
        """Whether the task of the run was cancelled since the run started; cheaper than :meth:`cancelled`."""
        return self.task is not None and self.task.cancelling() > self._marks

    def marks_of(self, task: asyncio.Task[Any]) -> int:
        """How often a task was cancelled before this run came into it."""
        return self._marks if task is self.task else 0

    def stopped(self) -> bool:
        """Whether the run as a whole is to end: its caller is cancelled, or what it belongs to is given up."""
        if self.stopping:
            return True
        if self.outer is not None:
            return self.outer.given_up or self.outer.stopped()
        return self._caller is not None and self._caller.cancelling() > self._cancelling

    def now(self) -> float:
        """Seconds since the run started."""
        return perf_counter() - self.started

    def status(self, state: State) -> None:
        """The run is in another state."""
        self.instance.status = state
        self.tell(StatusChanged, state)

    def tell(self, kind: Callable[..., Any], *fields: Any) -> None:
        """An event of the run itself; nested runs keep theirs to themselves."""
        if self.emit is not None and not self.inside:
            self.emit(kind(self.now(), *fields))

    def message(
        self,
        source: str,
        target: str | None,
        data: Any,
        kind: Literal["standard", "response"] = "standard",
        invocation: str | None = None,
        purpose: str = "send",
        request: PendingRequest | None = None,
    ) -> None:
        """A new message waits for the next superstep."""
        id = f"{self.message_stamp}{self.number()}"
        message = _queued_message(id, source, target, data, kind, invocation, purpose, request)
        if self._message_queued is not None:
            message = self._message_queued(message) or message
            data = message.data
        queue = self.instance.queue
        queued = queue.get(source)
        if queued is None:
            queue[source] = [message]
        else:
            queued.append(message)
        if self.emit is not None:
            t, inside = perf_counter() - self.started, self.inside
            self.emit(_message_was_queued(t, self.superstep, id, source, target, data, invocation, purpose, inside))

    def output(self, node: str, invocation: str, rank: Rank, data: Any, role: Role | None = None) -> None:
        """A node yielded; the designation decides what becomes of it."""
        if role is None:
            role = self.roles.get(node)
            if role is None:
                return
        between = role == "intermediate"
        (self._intermediate if between else self._outputs).append((rank, data))
        emit = self.emit
        if emit is not None and not self.inside:  # this runs for every token
            emit(_output_yielded(perf_counter() - self.started, self.superstep, node, invocation, data, between, rank))

    def withdraw(self, node: str, invocation: str, rank: Rank, asked: Collection[str]) -> None:
        """What an invocation sent, yielded and asked is gone, as if it had not run."""
        queue, requests = self.instance.queue, self.instance.requests
        kept = [message for message in queue.pop(node, ()) if message.invocation != invocation]
        if kept:
            queue[node] = kept
        for yielded in (self._outputs, self._intermediate):
            yielded[:] = [output for output in yielded if output[0] != rank]
        for id in asked:
            if requests.pop(id, None) is not None:
                self.tell(RequestCancelled, id, node)
        self.raised = [request for request in self.raised if request.id not in asked]

    def settle(self, *, by_arrival: bool) -> None:
        """The outputs of a superstep are complete: they take their place in delivery order."""
        if not self._outputs and not self._intermediate:
            return
        for yielded, kept in ((self._outputs, self.outputs), (self._intermediate, self.intermediate)):
            if len(yielded) > 1 and not by_arrival:
                yielded.sort(key=_rank)
            kept += [data for _, data in yielded]
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


def _noted(task: asyncio.Task[Any]) -> None:
    """The error of a node that was left behind is known, so that it is not reported as never retrieved."""
    if not task.cancelled():
        task.exception()
