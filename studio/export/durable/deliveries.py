"""Which nodes can work in the same superstep, and which can be given two messages in one.

On Durable Task the messages of one superstep run side by side, each on a copy of shared state from before it.
In one process they see each other's writes, and two messages to one node run one after the other. So a workflow is the
same on both only if certain nodes do not meet. This is an upper bound: conditions count as true and false.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations, product

from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    SubWorkflowNode,
    SwitchEdge,
    Workflow,
)
from studio.document.types import yields
from studio.export.junctions import is_needed
from studio.export.naming import Names

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Way:
    """What one edge group gives for one message: one of ``choices``, each a set of targets. ``gathers``: the messages
    of all sources become one."""

    choices: tuple[frozenset[str], ...]
    gathers: str = ""

    @property
    def targets(self) -> frozenset[str]:
        """All of them."""
        return frozenset().union(*self.choices)


@dataclass(slots=True)
class Meetings:
    """``pairs``: nodes that can work in one superstep, with the two that sent; a pair of a node with itself is a node
    that can be given two messages."""

    pairs: dict[Pair, Pair] = field(default_factory=dict)

    def twice(self) -> Iterator[tuple[str, Pair]]:
        """Nodes that can be given two messages in one superstep, and the nodes that send them."""
        yield from ((a, senders) for (a, b), senders in self.pairs.items() if a == b)

    def apart(self) -> Iterator[Pair]:
        """Pairs of different nodes."""
        yield from (pair for pair in self.pairs if pair[0] != pair[1])


def meetings(workflow: Workflow) -> Meetings:
    """All nodes that can meet in a run."""
    return _Search(workflow).run()


def asks(workflow: Workflow, node: object) -> bool:
    """Whether a node can wait for an answer from outside. (What a workflow inside asks holds up the superstep.)"""
    match node:
        case HumanInputNode():
            return True
        case AgentNode():
            waiting = {tool.name for tool in workflow.tools if tool.approval != "never"}
            servers = {server.name for server in workflow.mcp_servers if server.approval != "never"}
            return bool(waiting & set(node.tools) or servers & set(node.mcp_servers))
    return False


def ways(workflow: Workflow) -> dict[str, list[Way]]:
    """Node, or junction that is an executor -> the edge groups behind it."""
    names = Names.of(workflow)
    found: dict[str, list[Way]] = {}
    for edge in workflow.edges:
        for source, way in _ways(edge):
            if is_needed(edge, names):
                found.setdefault(source, []).append(Way((frozenset({edge.id}),)))
                source = edge.id
            found.setdefault(source, []).append(way)
    return found


def _ways(edge: Edge) -> Iterator[tuple[str, Way]]:
    match edge:
        case DirectEdge():
            yield edge.source, Way((frozenset({edge.target}),))
        case FanOutEdge(source=str() as source):
            yield source, Way((frozenset(edge.targets),))
        case SwitchEdge(source=str() as source):
            targets = [*(case.target for case in edge.cases), edge.default]
            yield source, Way(tuple(frozenset({t}) for t in targets if t))
        case FanInEdge():
            yield from ((source, Way((frozenset({edge.target}),), edge.id)) for source in edge.sources)


class _Search:
    """Goes on from the start, pair by pair."""

    def __init__(self, workflow: Workflow) -> None:
        self._ways = ways(workflow)
        self._several = {node.id for node in workflow.nodes if sends_several(node)}
        self._asking = {node.id for node in workflow.nodes if asks(workflow, node)}
        self._start = workflow.start or ""
        self._found = Meetings()
        self._behind = _reachable(_following(self._ways))

    def run(self) -> Meetings:
        """The pairs. A single node is looked at as the node alone."""
        alone = [self._start, *self._behind.get(self._start, ())]
        for node in alone:
            self._from_one(node)
        done: set[Pair] = set()
        while waiting := [pair for pair in self._found.pairs if pair not in done]:
            for pair in waiting:
                done.add(pair)
                self._from_two(*pair)
        return self._found

    def _add(self, x: str, y: str, senders: Pair) -> None:
        self._found.pairs.setdefault((min(x, y), max(x, y)), senders)

    def _from_one(self, node: str) -> None:
        given = self._ways.get(node, [])
        for way in given:
            for choice in way.choices:
                for x, y in combinations(sorted(choice), 2):
                    self._add(x, y, (node, node))
            if node in self._several and not way.gathers:
                for x, y in product(way.targets, way.targets):
                    self._add(x, y, (node, node))
        for one, other in combinations(given, 2):
            self._cross(one, other, (node, node))

    def _from_two(self, a: str, b: str) -> None:
        for one, other in product(self._ways.get(a, ()), self._ways.get(b, ())):
            self._cross(one, other, (a, b))
        for waiting, working in ((a, b), (b, a)):
            if waiting in self._asking:
                for other in (working, *self._behind.get(working, ())):
                    if other in self._asking:  # answered in one superstep, when nothing else is left to do
                        self._add(waiting, other, (waiting, other))

    def _cross(self, one: Way, other: Way, senders: Pair) -> None:
        for x, y in product(one.targets, other.targets):
            if x != y or not (one.gathers and one.gathers == other.gathers):
                self._add(x, y, senders)


def sends_several(node: object) -> bool:
    """Whether one message to a node can give several messages over one of its edges."""
    match node:
        case FunctionNode():
            return bool(calls_of(node.body, "send_message"))
        case SubWorkflowNode(embedded=Workflow() as inner) if not node.direct_output:
            return _outputs(inner) > 1
    return False


def _outputs(inner: Workflow) -> int:
    """How many outputs a workflow inside can give; 2 for more than one."""
    giving = [n for n in inner.nodes if yields(n)]
    if isinstance(inner.outputs, tuple):
        giving = [n for n in giving if n.id in inner.outputs]
    loops = looping(inner)
    again = any(n.id in loops or sends_several(n) for n in giving)
    return 2 if again else len(giving)


def looping(workflow: Workflow) -> frozenset[str]:
    """The nodes that can be reached from themselves."""
    return frozenset(node for node, behind in _reachable(_following(ways(workflow))).items() if node in behind)


def _following(given: Mapping[str, Iterable[Way]]) -> dict[str, set[str]]:
    return {source: {target for way in found for target in way.targets} for source, found in given.items()}


def _reachable(following: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """What can be reached from each node by at least one step."""
    found: dict[str, frozenset[str]] = {}
    for node in following:
        seen: set[str] = set()
        waiting = list(following[node])
        while waiting:
            target = waiting.pop()
            if target not in seen:
                seen.add(target)
                waiting += following.get(target, ())
        found[node] = frozenset(seen)
    return found


def calls_of(code: str, method: str) -> list[str | None]:
    """The first arguments of calls ``ctx.<method>(...)`` in user code, as far as they are literals."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    found: list[str | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == method:
            first = node.args[0] if node.args else None
            value = first.value if isinstance(first, ast.Constant) else None
            found.append(value if isinstance(value, str) else None)
    return found
