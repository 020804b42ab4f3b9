"""One superstep: every queued message is offered to the edges of its source, and nodes run.

A *chain* is one edge group with the messages of one source, delivered strictly one after the other. Chains run
concurrently; what needs no waiting (filling a fan-in buffer, a single chain) makes no task.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Mapping, Sequence
from typing import Any

from studio.checkpoints import QueuedMessage
from studio.checkpoints.snapshot import copied
from studio.engine.context import Context
from studio.engine.errors import NodeStopped
from studio.engine.events import MessageRouted, NodeFailed, NodeFinished, NodeStarted
from studio.engine.executor import Handler, ResponseHandler
from studio.engine.routing import FanInRoute, Outcome, Route
from studio.engine.scope import Scope
from studio.engine.state import Rank

_Join = tuple[int, list[QueuedMessage]]
"""Index of the message that completed a join, and all its messages in order of the sources."""


async def together(coroutines: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Runs all at once. The first error cancels the others, which are awaited before it is raised.

    Not a ``TaskGroup``: that one leaves the awaiting task marked as cancelled after an error (before Python 3.13).
    """
    if len(coroutines) == 1:
        await coroutines[0]
        return
    tasks = [asyncio.create_task(coroutine) for coroutine in coroutines]
    try:
        done, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    except asyncio.CancelledError:
        await _end([task for task in tasks if not task.done()])
        raise
    errors = [task.exception() for task in tasks if task in done and not task.cancelled()]
    cancelled = bool(running) and await _end(list(running))
    for error in errors:
        if error is not None:
            raise error
    if cancelled:
        raise asyncio.CancelledError


async def _end(tasks: Sequence[asyncio.Task[None]]) -> bool:
    """Cancels the tasks and waits for them, however often the waiting itself is cancelled; says whether it was."""
    for task in tasks:
        task.cancel()
    cancelled = False
    while any(not task.done() for task in tasks):
        try:
            await asyncio.wait(tasks)
        except asyncio.CancelledError:
            cancelled = True
    for task in tasks:
        if not task.cancelled():
            task.exception()  # noted, so that it is not reported as never retrieved
    return cancelled


class Superstep:
    """Delivers one set of messages. Used once."""

    __slots__ = ("_locks", "_parallel", "_routes", "_scope", "_sequence")

    def __init__(self, scope: Scope, routes: Mapping[str, list[Route]]) -> None:
        self._scope = scope
        self._routes = routes
        self._parallel = False
        self._locks: dict[str, asyncio.Lock] = {}
        self._sequence: dict[str, Rank] = {}

    async def deliver(self, batches: Mapping[str, list[QueuedMessage]]) -> None:
        """Offers all messages and waits until every node has finished. Raises the first error of a node or edge."""
        chains = self._chains(batches)
        self._parallel = len(chains) > 1
        if chains:
            await together(chains)

    def order(self, queue: dict[str, list[QueuedMessage]]) -> dict[str, list[QueuedMessage]]:
        """The messages sent in this superstep, their sources in delivery order."""
        if len(queue) < 2:
            return queue
        first: Rank = (-1, 0, 0)
        return dict(sorted(queue.items(), key=lambda entry: self._sequence.get(entry[0], first)))

    def _chains(self, batches: Mapping[str, list[QueuedMessage]]) -> list[Coroutine[Any, Any, None]]:
        chains: list[Coroutine[Any, Any, None]] = []
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
        buffers = self._scope.instance.fan_in
        needed = len(route.edge.sources)
        for at in range(start, len(messages)):
            message = messages[at]
            outcome = route.admits(message)
            if outcome.reason == "buffered":
                buffer = buffers.setdefault(route.key, [])
                buffer.append(message)
                if len(buffer) >= needed and len({m.source for m in buffer}) == needed:
                    return at, route.ordered(buffers.pop(route.key))
            self._routed(message, outcome)
        return None

    async def _fan_in(self, number: int, route: FanInRoute, join: _Join | None, messages: list[QueuedMessage]) -> None:
        while join is not None:
            at, ordered = join
            data = [message.data for message in ordered]
            handler = route.handler(data)
            self._routed(messages[at], Outcome(route.edge.target, route.edge.id, "", handler))
            await self._run(route.edge.target, handler, ordered[0], data, route.edge.sources, (number, at, 0))
            join = self._joined(route, messages, at + 1)

    async def _chain(self, number: int, route: Route, messages: list[QueuedMessage]) -> None:
        assert not isinstance(route, FanInRoute)
        for at, message in enumerate(messages):
            outcomes = route.plan(message)
            if not isinstance(outcomes, list):
                outcomes = await outcomes
            deliveries = [outcome for outcome in outcomes if outcome.handler is not None and not outcome.reason]
            if self._scope.emit is not None:
                for outcome in outcomes:
                    self._routed(message, outcome)
            sources = (message.source,)
            if len(deliveries) == 1:
                only = deliveries[0]
                assert only.handler is not None
                await self._run(only.target, only.handler, message, message.data, sources, (number, at, 0))
            elif deliveries:
                await together(
                    [
                        self._run(outcome.target, outcome.handler, message, message.data, sources, (number, at, place))
                        for place, outcome in enumerate(deliveries)
                        if outcome.handler is not None
                    ]
                )

    async def _run(
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
            await self._invoke(node, handler, message, data, sources, rank)
            return
        lock = self._locks.get(node)
        if lock is None:
            lock = self._locks[node] = asyncio.Lock()
        async with lock:
            await self._invoke(node, handler, message, data, sources, rank)

    async def _invoke(
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
            await scope.gate.before_node(node, sources, data, scope.inside)
        request = message.request
        ctx = Context(scope, node, sources, rank, None if request is None else request.id)
        emit = scope.emit
        if emit is not None:
            emit(NodeStarted(ctx.now(), ctx.superstep, node, ctx.invocation, sources, copied(data), scope.inside))
        try:
            if isinstance(handler, ResponseHandler):
                await handler.run(None if request is None else request.data, data, ctx)
            else:
                await handler.run(data, ctx)
        except asyncio.CancelledError:
            if scope.cancelled():
                raise
            stopped = NodeStopped(f"Node {node!r} cancelled itself in superstep {ctx.superstep}", [node])
            self._failed(ctx, stopped)
            raise stopped from None
        except Exception as error:
            self._failed(ctx, error)
            raise
        if emit is not None:
            emit(NodeFinished(ctx.now(), ctx.superstep, node, ctx.invocation, ctx.given, scope.inside))

    def _failed(self, ctx: Context, error: Exception) -> None:
        scope = self._scope
        scope.failed = scope.failed or ctx.node
        if not getattr(error, "__notes__", None):
            error.add_note(f"Node {ctx.node}, superstep {ctx.superstep}")
        if scope.emit is not None:
            scope.emit(
                NodeFailed(
                    ctx.now(), ctx.superstep, ctx.node, ctx.invocation, type(error).__name__, str(error), scope.inside
                )
            )

    def _routed(self, message: QueuedMessage, outcome: Outcome) -> None:
        scope = self._scope
        if scope.emit is not None:
            reason = outcome.reason
            scope.emit(
                MessageRouted(
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
