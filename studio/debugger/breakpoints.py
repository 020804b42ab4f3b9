"""Breakpoints: where a run stops, on which condition, from which hit on; as data, and the live list of a workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal
from uuid import uuid4

from studio.assembly.texts import fill, scope_of
from studio.document.conditions import Condition, NeedsWorker, Scope, evaluate

Kind = Literal["node", "edge", "model", "tool", "request", "state", "cost", "tokens", "supersteps", "repeats", "error"]
KINDS: tuple[Kind, ...] = (
    "node", "edge", "model", "tool", "request", "state", "cost", "tokens", "supersteps", "repeats", "error",
)  # fmt: skip
When = Literal["before", "after", "queued", "delivered"]
_MOMENTS: Mapping[str, tuple[When, ...]] = {
    "node": ("before", "after"),
    "edge": ("delivered", "queued"),
    "model": ("before",),
    "tool": ("before", "after"),
}
BUDGETS: frozenset[Kind] = frozenset({"cost", "tokens", "supersteps"})
"""Hit once in a run, when the limit is passed."""


def moments(kind: Kind) -> tuple[When, ...]:
    """When a breakpoint of this kind can stop; the first is meant if nothing is said. Empty: there is no choice."""
    return _MOMENTS.get(kind, ())


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint.

    ``place``: for ``node``, ``model``, ``request`` and ``error`` the path of a node (``sub/inner`` inside a
    sub-workflow), for ``edge`` the id of a line, for ``tool`` and ``repeats`` the name of a tool, for ``state`` a key;
    "" is every one. ``limit``: money, tokens or supersteps of a budget, or how many equal calls in a row.
    ``from_hit``: it stops from the n-th time on. ``log``: a text that is written instead of stopping; ``{text}``,
    ``{value.path}`` and ``{state.key}`` are filled in.
    """

    kind: Kind = "node"
    place: str = ""
    when: When | None = None
    condition: Condition | None = None
    from_hit: int = 1
    log: str = ""
    limit: float = 0
    enabled: bool = True
    id: str = field(default_factory=lambda: uuid4().hex)

    @property
    def moment(self) -> When | None:
        """When it stops."""
        known = moments(self.kind)
        return self.when if self.when in known else known[0] if known else None


def to_json(breakpoint: Breakpoint) -> dict[str, Any]:
    """As the view state of a workflow keeps it; what is as by default is left out."""
    plain = Breakpoint(id="")
    kept = {
        f.name: value for f in fields(breakpoint) if (value := getattr(breakpoint, f.name)) != getattr(plain, f.name)
    }
    if breakpoint.condition is not None:
        kept["condition"] = breakpoint.condition.model_dump(mode="json", exclude_defaults=True)
    return kept


def from_json(kept: object) -> Breakpoint | None:
    """The breakpoint that was kept; a text is a node to stop before. None for what no version of ours wrote."""
    if isinstance(kept, str):
        return Breakpoint(place=kept, id=kept)
    if not isinstance(kept, Mapping) or kept.get("kind", "node") not in KINDS:
        return None
    known = {f.name for f in fields(Breakpoint)}
    values = {name: value for name, value in kept.items() if name in known}
    try:
        if values.get("condition") is not None:
            values["condition"] = Condition.model_validate(values["condition"])
        made = Breakpoint(**values)
    except (TypeError, ValueError):
        return None
    texts = isinstance(made.place, str) and isinstance(made.log, str) and isinstance(made.id, str)
    numbers = isinstance(made.from_hit, int) and isinstance(made.limit, int | float)
    return made if texts and numbers else None


class Breakpoints:
    """The live list of a workflow, with how often each was hit in this run. Changes hold for a run in progress."""

    def __init__(self, items: Iterable[Breakpoint] = ()) -> None:
        self._items: dict[str, Breakpoint] = {b.id: b for b in items}
        self.hits: dict[str, int] = {}
        self.logged: dict[str, str] = {}
        """The last text that each one wrote."""

    @classmethod
    def before(cls, nodes: Iterable[str]) -> Breakpoints:
        """Plain breakpoints before nodes."""
        return cls(Breakpoint(place=node, id=node) for node in nodes)

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(tuple(self._items.values()))

    def __len__(self) -> int:
        return len(self._items)

    def get(self, id: str) -> Breakpoint | None:
        """The breakpoint with this id."""
        return self._items.get(id)

    def put(self, breakpoint: Breakpoint) -> None:
        """Adds one, or takes it in the place of the one with its id."""
        self._items[breakpoint.id] = breakpoint

    def remove(self, id: str) -> None:
        """Takes one away."""
        self._items.pop(id, None)
        self.hits.pop(id, None)
        self.logged.pop(id, None)

    def replace(self, items: Iterable[Breakpoint]) -> None:
        """Other breakpoints altogether; the object stays."""
        self._items = {b.id: b for b in items}
        self.begin()

    def switch(self, id: str, *, on: bool) -> None:
        """Enables or disables one."""
        found = self._items.get(id)
        if found is not None:
            self._items[id] = replace(found, enabled=on)

    def toggle(self, kind: Kind, place: str) -> None:
        """Takes away every breakpoint of this kind at this place, or sets a plain one."""
        there = [b.id for b in self._items.values() if (b.kind, b.place) == (kind, place)]
        for id in there:
            self.remove(id)
        if not there:
            self.put(Breakpoint(kind, place))

    def at(self, kind: Kind, when: When | None = None) -> list[Breakpoint]:
        """The enabled ones of this kind and moment."""
        return [b for b in self._items.values() if b.kind == kind and b.enabled and (when is None or b.moment == when)]

    def places(self, kind: Kind, *, enabled: bool = True) -> frozenset[str]:
        """Where enabled (or else disabled) ones of a kind are; for marks on the canvas."""
        return frozenset(b.place for b in self._items.values() if b.kind == kind and b.enabled is enabled)

    def begin(self) -> None:
        """A new run: nothing was hit yet."""
        self.hits.clear()
        self.logged.clear()

    def hit(self, breakpoint: Breakpoint, data: object, state: Mapping[str, object]) -> str | None:
        """Counts a hit if the condition is true for ``data`` and the shared ``state``.

        Gives None if nothing happens, "" if the run is to stop, else the text that is to be logged.
        """
        if breakpoint.condition is not None and not _holds(breakpoint.condition, scope_of(data, state)):
            return None
        count = self.hits.get(breakpoint.id, 0) + 1
        if breakpoint.kind in BUDGETS and count > 1:
            return None
        self.hits[breakpoint.id] = count
        if count < breakpoint.from_hit:
            return None
        if breakpoint.log:
            text = self.logged[breakpoint.id] = fill(breakpoint.log, data, state.get)
            return text or " "
        return ""


def _holds(condition: Condition, scope: Scope) -> bool:
    """A Python predicate is code for the worker, and was asked before (:mod:`studio.debugger.watching`)."""
    try:
        return evaluate(condition, scope)
    except NeedsWorker:
        return True


def words(breakpoint: Breakpoint, name_of: Callable[[str], str]) -> str:
    """What it stops at, in words: "before Writer", "when score changes"."""
    place = name_of(breakpoint.place) if breakpoint.place else ""
    limit = f"{breakpoint.limit:,.6f}".rstrip("0").rstrip(".")
    match breakpoint.kind:
        case "node":
            return f"{breakpoint.moment} {place or 'every node'}"
        case "edge":
            how = "is queued on" if breakpoint.moment == "queued" else "is delivered by"
            return f"when a message {how} {place or 'any edge'}"
        case "model":
            return f"before a model call of {place or 'any agent'}"
        case "tool":
            return f"{breakpoint.moment} a call of {breakpoint.place or 'any tool'}"
        case "request":
            return f"when {place or 'a node'} asks"
        case "state":
            return f"when {breakpoint.place or 'a state key'} changes"
        case "cost":
            return f"when the run has cost more than {limit}"
        case "tokens":
            return f"when the run has used more than {limit} tokens"
        case "supersteps":
            return f"after {limit} supersteps"
        case "repeats":
            return f"when {breakpoint.place or 'a tool'} is called {limit} times in a row with the same arguments"
        case "error":
            return f"when {place or 'a node'} fails"


def problem(breakpoint: Breakpoint) -> str:
    """Why this breakpoint can never stop; "" if it can."""
    if breakpoint.kind in BUDGETS and breakpoint.limit <= 0:
        return "A limit above zero is wanted."
    if breakpoint.kind == "repeats" and breakpoint.limit < 2:
        return "A call repeats from the second time on: the number must be at least 2."
    if breakpoint.from_hit < 1:
        return "Hits are counted from 1."
    return ""
