"""What surely runs when something else runs: for joins that wait for what may never come.

Bit sets over the nodes of a document, and over one more point per way that is taken only under a condition.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.document.facts import Facts
from studio.document.model import DirectEdge, FanInEdge, FanOutEdge, HandoffEdge, SwitchEdge


@dataclass(slots=True)
class _Graph:
    """Points by number; ``sure`` always follow, ``choices`` are switches: exactly one of a list follows."""

    names: list[str] = field(default_factory=list)
    number: dict[str, int] = field(default_factory=dict)
    sure: list[list[int]] = field(default_factory=list)
    choices: list[list[list[int]]] = field(default_factory=list)
    before: list[list[int]] = field(default_factory=list)
    joins: dict[int, list[int]] = field(default_factory=dict)

    def point(self, name: str) -> int:
        if name not in self.number:
            self.number[name] = len(self.names)
            self.names.append(name)
            for table in (self.sure, self.choices, self.before):
                table.append([])
        return self.number[name]

    def link(self, source: int, target: int) -> None:
        self.sure[source].append(target)
        self.before[target].append(source)

    def maybe(self, source: int, target: str, way: str) -> int:
        """A way that is taken only under a condition; a point of its own leads to the target."""
        point = self.point(f"?{way}")
        self.before[point].append(source)
        self.link(point, self.point(target))
        return point


def unsure_sources(facts: Facts) -> list[tuple[str, str, str]]:
    """``(join, source that may run alone, source that may then be missing)``, at most one for each join."""
    joins = [e for e in facts.workflow.edges if isinstance(e, FanInEdge) and set(e.sources) <= facts.reached]
    graph = _graph(facts) if joins else None
    if graph is None or not any(name.startswith("?") for name in graph.names):
        return []
    follow = _following(graph)
    above = _dominators(graph, graph.number[facts.workflow.start or ""])
    found: list[tuple[str, str, str]] = []
    for edge in joins:
        sources = [graph.number[s] for s in edge.sources]
        for alone in sources:
            implied = above[alone]
            for point in range(len(graph.names)):
                if above[alone] >> point & 1:
                    implied |= follow[point]
            missing = next((s for s in sources if not implied >> s & 1), None)
            if missing is not None:
                found.append((edge.target, graph.names[alone], graph.names[missing]))
                break
    return found


def _graph(facts: Facts) -> _Graph:
    graph = _Graph()
    for node in facts.workflow.nodes:
        if node.id in facts.reached:
            graph.point(node.id)
    for edge in facts.workflow.edges:
        match edge:
            case DirectEdge() | HandoffEdge() if edge.source in facts.reached and edge.target in facts.nodes:
                source = graph.point(edge.source)
                if isinstance(edge, HandoffEdge) or edge.condition is not None:
                    graph.maybe(source, edge.target, edge.id)
                else:
                    graph.link(source, graph.point(edge.target))
            case SwitchEdge(source=str() as name) if name in facts.reached:
                _switch(graph, facts, edge, graph.point(name))
            case FanOutEdge(source=str() as name) if name in facts.reached:
                for target in edge.targets:
                    if target in (edge.selection or {}):
                        graph.maybe(graph.point(name), target, f"{edge.id}:{target}")
                    elif target in facts.nodes:
                        graph.link(graph.point(name), graph.point(target))
            case FanInEdge() if set(edge.sources) <= facts.reached and edge.target in facts.nodes:
                graph.joins[graph.point(edge.target)] = [graph.point(s) for s in edge.sources]
    return graph


def _switch(graph: _Graph, facts: Facts, edge: SwitchEdge, source: int) -> None:
    ways = [(case.id, case.target) for case in edge.cases]
    ways += [(f"{edge.id}:default", edge.default)] if edge.default is not None else []
    points = [graph.maybe(source, target, way) for way, target in ways if target in facts.nodes]
    if points and edge.default is not None:
        graph.choices[source].append(points)


def _following(graph: _Graph) -> list[int]:
    """By point, what surely runs once it does. Loops are taken to end."""
    everything = (1 << len(graph.names)) - 1
    follow = [everything] * len(graph.names)
    bars = [(bar, sum(1 << s for s in set(sources))) for bar, sources in graph.joins.items()]
    changed = True
    while changed:
        changed = False
        for point in reversed(range(len(graph.names))):
            now = 1 << point
            for target in graph.sure[point]:
                now |= follow[target]
            for ways in graph.choices[point]:
                common = everything
                for way in ways:
                    common &= follow[way]
                now |= common
            grown = True
            while grown:
                grown = False
                for bar, sources in bars:
                    if now & sources == sources and not now >> bar & 1:
                        now |= follow[bar] | 1 << bar
                        grown = True
            if now != follow[point]:
                follow[point] = now
                changed = True
    return follow


def _dominators(graph: _Graph, start: int) -> list[int]:
    """By point, what must have run before it: on every way from the start; for a bar, all that it waits for."""
    everything = (1 << len(graph.names)) - 1
    above = [everything] * len(graph.names)
    above[start] = 1 << start
    changed = True
    while changed:
        changed = False
        for point in range(len(graph.names)):
            if point == start:
                continue
            now = everything
            for source in graph.before[point]:
                now &= above[source]
            if point in graph.joins and not graph.before[point]:
                now = 0
                for source in graph.joins[point]:
                    now |= above[source]
            now |= 1 << point
            if now != above[point]:
                above[point] = now
                changed = True
    return above
