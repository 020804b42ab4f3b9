"""Watches the events of a run for breakpoints that no hook of the engine can hold at once: they hold a little later."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import Usage
from studio.assembly.texts import scope_of
from studio.checkpoints import QueuedMessage
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.debugger.holds import BoundaryHit, node_path
from studio.document.conditions import Scope
from studio.document.lines import Line, inner_workflow, lines
from studio.document.model import FanInEdge, Workflow
from studio.engine import events as ev
from studio.workers import UserCodeError

Judge = Callable[[str, object, Scope], Awaitable[bool]]
"""Whether a Python predicate is true: its text, the message or value, and what else it sees. Raises
:class:`studio.workers.UserCodeError`."""
CostOf = Callable[[str, Any], float | None]
"""Money for a model's name and the usage of one call; None: there is no price."""


def told_cost(_model: str, usage: Usage) -> float | None:
    """What the client says that a call has cost. Currencies are not told apart: a budget counts the numbers."""
    return float(sum(usage.cost.amounts.values())) if usage.cost is not None else None


@dataclass(slots=True)
class Watch:
    """What was seen and is to hold: before or after an invocation of a node, or at the boundary."""

    breakpoints: Breakpoints
    log: Callable[[Breakpoint, str, str], None]
    """Takes a breakpoint, the path of the node and the text of one that logs."""
    workflow: Workflow | None = None
    cost_of: CostOf = told_cost
    state: dict[str, Any] = field(default_factory=dict)
    """Shared state, as conditions see it."""
    judge: Judge | None = None
    linked: Mapping[str, Workflow] = field(default_factory=dict)
    """The workflows of linked files, by the path of their node."""
    tokens: int = 0
    cost: float = 0.0
    delivered: dict[str, list[tuple[Breakpoint, str, Any]]] = field(default_factory=dict)
    """Messages on their way to a node over an edge with a breakpoint: the breakpoint, its source, its data."""
    changed: dict[str, list[tuple[Breakpoint, str, Any]]] = field(default_factory=dict)
    """State keys that a running node changed: the breakpoint, the key, its value, by path."""
    sent: dict[str, list[tuple[Breakpoint, Any]]] = field(default_factory=dict)
    """Messages that a running node of a sub-workflow queued on an edge with a breakpoint, by path."""
    repeated: dict[str, tuple[Breakpoint, str]] = field(default_factory=dict)
    """The same call once too often, by path."""
    passed: list[Breakpoint] = field(default_factory=list)
    """Budgets that were passed."""
    asked: list[tuple[BoundaryHit, Any]] = field(default_factory=list)
    _calls: dict[str, tuple[str, int]] = field(default_factory=dict)
    _models: dict[tuple[str, str], str] = field(default_factory=dict)
    _lines: dict[tuple[str, ...], dict[str, Line]] = field(default_factory=dict)
    _queued: dict[tuple[tuple[str, ...], str], Any] = field(default_factory=dict)

    def hit(self, breakpoint: Breakpoint, path: str, data: object) -> bool:
        """Whether the run is to stop; a breakpoint that logs does so here."""
        text = self.breakpoints.hit(breakpoint, data, self.state)
        if text:
            self.log(breakpoint, path, text.strip())
        return text == ""

    async def first(self, found: Collection[Breakpoint], path: str, data: object) -> Breakpoint | None:
        """The first that stops here; all of them count and log."""
        stops = [b for b in found if await self._stops(b, path, data)]
        return stops[0] if stops else None

    def _is_code(self, breakpoint: Breakpoint) -> bool:
        return self.judge is not None and breakpoint.condition is not None and breakpoint.condition.kind == "python"

    async def _stops(self, breakpoint: Breakpoint, path: str, data: object) -> bool:
        """As :meth:`hit`, with a Python predicate asked. One that fails stops the run, and says why."""
        if self.judge is not None and breakpoint.condition is not None and self._is_code(breakpoint):
            try:
                if not await self.judge(breakpoint.condition.body, data, scope_of(data, self.state)):
                    return False
            except UserCodeError as error:
                self.log(breakpoint, path, f"The condition of this breakpoint failed: {error}")
        return self.hit(breakpoint, path, data)

    def _noticed(self, breakpoint: Breakpoint, path: str, data: object) -> bool:
        """Whether what an event tells may stop the run; a predicate is asked when it is to be held."""
        return self._is_code(breakpoint) or self.hit(breakpoint, path, data)

    async def _settled(self, breakpoint: Breakpoint, path: str, data: object) -> bool:
        """Whether what was noticed does stop the run: the breakpoint may be gone or off by now."""
        if not self._holds_still(breakpoint):
            return False
        return not self._is_code(breakpoint) or await self._stops(breakpoint, path, data)

    def _holds_still(self, breakpoint: Breakpoint) -> bool:
        found = self.breakpoints.get(breakpoint.id)
        return found is not None and found.enabled

    # -------------------------------------------------------------------------------------------------- events

    def observe(self, event: ev.Event) -> None:
        """Takes the next event of the run."""
        match event:
            case ev.MessageQueued():
                self._sent(event)
            case ev.MessageRouted() if event.delivered or event.reason == "buffered":
                self._routed(event)
            case ev.StateWritten(inside=()):
                self._written(event)
            case ev.RequestRaised(again=False):
                self._request(event)
            case ev.ModelCallStarted():
                self._models[event.invocation, event.call] = event.model
            case ev.ModelCallFinished():
                self._used(event)
            case ev.ToolStarted():
                self._called(event)
            case ev.SuperstepFinished(inside=()):
                for waiting in (self.delivered, self.changed, self.sent, self.repeated):
                    waiting.clear()
                self._queued = {key: data for key, data in self._queued.items() if not key[0]}
            case ev.SuperstepFinished():
                begins = node_path("", event.inside)
                for path in [path for path in self.delivered if path.startswith(begins)]:
                    del self.delivered[path]

    def _sent(self, event: ev.MessageQueued) -> None:
        """What is queued between the nodes of a workflow inside holds its sender: its boundaries are not ours."""
        self._queued[event.inside, event.message] = event.data
        if not event.inside or event.purpose in ("input", "answer"):
            return
        path = node_path(event.source, event.inside)
        message = QueuedMessage(event.message, event.source, event.target, event.data, purpose=event.purpose)
        for breakpoint in self.breakpoints.at("edge", "queued"):
            on = self._waits_on(breakpoint.place, message, event.inside)
            if on and self._noticed(breakpoint, path, event.data):
                self.sent.setdefault(path, []).append((breakpoint, event.data))

    def _routed(self, event: ev.MessageRouted) -> None:
        path = node_path(event.target, event.inside)
        for breakpoint in self.breakpoints.at("edge", "delivered"):
            if self._is_on(breakpoint.place, event):
                data = self._queued.get((event.inside, event.message))
                if self._noticed(breakpoint, path, data):
                    self.delivered.setdefault(path, []).append((breakpoint, event.source, data))

    def _is_on(self, place: str, event: ev.MessageRouted) -> bool:
        """Whether a message went over a line. The engine's edge is a group, or a case of one."""
        if not place:
            return not event.inside
        *around, id = place.split("/")
        if tuple(around) != event.inside:
            return False
        line, edge, source, target = self._line(place), event.edge, event.source, event.target
        if line is None:
            return id == edge
        if line.id == edge:
            return True
        if line.edge != edge:
            return False
        if line.kind == "fan_in":
            return source == line.source
        return line.kind.startswith("into") or line.target == target

    def _line(self, place: str) -> Line | None:
        *around, id = place.split("/")
        inside = tuple(around)
        if inside not in self._lines:
            workflow = self._workflow_in(inside)
            self._lines[inside] = {line.id: line for line in lines(workflow)} if workflow is not None else {}
        return self._lines[inside].get(id)

    def _workflow_in(self, inside: tuple[str, ...]) -> Workflow | None:
        return inner_workflow(self.workflow, inside, self.linked) if self.workflow is not None else None

    def _written(self, event: ev.StateWritten) -> None:
        before = self.state.get(event.key)
        self.state[event.key] = event.value
        if before == event.value:
            return
        for breakpoint in self.breakpoints.at("state"):
            if breakpoint.place in ("", event.key) and self._noticed(breakpoint, event.node, event.value):
                self.changed.setdefault(event.node, []).append((breakpoint, event.key, event.value))

    def _request(self, event: ev.RequestRaised) -> None:
        path = node_path(event.node, event.inside)
        for breakpoint in self.breakpoints.at("request"):
            if breakpoint.place in ("", path, event.node) and self._noticed(breakpoint, path, event.data):
                self.asked.append((BoundaryHit(breakpoint, event.node), event.data))

    def _used(self, event: ev.ModelCallFinished) -> None:
        usage = event.usage
        if usage is None:
            return
        tokens, cost = self.tokens, self.cost
        self.tokens += (usage.input or 0) + (usage.output or 0)
        self.cost += self.cost_of(self._models.pop((event.invocation, event.call), ""), usage) or 0.0
        self._budget("tokens", tokens, self.tokens)
        self._budget("cost", cost, self.cost)

    def _budget(self, kind: Any, before: float, amount: float) -> None:
        """A run that goes on from a moment beyond a limit has passed it already."""
        for breakpoint in self.breakpoints.at(kind):
            if before <= breakpoint.limit < amount and breakpoint.limit > 0 and self.hit(breakpoint, "", amount):
                self.passed.append(breakpoint)

    def _called(self, event: ev.ToolStarted) -> None:
        path = node_path(event.node, event.inside)
        written = f"{event.call.name}({event.call.arguments})"
        last, count = self._calls.get(path, ("", 0))
        count = count + 1 if last == written else 1
        self._calls[path] = (written, count)
        for breakpoint in self.breakpoints.at("repeats"):
            if count >= max(2, breakpoint.limit) and breakpoint.place in ("", event.call.name):
                if self._noticed(breakpoint, path, written):
                    self.repeated[path] = breakpoint, written
                self._calls[path] = (written, 0)

    # ------------------------------------------------------------------------------------------------- to take

    async def take_delivered(self, path: str, sources: Collection[str]) -> Breakpoint | None:
        """The breakpoint of an edge over which the message of this invocation came."""
        waiting = self.delivered.get(path, [])
        for entry in tuple(waiting):
            breakpoint, source, data = entry
            if source in sources and entry in waiting:
                waiting.remove(entry)
                if await self._settled(breakpoint, path, data):
                    return breakpoint
        return None

    async def take_changed(self, path: str) -> tuple[Breakpoint, str] | None:
        """The breakpoint of a state key that this node has changed, and the key."""
        for breakpoint, key, value in self.changed.pop(path, ()):
            if await self._settled(breakpoint, path, value):
                return breakpoint, key
        return None

    async def take_sent(self, path: str) -> Breakpoint | None:
        """The breakpoint of an edge inside a sub-workflow on which this node has queued a message."""
        for breakpoint, data in self.sent.pop(path, ()):
            if await self._settled(breakpoint, path, data):
                return breakpoint
        return None

    async def take_over(self, path: str) -> Breakpoint | None:
        """A budget that this node or the run has passed."""
        repeated = self.repeated.pop(path, None)
        if repeated is not None and await self._settled(repeated[0], path, repeated[1]):
            return repeated[0]
        self.passed = [b for b in self.passed if self._holds_still(b)]
        return self.passed.pop(0) if self.passed else None

    async def take_boundary(self, superstep: int, queued: Collection[QueuedMessage]) -> list[BoundaryHit]:
        """What holds before a superstep that delivers these messages."""
        asked, self.asked = self.asked, []
        found = [hit for hit, data in asked if await self._settled(hit.breakpoint, hit.node, data)]
        found += [BoundaryHit(b) for b in self.passed if self._holds_still(b)]
        self.passed.clear()
        for breakpoint in self.breakpoints.at("supersteps"):
            if superstep - 1 <= breakpoint.limit < superstep and self.hit(breakpoint, "", superstep):
                found.append(BoundaryHit(breakpoint))
        for breakpoint in self.breakpoints.at("edge", "queued"):
            on = [m for m in queued if self._waits_on(breakpoint.place, m, ())]
            stops = [m for m in on if await self._stops(breakpoint, m.source, m.data)]
            found += [BoundaryHit(breakpoint, m.source) for m in stops[:1]]
        return found

    def _waits_on(self, place: str, message: QueuedMessage, inside: tuple[str, ...]) -> bool:
        """Whether a queued message will be offered to a line."""
        if not place:
            return not inside and message.purpose not in ("input", "answer")
        line = self._line(place)
        if line is None or tuple(place.split("/")[:-1]) != inside:
            return False
        workflow = self._workflow_in(inside)
        edge = workflow.edge(line.edge) if workflow is not None else None
        sources = edge.sources if isinstance(edge, FanInEdge) else (getattr(edge, "source", None),)
        source = line.source if line.kind == "fan_in" else None
        return message.source in sources and source in (None, message.source) and self._fits(line, message)

    @staticmethod
    def _fits(line: Line, message: QueuedMessage) -> bool:
        return message.target is None or line.kind.startswith("into") or message.target == line.target


def seeded(state: Mapping[str, Any] | None, workflow: Workflow | None) -> dict[str, Any]:
    """Shared state at the beginning: of a checkpoint, or as it is declared."""
    declared = {s.key: s.initial for s in workflow.state} if workflow is not None else {}
    return {**declared, **(state or {})}
