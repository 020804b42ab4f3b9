"""Two branches, or two moments of one, side by side: aligned by node and superstep, with what differs.

:func:`compare` is plain and may take long (for a thread); everything it gives is frozen data for a screen, an HTML page
or JSON.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from typing import Any, Literal

from studio.assembly.texts import plain_value
from studio.debugger.drift import compare as drift_between
from studio.debugger.traces import NodeTrace, Spent, StepTrace, Trace
from studio.document.lines import lines
from studio.document.model import Workflow
from studio.document.wording import describe
from studio.engine.values import FROM_OUTSIDE

RowKind = Literal["shared", "same", "different", "only_a", "only_b", "route"]


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two: ``title`` "main", ``subtitle`` "run 13", and the totals of its whole way."""

    title: str
    subtitle: str = ""
    branch: str = ""
    supersteps: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Cell:
    """One side of a row. ``number``: superstep, or a range of them; ``node``: id, "" for none."""

    number: str = ""
    node: str = ""
    name: str = ""
    note: str = ""
    tokens: int = 0
    cost: float | None = 0.0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Detail:
    """Two texts of a row: prompt, input, reply, error, value."""

    label: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a comparison; a side that has nothing there is None. ``children``: what a folded row stands for."""

    kind: RowKind
    a: Cell | None
    b: Cell | None
    details: tuple[Detail, ...] = ()
    children: tuple[Row, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether the filter *only differences* keeps it."""
        return self.kind not in ("shared", "same")


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Everything that a comparison shows. ``state`` and ``prompts`` have one row per key or node."""

    a: Side
    b: Side
    path: tuple[Row, ...] = ()
    messages: tuple[Row, ...] = ()
    state: tuple[Row, ...] = ()
    prompts: tuple[Row, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """What one side is made of: what happened, the drawing it ran, and the shared state at its end."""

    side: Side
    trace: Trace
    document: Workflow
    state: Mapping[str, Any]
    names: Mapping[str, str] = field(default_factory=dict)
    """Names of checkpoints that people gave."""


def compare(a: Compared, b: Compared) -> RunComparison:
    """Aligns the two by superstep and node; renamed nodes are taken for the same."""
    drift = drift_between(a.document, b.document, same_graph=True)
    became = {old: new for old, new in drift.mapping.items() if new is not None}
    aligner = _Aligner(a, b, became)
    return RunComparison(
        _totals(a), _totals(b), aligner.path(), aligner.messages(), _state_rows(a, b), _prompt_rows(a, b, became)
    )


def _totals(one: Compared) -> Side:
    side, spent = one.side, one.trace.spent
    count = sum(step.number > 0 for step in one.trace.steps)
    return Side(side.title, side.subtitle, side.branch, count, spent.tokens, spent.cost, spent.seconds)


class _Aligner:
    """Pairs supersteps by the nodes that ran in them, and nodes within them."""

    def __init__(self, a: Compared, b: Compared, became: Mapping[str, str]) -> None:
        self._a, self._b, self._became = a, b, became
        self._routes = _Routes(a.document), _Routes(b.document)
        self._steps = _steps(a.trace), _steps(b.trace)
        self._common = self._count_common()
        self._pairs = self._paired()

    def _count_common(self) -> int:
        """Supersteps that both have from the very same checkpoints."""
        count = 0
        for one, other in zip(*self._steps, strict=False):
            if one.checkpoint is None or one.checkpoint != other.checkpoint:
                break
            count += 1
        return count

    def _paired(self) -> list[tuple[StepTrace | None, StepTrace | None]]:
        """Supersteps side by side. Two runs begin alike for as long as they did the same; behind that the longest
        stretches with the same nodes are taken for each other."""
        rest = self._steps[0][self._common :], self._steps[1][self._common :]
        alike = next((n for n, pair in enumerate(zip(*rest, strict=False)) if not self._did_the_same(*pair)), None)
        begun = min(map(len, rest)) if alike is None else alike
        pairs: list[tuple[StepTrace | None, StepTrace | None]] = [*zip(rest[0][:begun], rest[1][:begun], strict=True)]
        rest = rest[0][begun:], rest[1][begun:]
        keys = [self._key(s, mapped=True) for s in rest[0]], [self._key(s, mapped=False) for s in rest[1]]
        for tag, a0, a1, b0, b1 in SequenceMatcher(None, *keys, autojunk=False).get_opcodes():
            if tag == "equal":
                pairs += zip(rest[0][a0:a1], rest[1][b0:b1], strict=True)
            elif tag == "replace":
                pairs += self._alike(rest[0][a0:a1], rest[1][b0:b1])
            else:
                pairs += [(step, None) for step in rest[0][a0:a1]] + [(None, step) for step in rest[1][b0:b1]]
        return pairs

    def _did_the_same(self, a: StepTrace, b: StepTrace) -> bool:
        """Whether the same nodes were given, and said, the same in both."""
        if self._key(a, mapped=True) != self._key(b, mapped=False) or a.answers != b.answers:
            return False
        left = {self._became.get(n.node, n.node): (n.given, n.reply, n.error) for n in a.nodes}
        return left == {n.node: (n.given, n.reply, n.error) for n in b.nodes}

    def _alike(self, a: Sequence[StepTrace], b: Sequence[StepTrace]) -> list[tuple[StepTrace | None, StepTrace | None]]:
        """Supersteps with other sets of nodes stand side by side as long as a node is in both."""
        pairs: list[tuple[StepTrace | None, StepTrace | None]] = []
        left, right = list(a), list(b)
        while left and right:
            common = set(self._key(left[0], mapped=True)) & set(self._key(right[0], mapped=False))
            if not common:
                break
            pairs.append((left.pop(0), right.pop(0)))
        return pairs + [(step, None) for step in left] + [(None, step) for step in right]

    def _key(self, step: StepTrace, *, mapped: bool) -> tuple[str, ...]:
        return tuple(sorted(self._became.get(n.node, n.node) if mapped else n.node for n in step.nodes))

    # ---------------------------------------------------------------------------------------------------- path

    def path(self) -> tuple[Row, ...]:
        """The rows of the path: what is shared, then superstep by superstep."""
        rows: list[Row] = []
        shared = self._steps[0][: self._common]
        if shared:
            rows.append(self._shared(shared))
        lonely: list[Row] = []
        for a, b in self._pairs:
            made = self._step_rows(a, b)
            if not made:
                continue  # messages went nowhere
            if a is None or b is None:
                if lonely and lonely[-1].kind != made[-1].kind:
                    rows += _folded(lonely)
                    lonely = []
                lonely += made
                continue
            rows += _folded(lonely)
            lonely = []
            rows += made
        return tuple(rows + _folded(lonely))

    def _shared(self, steps: Sequence[StepTrace]) -> Row:
        last = steps[-1]
        names = {**self._a.names, **self._b.names}
        name = names.get(last.checkpoint or "", "")
        note = f"Same up to “{name}”" if name else f"Same up to superstep {last.number}"
        spent = Spent()
        for step in steps:
            for node in step.nodes:
                spent.add(node.spent)
        number = _range(steps[0].number, last.number)
        cell = Cell(number, "", note, "", spent.tokens, spent.cost, spent.seconds)
        other = Cell(number, "", "identical, from the same checkpoint", "", spent.tokens, spent.cost, spent.seconds)
        children = [row for step in steps for row in self._step_rows(step, step)]
        return Row("shared", cell, other, children=tuple(children))

    def _step_rows(self, a: StepTrace | None, b: StepTrace | None) -> list[Row]:
        left = {self._became.get(n.node, n.node): n for n in a.nodes} if a is not None else {}
        right = {n.node: n for n in b.nodes} if b is not None else {}
        rows: list[Row] = []
        for answer in self._answer_rows(a, b):
            rows.append(answer)
        for key in dict.fromkeys((*left, *right)):
            one, other = left.get(key), right.get(key)
            node = (one or other or NodeTrace(key, "", 0)).node
            details = (*_lone_answer(a, b, node), *self._details(one, other))
            kind: RowKind = "only_b" if one is None else "only_a" if other is None else "different"
            if one is not None and other is not None and not details:
                kind = "same"
            moved = _moved(a, b) if kind == "same" else ""
            rows.append(Row(kind, self._cell(0, one), self._cell(1, other, moved), details))
            if one is not None and other is not None:
                rows += self._route_rows(one, other)
        return rows

    def _answer_rows(self, a: StepTrace | None, b: StepTrace | None) -> list[Row]:
        """Answers before a superstep, where they are not the same."""
        left, right = (dict(step.answers) if step is not None else {} for step in (a, b))
        rows = []
        for node in dict.fromkeys((*left, *right)):
            if a is not None and b is not None and left.get(node) != right.get(node):
                cells = [Cell("", node, self._name(i, node), "answer") for i in (0, 1)]
                details = (Detail("answer", left.get(node, ""), right.get(node, "")),)
                rows.append(Row("different", cells[0], cells[1], details))
        return rows

    def _cell(self, side: int, node: NodeTrace | None, note: str = "") -> Cell | None:
        if node is None:
            return None
        note = note or (", ".join(dict.fromkeys(node.tools)) if node.tools else "")
        spent = node.spent
        name = self._name(side, node.node)
        return Cell(str(node.superstep), node.node, name, note, spent.tokens, spent.cost, spent.seconds)

    def _name(self, side: int, node: str) -> str:
        found = (self._a, self._b)[side].document.node(node)
        return str(getattr(found, "name", "") or node)

    def _details(self, a: NodeTrace | None, b: NodeTrace | None) -> tuple[Detail, ...]:
        if a is None or b is None:
            one = a or b
            text = (one.error or one.reply) if one is not None else ""
            label = "error" if one is not None and one.error else "reply"
            return (Detail(label, text if a else "", text if b else ""),) if text else ()
        prompts = self._prompt(0, a.node), self._prompt(1, b.node)
        pairs = (("prompt", *prompts), ("input", a.given, b.given), ("reply", a.reply, b.reply))
        found = [Detail(label, one, other) for label, one, other in pairs if one != other]
        if a.error != b.error:
            found.append(Detail("error", a.error, b.error))
        return tuple(found)

    def _prompt(self, side: int, node: str) -> str:
        found = (self._a, self._b)[side].document.node(node)
        return instructions_of(found)

    def _route_rows(self, a: NodeTrace, b: NodeTrace) -> list[Row]:
        """Where the two took different ways behind a node."""
        ways = self._routes[0].ways(a), self._routes[1].ways(b)
        rows = []
        for edge in dict.fromkeys((*ways[0], *ways[1])):
            one, other = ways[0].get(edge, ()), ways[1].get(edge, ())
            if {self._became.get(t, t) for t, _ in one} != {t for t, _ in other}:
                cells = [
                    Cell("", "", self._routes[i].name(edge), ", ".join(f"took {words} → {self._name(i, t)}"
                         if words else f"→ {self._name(i, t)}" for t, words in taken) or "took no way")
                    for i, taken in enumerate((one, other))
                ]  # fmt: skip
                rows.append(Row("route", cells[0], cells[1]))
        return rows

    # ------------------------------------------------------------------------------------------------ messages

    def messages(self) -> tuple[Row, ...]:
        """Messages by superstep and source, those of the shared beginning left out."""
        rows: list[Row] = []
        for a, b in self._pairs:
            sides = [self._sent(side, step) for side, step in enumerate((a, b))]
            for key in dict.fromkeys((*sides[0], *sides[1])):
                one, other = sides[0].get(key), sides[1].get(key)
                texts = one[1] if one else "", other[1] if other else ""
                kind: RowKind = "only_b" if one is None else "only_a" if other is None else "same"
                if kind == "same" and texts[0] != texts[1]:
                    kind = "different"
                rows.append(Row(kind, one and one[0], other and other[0], (Detail("message", *texts),)))
        return tuple(rows)

    def _sent(self, side: int, step: StepTrace | None) -> dict[tuple[str, str | None, int], tuple[Cell, str]]:
        found: dict[tuple[str, str | None, int], tuple[Cell, str]] = {}
        for message in step.messages if step is not None else ():
            source = message.source.removeprefix(FROM_OUTSIDE)
            mapped = self._became.get(source, source) if side == 0 else source
            target = message.target and (
                self._became.get(message.target, message.target) if side == 0 else message.target
            )
            number = sum(key[:2] == (mapped, target) for key in found)
            note = f"to {self._name(side, message.target)}" if message.target else ""
            cell = Cell(str(message.superstep), source, self._name(side, source), note)
            found[mapped, target, number] = cell, message.text
        return found


class _Routes:
    """The decisions of a drawing: switches, selections, conditions."""

    def __init__(self, document: Workflow) -> None:
        self._lines = {line.id: line for line in lines(document)}
        self._names = {e.id: str(getattr(e, "name", "") or "Condition") for e in document.edges}
        self._edge_of = {line.id: line.edge for line in self._lines.values()}
        deciding = {line.edge for line in self._lines.values() if line.condition is not None}
        self._deciding = deciding | {e.id for e in document.edges if e.kind == "switch"}
        self._words = {
            (line.edge, line.target): line.label or (describe(line.condition) if line.condition else "default")
            for line in self._lines.values()
        }

    def name(self, edge: str) -> str:
        """The name of what decides."""
        return self._names.get(edge, "Condition")

    def ways(self, node: NodeTrace) -> dict[str, tuple[tuple[str, str], ...]]:
        """By what decides: targets that were taken, with the condition in words."""
        found: dict[str, list[tuple[str, str]]] = {}
        for taken, target in node.taken:
            edge = self._edge_of.get(taken, taken)
            if edge in self._deciding:
                found.setdefault(edge, []).append((target, self._words.get((edge, target), "")))
        return {edge: tuple(targets) for edge, targets in found.items()}


def _lone_answer(a: StepTrace | None, b: StepTrace | None, node: str) -> tuple[Detail, ...]:
    """What was answered to a node before a superstep that only one side has."""
    if (a is None) == (b is None):
        return ()
    texts = [dict(step.answers).get(node, "") if step is not None else "" for step in (a, b)]
    return (Detail("answer", *texts),) if any(texts) else ()


def _steps(trace: Trace) -> list[StepTrace]:
    return [step for step in trace.steps if step.number > 0]


def _moved(a: StepTrace | None, b: StepTrace | None) -> str:
    by = (b.number - a.number) if a is not None and b is not None else 0
    if not by:
        return ""
    words = "1 superstep" if abs(by) == 1 else f"{abs(by)} supersteps"
    return f"same node, {words} {'later' if by > 0 else 'earlier'}"


def _range(first: int, last: int) -> str:
    return str(first) if first == last else f"{first}–{last}"


def _folded(rows: Sequence[Row]) -> list[Row]:
    """Several rows that only one side has become one that unfolds."""
    if len(rows) < 2:
        return list(rows)
    cells = [row.a or row.b for row in rows]
    known = [cell for cell in cells if cell is not None]
    counts: dict[str, int] = {}
    for cell in known:
        counts[cell.name] = counts.get(cell.name, 0) + 1
    names = ", ".join(f"{name} ×{count}" if count > 1 else name for name, count in counts.items())
    numbers = [int(c.number) for c in known if c.number.isdigit()]
    spent = Spent()
    for cell in known:
        spent.add(Spent(cell.tokens, cell.cost, cell.seconds))
    number = _range(min(numbers), max(numbers)) if numbers else ""
    cell = Cell(number, "", names, "", spent.tokens, spent.cost, spent.seconds)
    kind = rows[0].kind
    return [Row(kind, cell if kind == "only_a" else None, cell if kind == "only_b" else None, children=tuple(rows))]


def _state_rows(a: Compared, b: Compared) -> tuple[Row, ...]:
    rows = []
    for key in dict.fromkeys((*a.state, *b.state)):
        texts = tuple(shown_value(s.state[key]) if key in s.state else "" for s in (a, b))
        kind: RowKind = "same" if texts[0] == texts[1] else "different"
        kind = "only_b" if key not in a.state else "only_a" if key not in b.state else kind
        cells = [Cell("", "", key) if key in s.state else None for s in (a, b)]
        rows.append(Row(kind, cells[0], cells[1], (Detail("value", texts[0], texts[1]),)))
    return tuple(rows)


def _prompt_rows(a: Compared, b: Compared, became: Mapping[str, str]) -> tuple[Row, ...]:
    """Instructions, questions, templates and code by node."""
    left = {became.get(n.id, n.id): n for n in a.document.nodes}
    right = {n.id: n for n in b.document.nodes}
    rows = []
    for key in dict.fromkeys((*left, *right)):
        nodes = left.get(key), right.get(key)
        texts = [instructions_of(node) for node in nodes]
        if not any(texts):
            continue
        kind: RowKind = "same" if texts[0] == texts[1] else "different"
        kind = "only_b" if nodes[0] is None else "only_a" if nodes[1] is None else kind
        cells = [Cell("", n.id, str(getattr(n, "name", "") or n.id)) if n is not None else None for n in nodes]
        rows.append(Row(kind, cells[0], cells[1], (Detail("prompt", texts[0], texts[1]),)))
    return tuple(rows)


def instructions_of(node: object) -> str:
    """What a node was told by the drawing: instructions, question, template, code."""
    parts = [getattr(node, field, "") or "" for field in ("instructions", "question", "text", "body", "call")]
    return "\n".join(part for part in parts if isinstance(part, str) and part)


def shown_value(value: object) -> str:
    """A value of shared state as a text: texts as they are, the rest as JSON."""
    if isinstance(value, str):
        return value
    try:
        return json.dumps(plain_value(value), ensure_ascii=False, sort_keys=True)
    except (TypeError, ValueError):
        return str(value)
