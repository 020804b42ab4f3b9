"""What the checks ask about a document, worked out once per validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from studio.document.ids import named_edges
from studio.document.lines import pairs
from studio.document.model import DirectEdge, Edge, FanInEdge, FanOutEdge, HandoffEdge, Node, SwitchEdge, Workflow
from studio.document.problems import Problem

Ends = tuple[str, str, str]
"""Source node, target node, id of the line."""
_Kept = dict[tuple[str, int], tuple[object, tuple[object, ...], tuple[Problem, ...]]]


class Memory:
    """What was found in single nodes and edges when a document was validated last, so that after an edit only those
    are looked at again that changed, or for which something changed that their check asks about."""

    def __init__(self, before: Memory | None = None) -> None:
        self._before: _Kept = before._now if before is not None else {}
        self._now: _Kept = {}

    def each(
        self, check: str, item: object, asked: tuple[object, ...], find: Callable[[], Iterable[Problem]]
    ) -> tuple[Problem, ...]:
        """What ``find`` gives for an item: from before if the item is the same object and what the check asks about
        besides (``asked``) is equal."""
        key = (check, id(item))
        known = self._before.get(key)
        if known is not None and known[0] is item and known[1] == asked:
            self._now[key] = known
            return known[2]
        found = tuple(find())
        self._now[key] = (item, asked, found)
        return found


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
    memory: Memory = field(default_factory=Memory)

    @classmethod
    def of(cls, workflow: Workflow, memory: Memory | None = None) -> Facts:
        """Looks once through the document."""
        nodes = {n.id: n for n in workflow.nodes}
        ends = tuple(pairs(workflow))
        following: dict[str, list[str]] = {}
        for source, target, _ in ends:
            following.setdefault(source, []).append(target)
        items = (*named_edges(workflow), *workflow.groups, *workflow.nodes)
        names = {i.id: name for i in items if isinstance(name := getattr(i, "name", None), str) and name}
        edges = {e.id: e for e in workflow.edges}
        reached = _reached(workflow.start, nodes, following)
        return cls(workflow, nodes, edges, ends, following, reached, names, memory or Memory())

    def name(self, item_id: str) -> str:
        """A name in quotes for a sentence."""
        return f"“{self.names.get(item_id, item_id)}”"

    def each_node(self, check: str, node: Node, find: Callable[[], Iterable[Problem]]) -> tuple[Problem, ...]:
        """What ``find`` gives for a node; it asks about the node, its name, the declarations, and whether the start
        reaches it."""
        of = self.workflow
        asked = (of.tools, of.mcp_servers, of.modules, of.types, of.state)
        return self.memory.each(check, node, (*asked, self.names.get(node.id), node.id in self.reached), find)

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
