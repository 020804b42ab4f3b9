"""Edge groups that are executors: those that read shared state, and those behind agents that work in turns."""

from __future__ import annotations

from studio.document.checks_conditions import reads_state
from studio.document.conditions import Condition
from studio.document.model import DirectEdge, Edge, FanInEdge, FanOutEdge, SwitchEdge, Workflow
from studio.document.turns import collector_id, is_routed
from studio.export.naming import Names, conditions_of
from studio.export.pretty import Bracket, Expression, Pair, call, listed, statement, string
from studio.export.source import TURNS, Module


def reads_shared_state(edge: Edge) -> bool:
    """Whether a condition of a junction looks at shared state, which an edge cannot see."""
    return any(reads_state(condition) for _, condition in conditions_of([edge]))


def is_needed(edge: Edge, names: Names) -> bool:
    """Whether an edge group is an executor with its id."""
    if is_routed(edge, names.turn_sources):
        return True
    return isinstance(edge, SwitchEdge | FanOutEdge) and reads_shared_state(edge)


def any_state_junction(workflow: Workflow, names: Names) -> bool:
    """Whether a junction reads shared state and is no router of turns."""
    return any(is_needed(e, names) and not is_routed(e, names.turn_sources) for e in workflow.edges)


def built(module: Module, workflow: Workflow, names: Names) -> list[str]:
    """The lines of ``build()`` that make junctions and collectors of turns."""
    lines: list[str] = []
    for edge in workflow.edges:
        if isinstance(edge, FanInEdge):
            for source in edge.sources:
                if source in names.turn_sources:
                    module.need(TURNS, "TurnCollector")
                    item = collector_id(edge, source)
                    made = call("TurnCollector", string(item))
                    lines.append(statement(made, 1, f"{names.variables[item]} = "))
        elif is_needed(edge, names):
            lines.append(statement(_junction(module, edge, names), 1, f"{names.variables[edge.id]} = "))
    return lines


def _junction(module: Module, edge: Edge, names: Names) -> Bracket:
    ways = [Bracket("(", [names.conditions.get(owner, "None"), string(target)], ")") for owner, target in _ways(edge)]
    given: list[Expression] = [string(edge.id), listed(ways)]
    first = isinstance(edge, SwitchEdge)
    if is_routed(edge, names.turn_sources):
        module.need(TURNS, "TurnRouter")
        if first:
            given.append("first=True")
        if reads_shared_state(edge):
            module.need(".state", "INITIAL")
            given.append("state=INITIAL")
        return Bracket("TurnRouter(", given)
    module.need(".junctions", "StateJunction")
    return Bracket("StateJunction(", [*given, Pair("first=", str(first))])


def edges(edge: Edge, names: Names) -> list[Bracket]:
    """The edges into and out of the junction."""
    assert isinstance(edge, DirectEdge | SwitchEdge | FanOutEdge)
    junction = names.variables[edge.id]
    targets = list(dict.fromkeys(names.variables[target] for _, target in _ways(edge)))
    into = call(".add_edge", names.variables[edge.source or ""], junction)
    if len(targets) == 1:
        return [into, call(".add_edge", junction, targets[0])]
    return [into, call(".add_fan_out_edges", junction, listed(targets))]


def _ways(edge: Edge) -> list[tuple[str, str]]:
    match edge:
        case DirectEdge():
            return [(edge.id, edge.target)]
        case SwitchEdge():
            return [*((case.id, case.target) for case in edge.cases), ("", edge.default or "")]
        case FanOutEdge():
            return [(f"{edge.id}.{target}", target) for target in edge.targets]
    return []


def awaiting(workflow: Workflow, names: Names) -> tuple[str, Condition] | None:
    """A condition that awaits where the framework only asks plain functions, with its owner; None if there is none."""
    from studio.export.conditions import waits

    for edge in workflow.edges:
        if isinstance(edge, SwitchEdge | FanOutEdge) and not is_needed(edge, names):
            for owner, condition in conditions_of([edge]):
                if waits(condition):
                    return owner, condition
    return None
