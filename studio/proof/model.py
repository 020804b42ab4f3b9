"""What a proof is made of: steps, graphs, runs, and where two of them differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

StepState = Literal["waiting", "running", "passed", "failed", "not_run"]


@dataclass(frozen=True, slots=True)
class Step:
    """One check. ``node``: the id of the node that differs, "" if it is none."""

    key: str
    state: StepState = "waiting"
    detail: str = ""
    seconds: float = 0.0
    node: str = ""


@dataclass(frozen=True, slots=True)
class Shape:
    """A graph: start, ids of executors, and edge groups as (kind, sources, targets)."""

    start: str
    nodes: tuple[str, ...]
    edges: tuple[tuple[str, tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """A run: per superstep (kind, node) in order, outputs as (node, plain value), and what failed as (node, words).

    ``unordered``: (index of the superstep, node) whose outputs there have no promised order."""

    supersteps: tuple[tuple[tuple[str, str], ...], ...]
    outputs: tuple[tuple[str, Any], ...]
    failed: tuple[str, str] | None = None
    unordered: frozenset[tuple[int, str]] = frozenset()

    @property
    def events(self) -> int:
        """How many events were compared."""
        return sum(len(step) for step in self.supersteps)


@dataclass(frozen=True, slots=True)
class Difference:
    """Where two graphs or runs are not the same: a sentence and the node."""

    text: str
    node: str = ""


def shape_from(line: Mapping[str, Any]) -> Shape:
    """The graph that the process with the exported code has told of."""
    edges = tuple((str(kind), tuple(sources), tuple(targets)) for kind, sources, targets in line["edges"])
    return Shape(line["start"], tuple(line["nodes"]), edges)


def outcome_from(line: Mapping[str, Any]) -> Outcome:
    """The run that the process with the exported code has told of."""
    steps = tuple(tuple((str(kind), str(node)) for kind, node in step) for step in line["supersteps"])
    outputs = tuple((str(node), value) for node, value in line["outputs"])
    failed = line["failed"]
    return Outcome(steps, outputs, (failed["node"], failed["message"]) if failed else None)


def shapes_differ(canvas: Shape, code: Shape) -> Difference | None:
    """The first thing that one graph has and the other has not."""
    if canvas.start != code.start:
        return Difference(f"The code starts at {code.start}, the canvas at {canvas.start}.", canvas.start)
    for where, one, other in (("canvas", canvas, code), ("code", code, canvas)):
        gone = next((node for node in one.nodes if node not in other.nodes), None)
        if gone is not None:
            return Difference(f"{gone} is only in the {where}.", gone)
        edge = next((edge for edge in one.edges if edge not in other.edges), None)
        if edge is not None:
            kind, sources, targets = edge
            ends = f"{', '.join(sources)} to {', '.join(targets)}"
            return Difference(f"The {kind} from {ends} is only in the {where}.", sources[0])
    return None


def outcomes_differ(canvas: Outcome, code: Outcome) -> Difference | None:
    """The first difference of two runs.

    Nodes of one superstep run at once, so their events are compared as a bag, and outputs in order per node, where the
    run of the canvas has an order that is promised; a message of the framework's own error classes is not compared.
    """
    if (canvas.failed is None) != (code.failed is None):
        node, words = canvas.failed or code.failed or ("", "")
        side = "code" if canvas.failed is None else "canvas"
        return Difference(f"The run failed only in the {side}: {words}", node)
    for number in range(max(len(canvas.supersteps), len(code.supersteps))):
        one, other = _superstep(canvas, number), _superstep(code, number)
        found = next(iter((one - other) + (other - one)), None)
        if found is not None:
            kind, node = found
            here, there = one[found], other[found]
            words = f"In superstep {number} {node} {_WORDS[kind]} {here} times on the canvas and {there} in the code."
            return Difference(words, node)
    return _outputs_differ(canvas, code)


_WORDS = {
    "invoked": "was started",
    "completed": "was completed",
    "failed": "failed",
    "asked": "asked",
    "output": "gave an output",
}


def _superstep(outcome: Outcome, number: int) -> Counter[tuple[str, str]]:
    return Counter(outcome.supersteps[number]) if number < len(outcome.supersteps) else Counter()


def _outputs_differ(canvas: Outcome, code: Outcome) -> Difference | None:
    nodes = dict.fromkeys(node for node, _ in (*canvas.outputs, *code.outputs))
    for node in nodes:
        here = [value for n, value in canvas.outputs if n == node]
        there = [value for n, value in code.outputs if n == node]
        if here != there and _in_order(here, node, canvas) != _in_order(there, node, canvas):
            shown = (_short(here), _short(there))
            return Difference(f"{node} gave {shown[0]} on the canvas and {shown[1]} in the code.", node)
    return None


def _in_order(values: list[Any], node: str, canvas: Outcome) -> list[Any]:
    """The outputs of a node, sorted within each superstep where their order is not promised."""
    found: list[Any] = []
    for number, step in enumerate(canvas.supersteps):
        part = values[len(found) : len(found) + step.count(("output", node))]
        found += sorted(part, key=repr) if (number, node) in canvas.unordered else part
    return found + values[len(found) :]


def _short(values: list[Any]) -> str:
    text = ", ".join(repr(value) for value in values) or "nothing"
    return text if len(text) <= 120 else text[:117] + "…"
