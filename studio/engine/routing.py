"""Where a message goes: pure decisions of edge groups, compiled once per workflow."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from studio.checkpoints import QueuedMessage
from studio.engine.errors import RoutingError
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.graph import DirectEdge, Edge, FanInEdge, FanOutEdge, SwitchEdge
from studio.engine.values import FROM_OUTSIDE, Record

Reason = Literal["", "condition", "type", "target", "selection", "no_edge", "buffered"]


@dataclass(slots=True)
class Outcome:
    """What an edge does with a message for one target: delivered to ``handler``, or ``reason`` says why not."""

    target: str
    edge: str
    reason: Reason = ""
    handler: Handler | ResponseHandler | None = None


Outcomes = list[Outcome]
Plan = Outcomes | Awaitable[Outcomes]
"""Known at once, or later if a condition must be awaited."""


def taker(executor: Executor, message: QueuedMessage) -> Handler | ResponseHandler | None:
    """The handler that takes the message; None: it is dropped, which is never an error."""
    if message.request is not None:
        return executor.response_for(message.request.data, message.data)
    return executor.handler_for(message.data)


class DirectRoute:
    """A direct edge, and the internal edge of every node."""

    __slots__ = ("_executor", "edge")

    def __init__(self, edge: DirectEdge, executors: Mapping[str, Executor]) -> None:
        self.edge = edge
        self._executor = executors[edge.target]

    def plan(self, message: QueuedMessage) -> Plan:
        """Target id, then type, then condition."""
        edge = self.edge
        if message.target is not None and message.target != edge.target:
            return [Outcome(edge.target, edge.id, "target")]
        handler = taker(self._executor, message)
        if handler is None:
            return [Outcome(edge.target, edge.id, "type")]
        if edge.condition is not None:
            holds = edge.condition(message.data)
            if inspect.isawaitable(holds):
                return self._later(holds, handler)
            if not holds:
                return [Outcome(edge.target, edge.id, "condition")]
        return [Outcome(edge.target, edge.id, "", handler)]

    async def _later(self, holds: Awaitable[bool], handler: Handler | ResponseHandler) -> Outcomes:
        if await holds:
            return [Outcome(self.edge.target, self.edge.id, "", handler)]
        return [Outcome(self.edge.target, self.edge.id, "condition")]


class FanOutRoute:
    """Several targets, of which a selection may choose."""

    __slots__ = ("_executors", "edge")

    def __init__(self, edge: FanOutEdge, executors: Mapping[str, Executor]) -> None:
        self.edge = edge
        self._executors = {target: executors[target] for target in edge.targets}

    def plan(self, message: QueuedMessage) -> Plan:
        """The selection is asked only if some target could take the message."""
        handlers = _reachable(self.edge.id, self._executors, message)
        if isinstance(handlers, list):
            return handlers
        if self.edge.selection is None:
            return _chosen(self.edge.id, handlers, self.edge.targets, message)
        selected = self.edge.selection(message.data, list(self.edge.targets))
        if inspect.isawaitable(selected):
            return self._later(selected, handlers, message)
        return _chosen(self.edge.id, handlers, self._checked(selected), message)

    async def _later(self, selected: Awaitable[Sequence[str]], handlers: _Handlers, message: QueuedMessage) -> Outcomes:
        return _chosen(self.edge.id, handlers, self._checked(await selected), message)

    def _checked(self, selected: Sequence[str]) -> Sequence[str]:
        foreign = [id for id in selected if id not in self._executors]
        if foreign:
            named = ", ".join(map(repr, foreign))
            raise RoutingError(
                f"The selection of node {self.edge.source!r} chose {named}, which is no target of the fan-out "
                f"(targets: {', '.join(self.edge.targets)})",
                [self.edge.source],
            )
        return selected


class SwitchRoute:
    """First case that holds."""

    __slots__ = ("_executors", "edge")

    def __init__(self, edge: SwitchEdge, executors: Mapping[str, Executor]) -> None:
        self.edge = edge
        self._executors = {target: executors[target] for target in edge.targets}

    def plan(self, message: QueuedMessage) -> Plan:
        """Cases in order, none after the first that holds."""
        handlers = _reachable(self.edge.id, self._executors, message)
        if isinstance(handlers, list):
            return handlers
        return self._from(0, handlers, message)

    def _from(self, start: int, handlers: _Handlers, message: QueuedMessage) -> Plan:
        for at, case in enumerate(self.edge.cases[start:], start):
            holds = True if case.condition is None else case.condition(message.data)
            if inspect.isawaitable(holds):
                return self._later(at, holds, handlers, message)
            if holds:
                return _chosen(case.id or self.edge.id, handlers, (case.target,), message)
        return []

    async def _later(self, at: int, holds: Awaitable[bool], handlers: _Handlers, message: QueuedMessage) -> Outcomes:
        if await holds:
            case = self.edge.cases[at]
            return _chosen(case.id or self.edge.id, handlers, (case.target,), message)
        rest = self._from(at + 1, handlers, message)
        return rest if isinstance(rest, list) else await rest


class FanInRoute:
    """The barrier: says whether a message may wait, and what is delivered once every source is there."""

    __slots__ = ("_buffered", "_executor", "_takes", "edge", "key", "needed")

    def __init__(self, edge: FanInEdge, executors: Mapping[str, Executor]) -> None:
        self.edge = edge
        self.key = edge.key
        self.needed = len(edge.sources)
        self._buffered = Outcome(edge.target, edge.id, "buffered")
        self._takes: dict[type, bool] = {}
        self._executor = executors[edge.target]

    def admits(self, message: QueuedMessage) -> Outcome:
        """Buffered, or dropped."""
        if message.target is not None and message.target != self.edge.target:
            return Outcome(self.edge.target, self.edge.id, "target")
        kind = type(message.data)
        takes = self._takes.get(kind)
        if takes is None:
            takes = self._executor.handler_for([message.data]) is not None
            if not issubclass(kind, list | Record):
                self._takes[kind] = takes
        return self._buffered if takes else Outcome(self.edge.target, self.edge.id, "type")

    def ordered(self, buffer: Sequence[QueuedMessage]) -> list[QueuedMessage]:
        """Source by source in the order of the edge, within a source in order of arrival."""
        by_source: dict[str, list[QueuedMessage]] = {source: [] for source in self.edge.sources}
        for message in buffer:
            by_source[message.source].append(message)
        return [message for messages in by_source.values() for message in messages]

    def handler(self, data: list[Any]) -> Handler:
        """The handler of a joined list. Raises :class:`RoutingError` if only its items fit."""
        handler = self._executor.handler_for(data)
        if handler is None:
            target = self.edge.target
            raise RoutingError(f"Node {target!r} takes each joined item, but not the whole list", [target])
        return handler


Route = DirectRoute | FanOutRoute | SwitchRoute | FanInRoute
_Handlers = dict[str, Handler | ResponseHandler | None]


def _reachable(edge: str, executors: Mapping[str, Executor], message: QueuedMessage) -> _Handlers | Outcomes:
    """The handlers of all targets, or why the group drops the message without asking its selection."""
    if message.target is not None and message.target not in executors:
        return [Outcome(target, edge, "target") for target in executors]
    if message.request is None:
        data = message.data
        handlers: _Handlers = {target: executor.handler_for(data) for target, executor in executors.items()}
    else:
        handlers = {target: taker(executor, message) for target, executor in executors.items()}
    if not any(handlers.values()):
        return [Outcome(target, edge, "type") for target in executors]
    return handlers


def _chosen(edge: str, handlers: _Handlers, selected: Sequence[str], message: QueuedMessage) -> Outcomes:
    """Deliveries in order of the selection, then what was not chosen."""
    outcomes = []
    if message.target is None:
        for target in dict.fromkeys(selected):
            handler = handlers[target]
            outcomes.append(Outcome(target, edge, "" if handler else "type", handler))
    else:
        for target in dict.fromkeys(selected):
            handler = handlers[target]
            if message.target is not None and message.target != target:
                outcomes.append(Outcome(target, edge, "target"))
            else:
                outcomes.append(Outcome(target, edge, "" if handler else "type", handler))
    if len(outcomes) < len(handlers):
        chosen = set(selected)
        outcomes.extend(Outcome(target, edge, "selection") for target in handlers if target not in chosen)
    return outcomes


def compiled(edge: Edge, executors: Mapping[str, Executor]) -> Route:
    """The route of an edge group."""
    if isinstance(edge, DirectEdge):
        return DirectRoute(edge, executors)
    if isinstance(edge, FanOutEdge):
        return FanOutRoute(edge, executors)
    if isinstance(edge, SwitchEdge):
        return SwitchRoute(edge, executors)
    return FanInRoute(edge, executors)


def routes_by_source(edges: Sequence[Edge], executors: Mapping[str, Executor]) -> dict[str, list[Route]]:
    """All routes by their source, the internal edge of every node included."""
    routes: dict[str, list[Route]] = {}
    for edge in edges:
        route = compiled(edge, executors)
        for source in edge.sources:
            routes.setdefault(source, []).append(route)
    for id in executors:
        routes[internal(id)] = [DirectRoute(DirectEdge(internal(id), internal(id), id), executors)]
    return routes


def internal(id: str) -> str:
    """The source of inputs and answers of a node."""
    return FROM_OUTSIDE + id
