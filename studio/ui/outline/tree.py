"""The rows of the outline: everything that is drawn, in run order, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from studio.document.lines import Line, default_id, lines, name_of
from studio.document.model import FanInEdge, FanOutEdge, JoinNode, SwitchEdge, UnknownEdge, Workflow
from studio.document.order import run_order
from studio.ui.text import tr
from studio.ui.widgets.sources import counted


@dataclass(slots=True)
class Row:
    """``id`` is that of an item or line; ``detail`` stands muted behind the name; ``mark`` in front ("1", "–")."""

    id: str
    kind: str
    name: str
    detail: str = ""
    mark: str = ""
    start: bool = False
    output: bool = False
    ends: tuple[int, int] | None = None
    """How many lines come in and go out; None: it is none that lines join."""
    rows: list[Row] = field(default_factory=list)


def outline(workflow: Workflow) -> list[Row]:
    """Nodes and junctions in run order; what a fan-out starts is under it, cases are under their switch, other
    lines under their source; then notes."""
    order = run_order(workflow)
    at = {item_id: number for number, item_id in enumerate(order)}
    bars = {e.target: e for e in reversed(workflow.edges) if isinstance(e, FanInEdge)}
    drawn = list(lines(workflow))
    by_id = {line.id: line for line in drawn}
    nested: dict[str, str] = {}
    made: dict[str, Row] = {item_id: _row(workflow, item_id, bars) for item_id in order}
    incoming, outgoing = Counter(line.target for line in drawn), Counter(line.source for line in drawn)
    for item_id, row in made.items():
        row.ends = incoming[item_id], outgoing[item_id]
    for edge in workflow.edges:
        if isinstance(edge, FanOutEdge):
            for target in edge.targets:
                # A node that runs before the bar is the target of a loop, and stays where it is.
                if target in made and target not in nested and at[target] > at[edge.id]:
                    nested[target] = edge.id
        elif isinstance(edge, SwitchEdge):
            made[edge.id].rows += _cases(workflow, edge, by_id)
    for line in drawn:
        if line.kind == "direct" and line.condition is not None and line.source in made:
            label = tr("{label} → {target}").format(label=line.label, target=name_of(workflow, line.target))
            made[line.source].rows.append(Row(line.id, "direct", label))
    rows: list[Row] = []
    for item_id in order:
        parent = nested.get(item_id)
        (made[parent].rows if parent else rows).append(made[item_id])
    rows += [Row(note.id, "note", _first_words(note.text)) for note in workflow.notes]
    return rows


def _row(workflow: Workflow, item_id: str, bars: Mapping[str, FanInEdge]) -> Row:
    node = workflow.node(item_id)
    if node is None:
        edge = workflow.edge(item_id)
        if edge is None or isinstance(edge, UnknownEdge):
            raise KeyError(item_id)
        return Row(item_id, edge.kind, name_of(workflow, item_id), _junction_detail(edge))
    detail = ""
    if isinstance(node, JoinNode):
        fan_in = bars.get(node.id)
        detail = tr("all {n}").format(n=len(fan_in.sources)) if fan_in else tr("nothing to join yet")
    output = isinstance(workflow.outputs, tuple) and node.id in workflow.outputs
    return Row(node.id, node.kind, node.name or node.id, detail, start=workflow.start == node.id, output=output)


def _junction_detail(edge: object) -> str:
    match edge:
        case FanOutEdge():
            return tr("chooses") if edge.selection else tr("in parallel")
        case SwitchEdge():
            count = len(edge.cases) + (edge.default is not None)
            return counted(count, tr("1 case"), tr("{count} cases"))
    return ""


def _cases(workflow: Workflow, switch: SwitchEdge, found: Mapping[str, Line]) -> list[Row]:
    rows = []
    for number, case in enumerate(switch.cases, 1):
        name = tr("{label} → {target}").format(label=found[case.id].label, target=name_of(workflow, case.target))
        rows.append(Row(case.id, "case", name, mark=str(number)))
    if switch.default is not None:
        name = tr("default → {target}").format(target=name_of(workflow, switch.default))
        rows.append(Row(default_id(switch.id), "case", name, mark="–"))
    return rows


def _first_words(text: str) -> str:
    line = next((part for part in text.splitlines() if part.strip()), tr("Empty note"))
    return line.strip("#* ")[:60]
