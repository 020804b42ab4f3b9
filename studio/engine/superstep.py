"""One superstep: every queued message is offered to the edges of its source, and nodes run.

A *chain* is one edge group with the messages of one source, delivered strictly one after the other. Chains run
concurrently; what needs no waiting (filling a fan-in buffer, a single chain) makes no task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from functools import partial
from time import perf_counter
from typing import Any

from studio.checkpoints import PendingRequest, QueuedMessage
from studio.checkpoints.quick import maker
from studio.checkpoints.snapshot import copied
from studio.engine import events as ev
from studio.engine.context import Context
from studio.engine.errors import NodeStopped, code_lines, text_of
from studio.engine.executor import Handler, ResponseHandler
from studio.engine.gate import Gate, Replaced
from studio.engine.routing import FanInRoute, Outcome, Route
from studio.engine.scope import Scope
from studio.engine.state import Rank
from studio.engine.stopping import BREATH, cancelled_itself, end, is_closed, unmark, went_on_cancelled

_Join = tuple[int, list[QueuedMessage]]
"""Index of the message that completed a join, and all its messages in order of the sources."""
_Work = Coroutine[Any, Any, None]
_OFTEN = 31
"""One less than the messages after which a chain looks at the clock; a power of two less one."""

_node_started = maker(ev.NodeStarted)
_node_finished = maker(ev.NodeFinished)
_message_routed = maker(ev.MessageRouted)


class Superstep:
    """Delivers one set of messages. Used once."""

    __slots__ = ("_alarm", "_error", "_locks", "_parallel", "_routes", "_scope", "_sequence", "_tasks")

    def __init__(self, scope: Scope, routes: Mapping[str, list[Route]]) -> None:
        self._scope = scope
        self._routes = routes
        self._parallel = False
        self._locks: dict[str, asyncio.Lock] = {}
        self._sequence: dict[str, Rank] = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._error: BaseException | None = None
        self._alarm: asyncio.Future[None] | None = None

    async def deliver(self, batches: Mapping[str, list[QueuedMessage]]) -> None:
        """Offers all messages and waits until every node has finished. Raises the first error of a node or edge."""
        chains = self._chains(batches)
        if len(chains) == 1:
            await chains[0]
        elif chains:
            self._parallel = True
            await self._together(chains)

    def order(self, queue: dict[str, list[QueuedMessage]]) -> dict[str, list[QueuedMessage]]:
        """The messages sent in this superstep, their sources in delivery order."""
        if len(queue) < 2:
            return queue
        first: Rank = (-1, 0, 0)
        return dict(sorted(queue.items(), key=lambda entry: self._sequence.get(entry[0], first)))

    # ----------------------------------------------------------------------------------------------- concurrency

    async def _together(self, work: Sequence[_Work]) -> None:
        """Runs all at once, in tasks. The first error of the superstep cancels the others; all are awaited.

        Not a ``TaskGroup``: that one leaves the awaiting task marked as cancelled after an error (before Python 3.13).
        """
        create = asyncio.get_running_loop().create_task
        tasks = [create(coroutine) for coroutine in work]
        self._tasks += tasks
        try:
            for task in tasks:
                if not task.done():
                    # Not awaited itself: a node that does not end must hold up neither a failure nor a stop.
                    await asyncio.wait((task, self._alarmed()), return_when=asyncio.FIRST_COMPLETED)
                    if self._error is not None:
                        raise self._error
                task.result()
        except BaseException as error:
            await end(tasks, self._scope)
            if self._error is not None and not self._scope.cancelled():
                raise self._error from None
            raise error from None

    def _alarmed(self) -> asyncio.Future[None]:
        """Done as soon as anything of this superstep failed."""
        if self._alarm is None:
            self._alarm = asyncio.get_running_loop().create_future()
        return self._alarm

    def _failed_with(self, error: BaseException) -> None:
        """The first error stops everything else in this superstep."""
        if self._error is None:
            self._error = error
            self._scope.given_up = True
            if self._alarm is not None:
                self._alarm.set_result(None)
            current = asyncio.current_task()
            for task in self._tasks:
                if task is not current and not task.done():
                    task.cancel()

    # --------------------------------------------------------------------------------------------------- chains

    def _chains(self, batches: Mapping[str, list[QueuedMessage]]) -> list[_Work]:
        chains: list[_Work] = []
        number = 0
        for source, messages in batches.items():
            routes = self._routes.get(source)
            if not routes:
                self._unreceived(messages)
                continue
            for route in routes:
                number += 1
                if isinstance(route, FanInRoute):
                    join = self._joined(route, messages)
                    if join is not None:
                        chains.append(self._fan_in(number, route, join, messages))
                else:
                    chains.append(self._chain(number, route, messages))
        return chains

    def _joined(self, route: FanInRoute, messages: list[QueuedMessage], start: int = 0) -> _Join | None:
        """Buffers messages from ``start`` on; gives the join that one of them completes, if any."""
        buffers, emit = self._scope.instance.fan_in, self._scope.emit
        needed, key = route.needed, route.key
        for at in range(start, len(messages)):
            message = messages[at]
            outcome = route.admits(message)
            if outcome.reason == "buffered":
                buffer = buffers.get(key)
                if buffer is None:
                    buffer = buffers[key] = []
                buffer.append(message)
                if len(buffer) >= needed and len({m.source for m in buffer}) == needed:
                    return at, route.ordered(buffers.pop(key))
            if emit is not None:
                self._routed(message, outcome)
        return None

    async def _fan_in(self, number: int, route: FanInRoute, join: _Join | None, messages: list[QueuedMessage]) -> None:
        while join is not None:
            at, ordered = join
            data = [message.data for message in ordered]
            try:
                handler = route.handler(data)
            except Exception as error:
                self._misrouted(route.edge.target, error)
                raise
            if self._scope.emit is not None:
                self._routed(messages[at], Outcome(route.edge.target, route.edge.id, "", handler))
            rank = (number, at, 0)
            await self._invoke(route.edge.target, handler, ordered[0], data, route.edge.sources, rank)
            join = self._joined(route, messages, at + 1)

    async def _chain(self, number: int, route: Route, messages: list[QueuedMessage]) -> None:
        assert not isinstance(route, FanInRoute)
        emit, breath = self._scope.emit, perf_counter()
        for at, message in enumerate(messages):
            if at & _OFTEN == _OFTEN and perf_counter() - breath > BREATH:
                await asyncio.sleep(0)
                breath = perf_counter()
            try:
                outcomes = route.plan(message)
                if type(outcomes) is not list:
                    outcomes = await outcomes  # type: ignore[misc]
            except BaseException as error:
                raised = self._misrouted(message.source, error)
                if raised is error:
                    raise
                raise raised from None
            if emit is not None:
                for outcome in outcomes:
                    self._routed(message, outcome)
            deliveries = [outcome for outcome in outcomes if outcome.handler is not None and not outcome.reason]
            sources = (message.source,)
            if len(deliveries) == 1:
                only = deliveries[0]
                await self._invoke(only.target, only.handler, message, message.data, sources, (number, at, 0))  # type: ignore[arg-type]
            elif deliveries:
                await self._together(
                    [
                        self._invoke(o.target, o.handler, message, message.data, sources, (number, at, place))  # type: ignore[arg-type]
                        for place, o in enumerate(deliveries)
                    ]
                )

    # ---------------------------------------------------------------------------------------------- invocations

    async def _invoke(
        self,
        node: str,
        handler: Handler | ResponseHandler,
        message: QueuedMessage,
        data: Any,
        sources: tuple[str, ...],
        rank: Rank,
    ) -> None:
        """One invocation; a node that several chains want runs once for each, without overlap."""
        known = self._sequence.get(node)
        if known is None or rank < known:
            self._sequence[node] = rank
        if not self._parallel:
            await self._run(node, handler, message, data, sources, rank)
            return
        lock = self._locks.get(node)
        if lock is None:
            lock = self._locks[node] = asyncio.Lock()
        async with lock:
            await self._run(node, handler, message, data, sources, rank)

    async def _run(
        self,
        node: str,
        handler: Handler | ResponseHandler,
        message: QueuedMessage,
        data: Any,
        sources: tuple[str, ...],
        rank: Rank,
    ) -> None:
        scope = self._scope
        if scope.gate is not None:
            data = await self._let_in(scope.gate, node, data, sources)
        request, superstep = message.request, scope.superstep
        ctx = Context(scope, node, sources, rank, None if request is None else request.id)
        if (emit := scope.emit) is not None:
            emit(_node_started(scope.now(), superstep, node, ctx.invocation, sources, _shown(data), scope.inside))
        try:
            if scope.recorder is not None:
                data = await scope.recorder.run(partial(_call, handler, request), data, ctx)
            elif type(handler) is Handler:
                await handler.run(data, ctx)
            else:
                await _call(handler, request, data, ctx)
            if scope.after_node is not None:
                await scope.after_node(node, data, ctx.given, scope.inside)
            # Without tasks of its own the superstep runs in the task of the run.
            marked = scope.cancelled() if self._tasks else scope.marked()
            if marked and self._error is None and await went_on_cancelled(scope):
                raise _stopped(ctx)
        except asyncio.CancelledError:
            if self._error is not None or not cancelled_itself(scope):
                raise
            self._failed(ctx, stopped := _stopped(ctx))
            raise stopped from None
        except BaseException as error:  # one that is no Exception, too: the others must not go on for ever
            if not is_closed(error):
                self._failed(ctx, error)
            raise
        if (emit := scope.emit) is not None:  # None by now if the run ended without this node
            emit(_node_finished(scope.now(), superstep, node, ctx.invocation, ctx.given, scope.inside))

    async def _let_in(self, gate: Gate, node: str, data: Any, sources: tuple[str, ...]) -> Any:
        """Lets the gate hold the invocation; gives the data it is to have."""
        try:
            replaced = await gate.before_node(node, sources, data, self._scope.inside)
        except BaseException as error:
            self._failed_with(error)
            raise
        return replaced.value if type(replaced) is Replaced else data

    def _failed(self, ctx: Context, error: BaseException) -> None:
        self._failed_with(error)
        scope = self._scope
        unmark(scope)
        scope.failed = scope.failed or ctx.node
        if not getattr(error, "__notes__", None):
            error.add_note(f"Node {ctx.node}, superstep {ctx.superstep}")
        if scope.emit is not None:
            told = type(error).__name__, text_of(error), scope.inside, code_lines(error)
            scope.emit(ev.NodeFailed(ctx.now(), ctx.superstep, ctx.node, ctx.invocation, *told))

    def _misrouted(self, node: str, error: BaseException) -> BaseException:
        """A condition or selection raised: no node failed, but the run does. Gives the error to raise."""
        scope = self._scope
        if isinstance(error, asyncio.CancelledError):
            if self._error is not None or not cancelled_itself(scope):
                return error
            error = NodeStopped(f"An edge of node {node!r} cancelled itself in superstep {scope.superstep}", [node])
        if not is_closed(error):
            self._failed_with(error)
            scope.failed = scope.failed or node
            if not getattr(error, "__notes__", None):
                error.add_note(f"An edge of node {node}, superstep {scope.superstep}")
        return error

    def _routed(self, message: QueuedMessage, outcome: Outcome) -> None:
        scope, reason = self._scope, outcome.reason
        scope.emit(  # type: ignore[misc]
            _message_routed(
                scope.now(),
                scope.superstep,
                message.id,
                outcome.edge,
                message.source,
                outcome.target,
                not reason,
                reason,
                scope.inside,
            )
        )

    def _unreceived(self, messages: Sequence[QueuedMessage]) -> None:
        if self._scope.emit is not None:
            for message in messages:
                self._routed(message, Outcome(message.target or "", "", "no_edge"))


async def _call(handler: Handler | ResponseHandler, request: PendingRequest | None, data: Any, ctx: Context) -> None:
    """The handler itself."""
    if isinstance(handler, Handler):
        await handler.run(data, ctx)
    else:
        await handler.run(None if request is None else request.data, data, ctx)


def _stopped(ctx: Context) -> NodeStopped:
    """The error of a node that cancelled itself."""
    return NodeStopped(f"Node {ctx.node!r} cancelled itself in superstep {ctx.superstep}", [ctx.node])


def _shown(data: Any) -> Any:
    """A copy for an event; what cannot be copied (a lock, an open file) as it is: being watched changes no run."""
    try:
        return copied(data)
    except Exception:
        return data
