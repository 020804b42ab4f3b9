"""Edges of a document -> edge groups of the engine, with their conditions as callables."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Any

from studio.assembly.code import UserCode
from studio.assembly.texts import plain_value, scope_of
from studio.assembly.turns import TurnJunction, Way, chosen
from studio.document.checks_conditions import reads_state
from studio.document.conditions import Condition, Scope, evaluate
from studio.document.lines import default_id, into_id
from studio.document.model import DirectEdge, Edge, FanInEdge, FanOutEdge, SwitchEdge
from studio.document.turns import collector_id, is_routed
from studio.engine.builder import Case, WorkflowBuilder
from studio.engine.context import Context
from studio.engine.executor import Executor
from studio.engine.hosts import TurnCollector
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.types import ANY

Test = Callable[[Any], bool | Awaitable[bool]]


def condition_name(owner: str, condition: Condition | None) -> str:
    """The stable name of a condition: its own, else made from the id of its edge or case."""
    return condition.name if condition is not None and condition.name else f"when_{owner}"


def needs_state(condition: Condition | None) -> bool:
    """Whether a condition looks at shared state, which an edge cannot see."""
    return condition is not None and reads_state(condition)


class Tests:
    """Conditions of one document. ``python`` ones run in the worker."""

    def __init__(self, code: UserCode) -> None:
        self._code = code

    def of(self, owner: str, condition: Condition) -> Test:
        """A condition as the engine calls it, with the message alone."""
        test = self.with_state(owner, condition)
        if condition.kind == "python":
            return lambda data: _awaited(test(data, None))
        return lambda data: evaluate(condition, scope_of(data))

    def with_state(
        self, owner: str, condition: Condition
    ) -> Callable[[Any, Mapping[str, Any] | None], bool | Awaitable[bool]]:
        """A condition on a message and shared state."""
        if condition.kind != "python":
            return lambda data, state: evaluate(condition, scope_of(data, state))
        target = self._code.add(f"{owner} condition", condition.body, "predicate")

        async def ask(data: Any, state: Mapping[str, Any] | None) -> bool:
            scope: Scope = scope_of(data)
            given = {"data": data, "text": scope.text, "value": scope.value, "type": scope.type, "state": state}
            return bool(await self._code.bare(target, given))

        return ask


async def _awaited(value: bool | Awaitable[bool]) -> bool:
    return value if isinstance(value, bool) else await value


class StateJunction(FunctionExecutor):
    """A switch (``first``) or fan-out that reads shared state: an executor that sends its input to the chosen targets.

    The edge group behind it has no conditions: a message is sent towards a target, so a checkpoint between both
    supersteps holds the decision.
    """

    def __init__(self, id: str, ways: Sequence[Way], keys: Sequence[str], *, first: bool) -> None:
        self._ways = ways
        self._keys = keys
        self._first = first
        super().__init__(id, self._run, accepts=ANY, sends=(ANY,))

    async def _run(self, data: Any, ctx: Context) -> None:
        state = {key: plain_value(ctx.get_state(key)) for key in self._keys}
        for target in await chosen(self._ways, data, state, first=self._first):
            ctx.send(data, target)


class Routes:
    """Adds the edges of one document to a builder."""

    def __init__(
        self,
        builder: WorkflowBuilder,
        executors: Mapping[str, Executor],
        tests: Tests,
        state_keys: Sequence[str],
        turn_sources: Collection[str] = (),
    ) -> None:
        """``turn_sources``: the nodes that send whole turns, see :mod:`studio.document.turns`."""
        self._builder = builder
        self._executors = executors
        self._tests = tests
        self._keys = tuple(state_keys)
        self._turn_sources = turn_sources

    def add(self, edge: Edge) -> None:
        """Adds one edge group of the drawing."""
        if is_routed(edge, self._turn_sources):
            self._route_turns(edge)
            return
        match edge:
            case DirectEdge():
                test = None if edge.condition is None else self._tests.of(edge.id, edge.condition)
                name = condition_name(edge.id, edge.condition)
                ends = self._executors[edge.source], self._executors[edge.target]
                self._builder.edge(*ends, test, name=name, edge_id=edge.id)
            case FanInEdge():
                sources = [self._collected(edge, source) for source in edge.sources]
                self._builder.fan_in(sources, self._executors[edge.target], edge_id=edge.id)
            case SwitchEdge(source=str(), default=str()):
                self._switch(edge)
            case FanOutEdge(source=str()):
                self._fan_out(edge)

    def _switch(self, edge: SwitchEdge) -> None:
        if any(needs_state(case.condition) for case in edge.cases):
            self._junction(edge, self._ways_of_switch(edge), first=True)
            return
        cases = [
            Case(
                self._tests.of(case.id, case.condition or Condition()),
                self._executors[case.target],
                condition_name(case.id, case.condition),
                case.id,
            )
            for case in edge.cases
        ]
        source, default = self._executors[edge.source or ""], self._executors[edge.default or ""]
        self._builder.switch(source, cases, default, edge_id=edge.id, default_id=default_id(edge.id))

    def _fan_out(self, edge: FanOutEdge) -> None:
        selection = edge.selection or {}
        if any(needs_state(condition) for condition in selection.values()):
            self._junction(edge, self._ways_of_fan_out(edge), first=False)
            return
        source, targets = self._executors[edge.source or ""], [self._executors[t] for t in edge.targets]
        chosen = self._selection(edge, selection) if selection else None
        self._builder.fan_out(source, targets, chosen, name=f"select_{edge.id}", edge_id=edge.id)

    def _selection(
        self, edge: FanOutEdge, selection: Mapping[str, Condition]
    ) -> Callable[[Any, list[str]], Awaitable[list[str]]]:
        """Targets in the order of the drawing: those without a condition, and those whose condition holds."""
        tests = {target: self._tests.of(f"{edge.id}.{target}", c) for target, c in selection.items()}

        async def select(data: Any, targets: list[str]) -> list[str]:
            return [t for t in targets if t not in tests or await _awaited(tests[t](data))]

        return select

    def _way(self, owner: str, target: str, condition: Condition | None) -> Way:
        return Way(target, None if condition is None else self._tests.with_state(owner, condition))

    def _ways_of_switch(self, edge: SwitchEdge) -> list[Way]:
        ways = [self._way(case.id, case.target, case.condition or Condition()) for case in edge.cases]
        return [*ways, *([Way(edge.default, None)] if edge.default else [])]

    def _ways_of_fan_out(self, edge: FanOutEdge) -> list[Way]:
        selection = edge.selection or {}
        return [self._way(f"{edge.id}.{t}", t, selection.get(t)) for t in edge.targets]

    def _junction(self, edge: SwitchEdge | FanOutEdge, ways: Sequence[Way], *, first: bool) -> None:
        junction = StateJunction(edge.id, ways, self._keys, first=first)
        self._add_junction(edge.source or "", edge.id, junction, ways)

    def _add_junction(self, source: str, edge_id: str, junction: Executor, ways: Sequence[Way]) -> None:
        """An executor with the id of the edge group, and edges without conditions behind it."""
        self._builder.edge(self._executors[source], junction, edge_id=into_id(edge_id))
        targets = list(dict.fromkeys(way.target for way in ways))
        if len(targets) == 1:
            self._builder.edge(junction, self._executors[targets[0]], edge_id=edge_id)
        else:
            self._builder.fan_out(junction, [self._executors[t] for t in targets], edge_id=edge_id)

    # -------------------------------------------------------------------------------------------- whole turns

    def _route_turns(self, edge: Edge) -> None:
        """The edge group behind a turn-token agent, as a router that decides once a turn."""
        source, ways, conditions, first = "", list[Way](), list[Condition | None](), False
        match edge:
            case DirectEdge():
                source, ways = edge.source, [self._way(edge.id, edge.target, edge.condition)]
                conditions = [edge.condition]
            case SwitchEdge(source=str() as source):
                ways, first = self._ways_of_switch(edge), True
                conditions = [case.condition for case in edge.cases]
            case FanOutEdge(source=str() as source):
                ways, conditions = self._ways_of_fan_out(edge), list((edge.selection or {}).values())
        keys = self._keys if any(needs_state(condition) for condition in conditions) else ()
        self._add_junction(source, edge.id, TurnJunction(edge.id, ways, keys, first=first), ways)

    def _collected(self, edge: FanInEdge, source: str) -> Executor:
        """The source of a join, behind a collector if it sends turns: a barrier would let the first message pass."""
        if source not in self._turn_sources:
            return self._executors[source]
        collector = TurnCollector(collector_id(edge, source))
        self._builder.edge(self._executors[source], collector, edge_id=into_id(collector.id))
        return collector
