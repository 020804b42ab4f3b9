"""A drawing as a Mermaid flowchart."""

from __future__ import annotations

from collections.abc import Iterator

from studio.document.model import Workflow
from studio.export.diagram import COLORS, Arrow, Box, Diagram, diagram

_SHAPES = {
    "agent": "({})",
    "function": "[{}]",
    "human_input": "[/{}/]",
    "sub_workflow": "[[{}]]",
    "template": "[\\{}\\]",
    "join": "[{}]",
    "fan_out": "[{}]",
    "switch": "{{{}}}",
}
_ARROWS = {"default": "-.->", "handoff": "-.->", "fan_in": "==>", "into_fan_out": "==>"}
_PLAIN = frozenset(" .,:-_/+=!?")


def mermaid(workflow: Workflow) -> str:
    """The text of a ``flowchart``, from left to right or from top to bottom as the drawing is, with colours of the
    kinds. Any name is safe: see :func:`quoted`."""
    return "\n".join(_lines(diagram(workflow), "TB" if workflow.flow == "down" else "LR")) + "\n"


def _lines(drawing: Diagram, direction: str) -> Iterator[str]:
    yield "---"
    yield f"title: {yaml_text(drawing.name)}"
    yield "---"
    yield f"flowchart {direction}"
    inside = {key for frame in drawing.frames for key in frame.members}
    by_key = {box.key: box for box in drawing.boxes}
    for frame in drawing.frames:
        yield f"    subgraph {frame.key}[{quoted(frame.label)}]"
        yield from (f"        {_box(by_key[key])}" for key in frame.members)
        yield "    end"
    yield from (f"    {_box(box)}" for box in drawing.boxes if box.key not in inside)
    yield from (f"    {_arrow(arrow)}" for arrow in drawing.arrows)
    yield from _styles(drawing)


def _box(box: Box) -> str:
    return box.key + _SHAPES.get(box.kind, "[{}]").format(quoted(box.label))


def _arrow(arrow: Arrow) -> str:
    label = f"|{quoted(arrow.label)}|" if arrow.label else ""
    return f"{arrow.source} {_ARROWS.get(arrow.kind, '-->')}{label} {arrow.target}"


def _styles(drawing: Diagram) -> Iterator[str]:
    used = {box.kind if box.kind in COLORS else "other" for box in drawing.boxes}
    for kind, (fill, line) in COLORS.items():
        if kind in used:
            keys = ",".join(b.key for b in drawing.boxes if (b.kind if b.kind in COLORS else "other") == kind)
            yield f"    classDef {kind} fill:{fill},stroke:{line},color:#1A1E27"
            yield f"    class {keys} {kind}"
    marked = ",".join(box.key for box in drawing.boxes if box.start or box.output)
    if marked:
        yield "    classDef ends stroke-width:3px"
        yield f"    class {marked} ends"


def quoted(text: str) -> str:
    """A label in quotes, never empty; what the language could read as its own is written as a character number."""
    shown = "".join(c if c.isalnum() or c in _PLAIN or ord(c) > 127 else f"#{ord(c)};" for c in text)
    return f'"{shown or " "}"'


def yaml_text(text: str) -> str:
    """A text for the title, in the quotes that YAML takes literally."""
    return "'" + text.replace("'", "''") + "'"
