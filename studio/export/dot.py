"""A drawing in the DOT language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studio.document.geometry import sizes_of
from studio.document.model import Workflow
from studio.export.diagram import COLORS, Arrow, Box, Diagram, diagram

_POINTS = 0.75
"""Points per scene unit."""

_SHAPES: Mapping[str, str] = {
    "agent": 'shape=box style="rounded,filled"',
    "function": "shape=box style=filled",
    "human_input": "shape=parallelogram style=filled",
    "sub_workflow": "shape=component style=filled",
    "template": "shape=note style=filled",
    "join": "shape=box style=filled",
    "fan_out": "shape=box style=filled",
    "switch": "shape=diamond style=filled",
}
_ARROWS: Mapping[str, str] = {
    "default": " style=dashed",
    "handoff": " style=dashed",
    "fan_in": " penwidth=2",
    "into_fan_out": " penwidth=2",
}


def dot(workflow: Workflow) -> str:
    """A ``digraph`` laid out as the lines of the drawing run. Places are kept as ``pos``, which ``neato -n`` takes as
    they are."""
    drawing = diagram(workflow)
    return "\n".join(_lines(workflow, drawing)) + "\n"


def _lines(workflow: Workflow, drawing: Diagram) -> Iterator[str]:
    yield f"digraph {quoted(drawing.name)} {{"
    yield f"    rankdir={'TB' if workflow.flow == 'down' else 'LR'}"
    yield '    node [fontname="Inter, Helvetica, Arial, sans-serif" fontsize=11 fontcolor="#1A1E27"]'
    yield '    edge [fontname="Inter, Helvetica, Arial, sans-serif" fontsize=10 color="#848E9F" fontcolor="#434B5A"]'
    sizes = sizes_of(workflow, (box.id for box in drawing.boxes))
    for box in drawing.boxes:
        yield f"    {_box(workflow, box, sizes[box.id])}"
    for number, frame in enumerate(drawing.frames, 1):
        members = " ".join(f"{key};" for key in frame.members)
        yield f"    subgraph cluster_{number} {{ label={quoted(frame.label)} {members} }}"
    yield from (f"    {_arrow(arrow)}" for arrow in drawing.arrows)
    yield "}"


def _box(workflow: Workflow, box: Box, size: tuple[float, float]) -> str:
    fill, line = COLORS.get(box.kind, COLORS["other"])
    place = workflow.places.get(box.id)
    middle = (place.x + size[0] / 2, place.y + size[1] / 2) if place is not None else None
    pos = f' pos="{middle[0] * _POINTS:g},{-middle[1] * _POINTS:g}!"' if middle is not None else ""
    width = " penwidth=2.5" if box.start or box.output else ""
    look = _SHAPES.get(box.kind, "shape=box style=filled")
    return f'{box.key} [label={quoted(box.label)} {look} fillcolor="{fill}" color="{line}"{width}{pos}]'


def _arrow(arrow: Arrow) -> str:
    label = f" label={quoted(arrow.label)}" if arrow.label else ""
    return f"{arrow.source} -> {arrow.target} [arrowsize=0.7{label}{_ARROWS.get(arrow.kind, '')}]"


def quoted(text: str) -> str:
    """A quoted text; a backslash stands for itself, not for an escape of the language."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
