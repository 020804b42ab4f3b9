"""A workflow instance: runs, answers, resumes. See ``ARCHITECTURE.md`` for the algorithm on one page."""

from __future__ import annotations

import asyncio
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

from studio.checkpoints import (
    Checkpoint,
    CheckpointKind,
    CheckpointNotFound,
    CheckpointStore,
    PendingRequest,
    QueuedMessage,
    list_types,
)
from studio.checkpoints.quick import maker
from studio.checkpoints.snapshot import copied
from studio.engine.context import Context
from studio.engine.errors import AnswerRejected, ConvergenceError, ResumeError, RunRejected, code_lines, text_of
from studio.engine.events import (
    CheckpointFailed,
    CheckpointSaved,
    EventSink,
    RequestAnswered,
    RequestCancelled,
    RunFailed,
    RunStarted,
    State,
    StateConflict,
    SuperstepFinished,
    SuperstepStarted,
)
from studio.engine.executor import Executor
from studio.engine.gate import Gate
from studio.engine.graph import Edge, signature
from studio.engine.instance import Instance
from studio.engine.routing import internal, routes_by_source
from studio.engine.scope import Scope
from studio.engine.stopping import BREATH, awaited, name_left_behind
from studio.engine.superstep import Superstep
from studio.engine.types import Type, coerced, fits, parse_type, type_name
from studio.engine.validation import Role

Order = Literal["delivery", "arrival"]
"""Order of what one superstep produced: "delivery" is the same in every run, "arrival" is as it happened."""

_superstep_started = maker(SuperstepStarted)
_superstep_finished = maker(SuperstepFinished)
_checkpoint_saved = maker(CheckpointSaved)


@dataclass(frozen=True, slots=True, repr=False)
class RunResult:
    """How a run ended. ``requests`` are all that wait for an answer, ``raised`` those of this run."""

    state: State
    outputs: tuple[Any, ...] = ()
    intermediate: tuple[Any, ...] = ()
    requests: tuple[PendingRequest, ...] = ()
    raised: tuple[PendingRequest, ...] = ()

    def __repr__(self) -> str:
        """Cut: a streamed run has thousands of outputs, and asyncio writes the result of a task into its messages."""
        return f"RunResult({self.state!r}, {reprlib.repr(self.outputs)}, requests={reprlib.repr(self.requests)})"


class _Unset:
    """No input given; None may be an input."""


_UNSET = _Unset()


class Workflow:
    """Nodes, edges and everything that lives on between runs. Made by ``WorkflowBuilder``; one run at a time."""

    def __init__(
        self,
        *,
        start: str,
        executors: Mapping[str, Executor],
        edges: Sequence[Edge],
        roles: Mapping[str, Role],
        name: str,
        max_supersteps: int,
        order: Order,
    ) -> None:
        self.name = name
        self.start = start
        self.executors: dict[str, Executor] = dict(executors)
        self.edges: tuple[Edge, ...] = tuple(edges)
        self.max_supersteps = max_supersteps
        self.signature = signature(start, self.executors, self.edges)
        """Fingerprint of the topology; checkpoints of another one are refused."""
        self._roles = dict(roles)
        self._by_arrival = order == "arrival"
        self._instance = Instance(by_arrival=self._by_arrival)
        self._routes = routes_by_source(self.edges, self.executors)
        self._savers = [e for e in self.executors.values() if type(e).save is not Executor.save]
        self._types: dict[str, Type] = {
            type_name(response.response): response.response
            for executor in self.executors.values()
            for response in executor.responses
        }
        self._active = False

    # ------------------------------------------------------------------------------------------ what is there

    @property
    def state(self) -> State:
        """How the last run ended, or what the running one is doing."""
        return self._instance.status

    @property
    def superstep(self) -> int:
        """Supersteps completed since the last input."""
        return self._instance.superstep

    @property
    def queued(self) -> tuple[QueuedMessage, ...]:
        """Messages that wait for the next superstep, in delivery order."""
        return self._instance.queued()

    @property
    def pending_requests(self) -> tuple[PendingRequest, ...]:
        """Requests that wait for an answer."""
        return tuple(self._instance.requests.values())

    @property
    def shared_state(self) -> dict[str, Any]:
        """A copy of the committed shared state."""
        return copied(self._instance.state.committed)  # type: ignore[no-any-return]

    @property
    def fan_in(self) -> dict[str, tuple[QueuedMessage, ...]]:
        """Messages that wait at a join, by key of the edge."""
        return {key: tuple(buffer) for key, buffer in self._instance.fan_in.items() if buffer}

    @property
    def last_checkpoint(self) -> str | None:
        """The checkpoint saved or resumed last; the parent of the next one."""
        return self._instance.last_checkpoint

    @property
    def accepts(self) -> tuple[Type, ...]:
        """Types of inputs."""
        return self.executors[self.start].accepts

    @property
    def yields(self) -> tuple[Type, ...]:
        """Types that any node may yield."""
        return tuple(dict.fromkeys(kind for e in self.executors.values() for kind in e.yields))

    def role(self, node: str) -> Role | None:
        """What a yield of this node becomes; None: nothing."""
        return self._roles.get(node)

    def response_type(self, request: PendingRequest) -> Type:
        """The type that an answer to this request must have."""
        return self._types.get(request.response_type) or parse_type(request.response_type)

    def seed_state(self, values: Mapping[str, Any]) -> None:
        """Initial values of shared state; only keys that are not there yet."""
        for key, value in values.items():
            self._instance.state.committed.setdefault(key, copied(value))

    def replace_state(self, values: Mapping[str, Any]) -> None:
        """Another shared state altogether. Between supersteps only: from a gate that holds the run, or between runs."""
        self._instance.state.replace(copied(dict(values)))

    def replace_queue(self, messages: Iterable[QueuedMessage]) -> None:
        """Other messages for the next superstep. Between supersteps only."""
        self._instance.replace_queue(messages)

    # ------------------------------------------------------------------------------------------------- running

    async def run(
        self,
        data: Any = _UNSET,
        *,
        answers: Mapping[str, Any] | None = None,
        checkpoint: str | Checkpoint | None = None,
        cancel: Sequence[str] | None = None,
        stream: bool = False,
        events: EventSink | None = None,
        gate: Gate | None = None,
        store: CheckpointStore | None = None,
        run_id: str = "",
        inside: Context | None = None,
    ) -> RunResult:
        """Runs until nothing is left to deliver.

        Exactly one of: ``data`` (a new input), ``answers`` (by request id), ``checkpoint`` (with ``answers`` if
        wanted), ``cancel`` (ids of requests that get no answer). With ``store`` a checkpoint is saved at the start and
        after every superstep. ``inside`` is the invocation of a sub-workflow node that this run belongs to.

        Raises :class:`RunRejected` before anything happened, :class:`ResumeError`, :class:`ConvergenceError`, or what a
        node raised. Cancelling the awaiting task cancels all nodes and awaits them; the state is then CANCELLED and the
        run can be resumed from its last checkpoint.
        """
        self._check_call(data, answers, checkpoint, cancel, store)
        checked = {} if answers is None or checkpoint is not None else self._checked(answers)
        self._active = True
        if inside is not None:
            return await self._run_inside(inside, data, answers, checked, checkpoint, cancel)
        scope = Scope(
            self._instance, self._roles, self._types, self.executors,
            events=events, gate=gate, store=store, run=run_id, streaming=stream,
        )  # fmt: skip
        whole = self._guarded(scope, data, answers, checked, checkpoint, cancel)
        scope.task = asyncio.create_task(whole, name=f"run of {self.name}")
        try:
            return await awaited(scope, scope.task)
        finally:
            self._active = bool(scope.abandoned)
            list_types.forget()

    async def _run_inside(self, inside: Context, *arguments: Any) -> RunResult:
        """A run that belongs to an invocation of the outer workflow."""
        try:
            return await self._guarded(self._nested(inside), *arguments)
        finally:
            self._active = False

    def _nested(self, outer: Context) -> Scope:
        scope = Scope(
            self._instance, self._roles, self._types, self.executors,
            events=None, gate=outer.gate, store=None, run=outer.scope.run, streaming=False,
            outer=outer.scope, inside=(*outer.inside, outer.node),
        )  # fmt: skip
        scope.emit = outer.scope.emit
        return scope

    def _check_call(
        self,
        data: Any,
        answers: Mapping[str, Any] | None,
        checkpoint: str | Checkpoint | None,
        cancel: Sequence[str] | None,
        store: CheckpointStore | None,
    ) -> None:
        given = [
            what
            for what, there in (
                ("an input", data is not _UNSET),
                ("answers", answers is not None and checkpoint is None),
                ("a checkpoint", checkpoint is not None),
                ("requests to cancel", cancel is not None),
            )
            if there
        ]
        if data is not _UNSET and answers is not None and checkpoint is not None:
            given.append("answers")
        if len(given) != 1:
            raise RunRejected(f"A run needs exactly one of input, answers or checkpoint; given: {given or 'none'}")
        if isinstance(checkpoint, str) and store is None:
            raise RunRejected("Resuming a checkpoint by its id needs the store that has it")
        if self._active:
            raise RunRejected(
                "This instance is already running, or a node of its last run does not end; make another instance"
            )
        if data is not _UNSET and self._instance.queue:
            raise RunRejected(
                "Messages of an earlier run are left in this instance; resume a checkpoint or make another instance"
            )

    async def _guarded(
        self,
        scope: Scope,
        data: Any,
        answers: Mapping[str, Any] | None,
        checked: Mapping[str, Any],
        checkpoint: str | Checkpoint | None,
        cancel: Sequence[str] | None,
    ) -> RunResult:
        """The run between its first and its last status."""
        kind = "checkpoint" if checkpoint is not None else "input" if data is not _UNSET else "answers"
        scope.tell(RunStarted, kind, None if data is _UNSET else data)
        scope.status("IN_PROGRESS")
        try:
            if checkpoint is not None:
                await self._resume(scope, checkpoint, answers)
            elif cancel is not None:
                await self._cancel(scope, cancel)
            elif answers is not None:
                await self._answer(scope, checked)
            else:
                await self._input(scope, data)
            await self._loop(scope)
        except BaseException as error:
            self._ended_badly(scope, error)
            if scope.cancelled() and not isinstance(error, asyncio.CancelledError):
                raise asyncio.CancelledError from error
            raise
        pending = self.pending_requests
        scope.status("IDLE_WITH_PENDING_REQUESTS" if pending else "IDLE")
        return RunResult(self.state, tuple(scope.outputs), tuple(scope.intermediate), pending, tuple(scope.raised))

    def _ended_badly(self, scope: Scope, error: BaseException) -> None:
        """The last events of a run that failed or was cancelled."""
        self._instance.state.discard()
        scope.settle(by_arrival=self._by_arrival)
        if scope.abandoned and not scope.inside:
            name_left_behind(scope)
        if isinstance(error, asyncio.CancelledError) or scope.cancelled():
            scope.status("CANCELLED")
            if scope.abandoned:
                scope.emit = scope.store = None
            return
        nodes: tuple[str, ...] = getattr(error, "nodes", ())
        node = scope.failed or (nodes[0] if nodes else None)
        scope.tell(RunFailed, type(error).__name__, text_of(error), node, code_lines(error))
        scope.status("FAILED")

    # ------------------------------------------------------------------------------------------------- starting

    async def _input(self, scope: Scope, data: Any) -> None:
        self._instance.superstep = 0
        scope.at(0)
        start = self.executors[self.start]
        if start.handler_for(data) is None:
            wanted = ", ".join(type_name(kind) for kind in start.accepts)
            raise RunRejected(
                f"The start node {start.id!r} cannot take an input of type {type(data).__name__}; it takes {wanted}",
                [start.id],
            )
        source = internal(start.id)
        scope.message(source, start.id, data, purpose="input")
        await self._save(scope, "input")

    async def _resume(self, scope: Scope, checkpoint: str | Checkpoint, answers: Mapping[str, Any] | None) -> None:
        if isinstance(checkpoint, str):
            assert scope.store is not None
            try:
                checkpoint = await scope.store.load(checkpoint)
            except CheckpointNotFound as error:
                raise ResumeError(str(error)) from error
        await self.restore(checkpoint)
        scope.at(self._instance.superstep)
        for request in self.pending_requests:
            if not answers or request.id not in answers:
                scope.show(request, again=True)
        if self._instance.requests:
            scope.pending()
        if answers is not None:
            await self._answer(scope, self._checked(answers))

    async def restore(self, checkpoint: Checkpoint) -> None:
        """Becomes what the checkpoint holds, without running. Raises :class:`ResumeError` for another graph."""
        if checkpoint.signature != self.signature:
            raise ResumeError(
                "The graph has changed since this checkpoint was saved; nodes, edges or names of conditions differ"
            )
        await self._instance.restore(checkpoint, self.executors)

    async def capture(self, kind: CheckpointKind = "superstep", run: str = "") -> Checkpoint:
        """A checkpoint of this moment; only sound between runs."""
        return await self._instance.capture(kind, self._savers, run=run, workflow=self.name, signature=self.signature)

    def _checked(self, answers: Mapping[str, Any]) -> dict[str, Any]:
        """All answers as their types want them; one bad answer refuses all."""
        pending = self._instance.requests
        if not pending:
            raise RunRejected("No request waits for an answer")
        checked = {}
        for id, answer in answers.items():
            request = pending.get(id)
            if request is None:
                raise AnswerRejected(f"No request with the id {id!r} waits for an answer")
            wanted = self.response_type(request)
            value = coerced(answer, wanted)
            if not fits(value, wanted):
                raise AnswerRejected(
                    f"The answer to the request of node {request.node!r} must be {request.response_type}, "
                    f"not {type(answer).__name__}",
                    [request.node],
                )
            checked[id] = value
        return checked

    async def _answer(self, scope: Scope, answers: Mapping[str, Any]) -> None:
        for id, value in answers.items():
            request = self._instance.requests.pop(id)
            scope.tell(RequestAnswered, id, request.node, value)
            scope.message(internal(request.node), request.node, value, "response", None, "answer", request)
        await self._save(scope, "answers")

    async def _cancel(self, scope: Scope, ids: Sequence[str]) -> None:
        for id in ids:
            request = self._instance.requests.pop(id, None)
            if request is None:
                continue
            scope.tell(RequestCancelled, id, request.node)
            executor = self.executors.get(request.node)
            if executor is not None:
                ctx = Context(scope, request.node, (internal(request.node),), (-1, 0, 0), id)
                await executor.cancel_request(request, ctx)
        scope.settle(by_arrival=self._by_arrival)

    # ------------------------------------------------------------------------------------------------ supersteps

    async def _loop(self, scope: Scope) -> None:
        instance = self._instance
        breath = perf_counter()
        while instance.superstep < self.max_supersteps:
            scope.at(instance.superstep + 1)
            if scope.gate is not None and not scope.inside:
                queued = await scope.gate.before_superstep(scope.superstep, instance.queued())
                if queued is not None:
                    instance.replace_queue(queued)
            if perf_counter() - breath > BREATH:
                await asyncio.sleep(0)
                breath = perf_counter()
            await self._superstep(scope)
            if scope.marked():
                raise asyncio.CancelledError  # a node swallowed the cancellation and ended all the same
            if not instance.queue:
                return
        if instance.queue:
            nodes = sorted(instance.queue)
            limit = "1 superstep" if self.max_supersteps == 1 else f"{self.max_supersteps} supersteps"
            raise ConvergenceError(
                f"The limit of {limit} is reached and messages of {', '.join(nodes)} are left",
                nodes,
            )

    async def _superstep(self, scope: Scope) -> None:
        instance, number, emit = self._instance, scope.superstep, scope.emit
        if emit is not None:
            emit(_superstep_started(scope.now(), number, scope.inside))
        superstep = Superstep(scope, self._routes)
        await superstep.deliver(instance.take())
        delivered = perf_counter()
        instance.superstep = number
        if instance.state.written:
            for key, nodes in instance.state.commit():
                scope.tell(StateConflict, number, key, nodes)
        scope.settle(by_arrival=self._by_arrival)
        if not self._by_arrival and len(instance.queue) > 1:
            instance.queue = superstep.order(instance.queue)
        checkpoint = None
        if scope.store is not None:
            if perf_counter() - delivered > BREATH / 2:
                await asyncio.sleep(0)
            checkpoint = await self._save(scope, "superstep")
        emit = scope.emit
        if emit is not None:
            emit(_superstep_finished(scope.now(), number, checkpoint, scope.inside))

    async def _save(self, scope: Scope, kind: Literal["input", "superstep", "answers"]) -> str | None:
        """Saves a checkpoint if there is a store. A failure is an event; the run goes on without this one."""
        if scope.store is None:
            return None
        try:
            checkpoint = await self.capture(kind, scope.run)
            size = await scope.store.save(checkpoint)
        except Exception as error:
            scope.tell(CheckpointFailed, self._instance.superstep, f"{type(error).__name__}: {text_of(error)}")
            return None
        self._instance.last_checkpoint = checkpoint.id
        scope.tell(_checkpoint_saved, checkpoint.id, checkpoint.parent, kind, checkpoint.superstep, size)
        if scope.checkpoint_saved is not None:
            await scope.checkpoint_saved(checkpoint.id, checkpoint.superstep)
        return checkpoint.id
