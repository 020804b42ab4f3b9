"""Switches and fan-outs that read shared state: an executor with the junction's id, then plain edges."""

from __future__ import annotations

from studio.document.checks_conditions import reads_state
from studio.document.model import FanOutEdge, SwitchEdge, Workflow
from studio.export.naming import Names
from studio.export.pretty import Bracket, call, listed, statement, string
from studio.export.source import Module


def is_needed(edge: SwitchEdge | FanOutEdge) -> bool:
    """Whether a condition of the junction looks at shared state, which an edge cannot see."""
    found = [c.condition for c in edge.cases] if isinstance(edge, SwitchEdge) else list((edge.selection or {}).values())
    return any(condition is not None and reads_state(condition) for condition in found)


def any_needed(workflow: Workflow) -> bool:
    """Whether a workflow has such a junction."""
    return any(isinstance(e, SwitchEdge | FanOutEdge) and is_needed(e) for e in workflow.edges)


def built(module: Module, workflow: Workflow, names: Names) -> list[str]:
    """The lines of ``build()`` that make the junctions."""
    lines: list[str] = []
    for edge in workflow.edges:
        if isinstance(edge, SwitchEdge | FanOutEdge) and is_needed(edge):
            module.need(".junctions", "StateJunction")
            ways = [
                Bracket("(", [names.conditions.get(owner, "None"), string(target)], ")")
                for owner, target in _ways(edge)
            ]
            made = call("StateJunction", string(edge.id), listed(ways), first=str(isinstance(edge, SwitchEdge)))
            lines.append(statement(made, 1, f"{names.variables[edge.id]} = "))
    return lines


def edges(edge: SwitchEdge | FanOutEdge, names: Names) -> list[Bracket]:
    """The edges into and out of the junction."""
    junction = names.variables[edge.id]
    targets = list(dict.fromkeys(names.variables[target] for _, target in _ways(edge)))
    into = call(".add_edge", names.variables[edge.source or ""], junction)
    if len(targets) == 1:
        return [into, call(".add_edge", junction, targets[0])]
    return [into, call(".add_fan_out_edges", junction, listed(targets))]


def _ways(edge: SwitchEdge | FanOutEdge) -> list[tuple[str, str]]:
    if isinstance(edge, SwitchEdge):
        return [*((case.id, case.target) for case in edge.cases), ("", edge.default or "")]
    return [(f"{edge.id}.{target}", target) for target in edge.targets]
