"""The graph that a reader makes, in the terms of the import specification, before it becomes a document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from studio.document.conditions import Condition
from studio.importers.problems import MAX_ITEMS, too_many
from studio.importers.report import DEFAULT_SEVERITY, Entry, Folded, Severity

RuleState = Literal["translated", "kept", "unknown"]


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of an edge: its text in the source, the language of that text, and what is known about it.

    ``condition`` is the translation, if there is one that runs.
    """

    text: str | None
    lang: str | None
    state: RuleState
    condition: Condition | None = None
    labels: Mapping[str, str] | None = None


@dataclass(slots=True)
class Case:
    """A case of a switch; the default has no rule."""

    id: str
    target: str | None = None
    rule: Rule | None = None


@dataclass(slots=True)
class DraftNode:
    """``data`` are the properties by the names of the specification; ``source`` is the original text of what could not
    be mapped, ``lang`` its language; ``added`` says that no item of the source stands behind the node."""

    id: str
    kind: str
    label: str
    data: dict[str, Any] = field(default_factory=dict)
    added: bool = False
    source: str = ""
    lang: str = ""
    x: float | None = None
    y: float | None = None
    line: int | None = None


@dataclass(slots=True)
class DraftEdge:
    """One edge group. ``counted`` is the number of edges of the source that it stands for."""

    kind: Literal["direct", "switch", "fan_out", "fan_in", "handoff"]
    sources: list[str]
    targets: list[str] = field(default_factory=list)
    cases: list[Case] = field(default_factory=list)
    default: Case | None = None
    rule: Rule | None = None
    tool: str = ""
    data: dict[str, Any] = field(default_factory=dict)
    counted: int = 1

    @property
    def source(self) -> str:
        return self.sources[0]


@dataclass(slots=True)
class Variable:
    """A shared variable."""

    initial: Any = None
    type: str = "any"


@dataclass(slots=True)
class Draft:
    """What a reader fills. Ids are unique without regard to case."""

    detected: str = ""
    name: str = ""
    description: str = ""
    start: str | None = None
    nodes: dict[str, DraftNode] = field(default_factory=dict)
    edges: list[DraftEdge] = field(default_factory=list)
    variables: dict[str, Variable] = field(default_factory=dict)
    inputs: dict[str, Any] = field(default_factory=dict)
    tools: dict[str, dict[str, Any]] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    types: dict[str, dict[str, Any]] = field(default_factory=dict)
    groups: list[dict[str, Any]] = field(default_factory=list)
    outputs: tuple[str, ...] | str | None = None
    intermediate: tuple[str, ...] | str | None = None
    max_iterations: int | None = None
    pattern: str = ""
    extra: dict[str, Any] = field(default_factory=dict)
    items_in: int = 0
    edges_in: int | None = None
    edges_folded: int = 0
    edges_lost: int = 0
    entries: list[Entry] = field(default_factory=list)
    folded: list[Folded] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    secrets: set[str] = field(default_factory=set)
    edited: list[str] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)
    preface: str = ""
    placed: bool = False
    origin_kept: bool = False
    _taken: set[str] = field(default_factory=set)
    _numbers: dict[str, int] = field(default_factory=dict)

    # ------------------------------------------------------------------------------------------------- nodes

    def free(self, wanted: str) -> str:
        """The id, or the id with the first free number."""
        found, number = wanted, self._numbers.get(wanted.casefold(), 2)
        while found.casefold() in self._taken:
            self._numbers[wanted.casefold()] = number
            found, number = f"{wanted}_{number}", number + 1
        return found

    def add(self, node: DraftNode) -> DraftNode:
        """Puts a node into the graph; its id has to be free."""
        self._taken.add(node.id.casefold())
        self.nodes[node.id] = node
        if len(self.nodes) > MAX_ITEMS:
            raise too_many(len(self.nodes))
        return node

    def reserve(self, item_id: str) -> None:
        """Keeps an id from being given to a node that is added."""
        self._taken.add(item_id.casefold())

    def remove(self, node_id: str) -> None:
        """Takes a node out again."""
        del self.nodes[node_id]
        self._taken.discard(node_id.casefold())

    def variable(self, name: str, initial: Any = None, type_name: str = "any") -> None:
        """Declares a shared variable once; a later initial value is taken over."""
        found = self.variables.setdefault(name, Variable(initial, type_name))
        if found.initial is None:
            found.initial = initial

    # ------------------------------------------------------------------------------------------------ report

    def note(self, code: str, item: str, text: str, severity: Severity | None = None, line: int | None = None) -> None:
        """An entry of the report."""
        self.entries.append(Entry(code, item, severity or DEFAULT_SEVERITY[code], text, line))

    def fold(self, item: str, into: str) -> None:
        """An item of the source that became a property of something."""
        self.folded.append(Folded(item, into))

    def secret(self, item: str, value: object, line: int | None = None) -> None:
        """A literal key was found: it is reported once per item and taken out of every text."""
        if isinstance(value, str) and value.strip():
            self.secrets.add(value)
        if not any(e.code == "secret_removed" and e.item == item for e in self.entries):
            text = "A literal key or token was found and dropped. Enter it in the provider profile."
            self.note("secret_removed", item, text, line=line)

    # ------------------------------------------------------------------------------------------------- edges

    def direct(self, source: str, target: str, rule: Rule | None = None, counted: int = 1) -> DraftEdge:
        """A direct edge."""
        edge = DraftEdge("direct", [source], [target], rule=rule, counted=counted)
        self.edges.append(edge)
        return edge

    def leaving(self, node_id: str) -> Iterable[DraftEdge]:
        """The edge groups that leave a node."""
        return (e for e in self.edges if node_id in e.sources)
