"""What the checks ask about a document, worked out once per validation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from studio.document.lines import pairs
from studio.document.model import DirectEdge, Edge, FanInEdge, FanOutEdge, HandoffEdge, Node, SwitchEdge, Workflow

Ends = tuple[str, str, str]
"""Source node, target node, id of the line."""


@dataclass(frozen=True, slots=True)
class Facts:
    """Nodes and edge groups by id, real edges, what the start reaches."""

    workflow: Workflow
    nodes: dict[str, Node]
    edges: dict[str, Edge]
    pairs: tuple[Ends, ...]
    following: dict[str, list[str]]
    reached: frozenset[str]
    names: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, workflow: Workflow) -> Facts:
        """Looks once through the document."""
        nodes = {n.id: n for n in workflow.nodes}
        ends = tuple(pairs(workflow))
        following: dict[str, list[str]] = {}
        for source, target, _ in ends:
            following.setdefault(source, []).append(target)
        items = (*workflow.edges, *workflow.groups, *workflow.nodes)
        names = {i.id: name for i in items if isinstance(name := getattr(i, "name", None), str) and name}
        edges = {e.id: e for e in workflow.edges}
        return cls(workflow, nodes, edges, ends, following, _reached(workflow.start, nodes, following), names)

    def name(self, item_id: str) -> str:
        """A name in quotes for a sentence."""
        return f"“{self.names.get(item_id, item_id)}”"

    def missing(self) -> Iterator[tuple[str, str]]:
        """``(edge group id, id that it mentions and that no node has)``."""
        for edge in self.workflow.edges:
            for end in edge_ends(edge):
                if end not in self.nodes:
                    yield edge.id, end


def edge_ends(edge: object) -> tuple[str, ...]:
    """The ids of the nodes that an edge group mentions."""
    match edge:
        case SwitchEdge():
            ends = (edge.source, *(c.target for c in edge.cases), edge.default)
        case FanOutEdge():
            ends = (edge.source, *edge.targets)
        case FanInEdge():
            ends = (*edge.sources, edge.target)
        case DirectEdge() | HandoffEdge():
            ends = (edge.source, edge.target)
        case _:
            ends = ()
    return tuple(end for end in ends if isinstance(end, str))


def _reached(start: str | None, nodes: dict[str, Node], following: dict[str, list[str]]) -> frozenset[str]:
    if start not in nodes:
        return frozenset()
    seen, waiting = {start}, [start]
    while waiting:
        for target in following.get(waiting.pop(), ()):
            if target in nodes and target not in seen:
                seen.add(target)
                waiting.append(target)
    return frozenset(seen)
