"""The lines of a drawing: each connection between two things, with an id that commands understand.

An edge group is one edge in the document but several lines on the canvas. Ids: a direct or hand-off edge has its own; a
case of a switch has the id of the case; the others are made from the group's id and a ``:``, which no id contains.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from studio.document.conditions import Condition, describe
from studio.document.lookup import Kept, KeptEach, with_id
from studio.document.model import (
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    HandoffEdge,
    JoinNode,
    Node,
    NodeBase,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)

LineKind = Literal["direct", "handoff", "into_switch", "case", "default", "into_fan_out", "leg", "fan_in"]


@dataclass(frozen=True, slots=True)
class Line:
    """One line from ``source`` to ``target`` (ids of nodes, switches or fan-outs), part of edge group ``edge``."""

    id: str
    kind: LineKind
    edge: str
    source: str
    target: str
    label: str = ""
    condition: Condition | None = None


def into_id(group_id: str) -> str:
    """The id of the line from a source into a switch or fan-out."""
    return f"{group_id}:in"


def default_id(switch_id: str) -> str:
    """The id of the default line of a switch; no case is called ``default``, since this holds a colon."""
    return f"{switch_id}:default"


def leg_id(group_id: str, end: str) -> str:
    """The id of the line of a fan-out to a target, or of a fan-in from a source."""
    return f"{group_id}:to:{end}"


def lines(workflow: Workflow) -> Iterator[Line]:
    """Every line of the drawing, in document order."""
    return iter(_lines.of(workflow.edges))


def lines_of(edge: Edge) -> Iterator[Line]:
    """The lines of one edge group."""
    match edge:
        case DirectEdge():
            label = edge.label or (describe(edge.condition) if edge.condition is not None else "")
            yield Line(edge.id, "direct", edge.id, edge.source, edge.target, label, edge.condition)
        case HandoffEdge():
            yield Line(edge.id, "handoff", edge.id, edge.source, edge.target, edge.reason)
        case SwitchEdge():
            yield from _switch_lines(edge)
        case FanOutEdge():
            yield from _fan_out_lines(edge)
        case FanInEdge():
            for source in edge.sources:
                yield Line(leg_id(edge.id, source), "fan_in", edge.id, source, edge.target)


def _switch_lines(edge: SwitchEdge) -> Iterator[Line]:
    if edge.source is not None:
        yield Line(into_id(edge.id), "into_switch", edge.id, edge.source, edge.id)
    for case in edge.cases:
        label = case.label or describe(case.condition)
        yield Line(case.id, "case", edge.id, edge.id, case.target, label, case.condition)
    if edge.default is not None:
        yield Line(default_id(edge.id), "default", edge.id, edge.id, edge.default, edge.default_label)


def _fan_out_lines(edge: FanOutEdge) -> Iterator[Line]:
    if edge.source is not None:
        yield Line(into_id(edge.id), "into_fan_out", edge.id, edge.source, edge.id)
    for target in edge.targets:
        condition = (edge.selection or {}).get(target)
        label = describe(condition) if condition is not None else ""
        yield Line(leg_id(edge.id, target), "leg", edge.id, edge.id, target, label, condition)


def lines_by_id(workflow: Workflow) -> Mapping[str, Line]:
    """Every line of the drawing by its id, the first one where an id is there twice. Shared: not to be changed."""
    return _by_id.of(_lines.of(workflow.edges))


def _indexed(every: tuple[Line, ...]) -> Mapping[str, Line]:
    return {found.id: found for found in reversed(every)}


_by_id = Kept(_indexed)


_lines: KeptEach[Line] = KeptEach(lambda edge: tuple(lines_of(edge)))


def line(workflow: Workflow, line_id: str) -> Line | None:
    """The line with this id, or None."""
    return next((found for found in lines(workflow) if found.id == line_id), None)


def pairs(workflow: Workflow) -> Iterator[tuple[str, str, str]]:
    """``(source node, target node, line id)`` of every real edge: what the framework counts, through switches and
    fan-outs, hand-offs included. Unfinished groups give what they have."""
    return _pairs_of(workflow.edges)


def _pairs_of(edges: tuple[Edge, ...]) -> Iterator[tuple[str, str, str]]:
    for edge in edges:
        match edge:
            case DirectEdge() | HandoffEdge():
                yield edge.source, edge.target, edge.id
            case SwitchEdge(source=str() as source):
                yield from ((source, case.target, case.id) for case in edge.cases)
                if edge.default is not None:
                    yield source, edge.default, default_id(edge.id)
            case FanOutEdge(source=str() as source):
                yield from ((source, target, leg_id(edge.id, target)) for target in edge.targets)
            case FanInEdge():
                yield from ((source, edge.target, leg_id(edge.id, source)) for source in edge.sources)


def counts(workflow: Workflow) -> tuple[int, int]:
    """Nodes and edges as people count them: cards without join bars and rhombi, and the real edges."""
    return _cards.of(workflow.nodes), _pair_counts.of(workflow.edges)


def _count_cards(nodes: tuple[Node, ...]) -> int:
    return sum(not isinstance(node, JoinNode) for node in nodes)


_cards = Kept(_count_cards)


def _count_pairs(edges: tuple[Edge, ...]) -> int:
    return sum(1 for _ in _pairs_of(edges))


_pair_counts = Kept(_count_pairs)


def pair(workflow: Workflow, source: str, target: str) -> str | None:
    """The id of the line that joins these two nodes already, or None."""
    return next((found for a, b, found in pairs(workflow) if a == source and b == target), None)


def name_of(workflow: Workflow, item_id: str) -> str:
    """What people call a node, switch, fan-out or group, or a node that a run adds; its id if it has no name."""
    found = workflow.node(item_id) or workflow.edge(item_id) or with_id(workflow.groups, item_id)
    name = getattr(found, "name", "")
    if name or isinstance(found, NodeBase):
        return str(name or item_id)
    from studio.document.turns import added_name  # which asks for names, too

    return added_name(workflow, item_id) or item_id


def path_names(
    workflow: Workflow, inside: Sequence[str], item_id: str, linked: Mapping[str, Workflow] | None = None
) -> tuple[str, ...]:
    """What people call a node in a sub-workflow, with the sub-workflow nodes around it first; ids where the workflow
    inside is in another file that is not among those ``linked`` (by path)."""
    names: list[str] = []
    document: Workflow | None = workflow
    for level, outer in enumerate(inside):
        names.append(name_of(document, outer) if document is not None else outer)
        document = _embedded(document, outer) or (linked or {}).get("/".join(inside[: level + 1]))
    return (*names, name_of(document, item_id) if document is not None else item_id)


def inner_workflow(workflow: Workflow, inside: Sequence[str], linked: Mapping[str, Workflow]) -> Workflow | None:
    """What is in a sub-workflow node: embedded in it, or one of the files ``linked`` (by path); None: not known."""
    document: Workflow | None = workflow
    for level, outer in enumerate(inside):
        document = _embedded(document, outer) or linked.get("/".join(inside[: level + 1]))
    return document


def node_at(workflow: Workflow, inside: Sequence[str], node_id: str) -> Node | None:
    """A node in a sub-workflow; None where the workflow inside is in another file."""
    document: Workflow | None = workflow
    for outer in inside:
        document = _embedded(document, outer)
    return document.node(node_id) if document is not None else None


def _embedded(workflow: Workflow | None, node_id: str) -> Workflow | None:
    node = workflow.node(node_id) if workflow is not None else None
    return node.embedded if isinstance(node, SubWorkflowNode) and not node.path else None
