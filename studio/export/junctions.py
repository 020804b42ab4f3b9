"""Switches and fan-outs that read shared state: an executor with the junction's id, then plain edges."""

from __future__ import annotations

from studio.document.checks_conditions import reads_state
from studio.document.model import FanOutEdge, SwitchEdge, Workflow
from studio.export.source import Module, identifier, string


def is_needed(edge: SwitchEdge | FanOutEdge) -> bool:
    """Whether a condition of the junction looks at shared state, which an edge cannot see."""
    found = [c.condition for c in edge.cases] if isinstance(edge, SwitchEdge) else list((edge.selection or {}).values())
    return any(condition is not None and reads_state(condition) for condition in found)


def any_needed(workflow: Workflow) -> bool:
    """Whether a workflow has such a junction."""
    return any(isinstance(e, SwitchEdge | FanOutEdge) and is_needed(e) for e in workflow.edges)


def built(module: Module, workflow: Workflow, names: dict[str, str]) -> list[str]:
    """The lines of ``build()`` that make the junctions; ``names``: owner of a condition -> its function."""
    lines: list[str] = []
    for edge in workflow.edges:
        if isinstance(edge, SwitchEdge | FanOutEdge) and is_needed(edge):
            module.need(".junctions", "StateJunction")
            lines += [f"    {identifier(edge.id)} = StateJunction(", f"        {string(edge.id)},", "        ["]
            lines += [f"            ({names.get(owner)}, {string(target)})," for owner, target in _ways(edge)]
            lines += ["        ],", f"        first={isinstance(edge, SwitchEdge)},", "    )"]
    return lines


def edges(edge: SwitchEdge | FanOutEdge) -> list[str]:
    """The edges into and out of the junction."""
    junction = identifier(edge.id)
    targets = list(dict.fromkeys(identifier(target) for _, target in _ways(edge)))
    into = f".add_edge({identifier(edge.source or '')}, {junction})"
    if len(targets) == 1:
        return [into, f".add_edge({junction}, {targets[0]})"]
    return [into, f".add_fan_out_edges({junction}, [{', '.join(targets)}])"]


def _ways(edge: SwitchEdge | FanOutEdge) -> list[tuple[str, str]]:
    if isinstance(edge, SwitchEdge):
        return [*((case.id, case.target) for case in edge.cases), ("", edge.default or "")]
    return [(f"{edge.id}.{target}", target) for target in edge.targets]
