"""A drawing as boxes and arrows, for the writers of diagram languages."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from studio.document.lines import LineKind, lines
from studio.document.model import FanOutEdge, JoinNode, SwitchEdge, Workflow

COLORS = {
    "agent": ("#E5E8FB", "#3F4AB5"),
    "function": ("#E3EAF1", "#3B5570"),
    "human_input": ("#F6E7DE", "#7C4524"),
    "sub_workflow": ("#DFEEEE", "#2A5F63"),
    "template": ("#EFE9DA", "#665321"),
    "other": ("#FFFFFF", "#848E9F"),
}
"""Fill and line of a kind of node, as on the light canvas."""


@dataclass(frozen=True, slots=True)
class Box:
    """``kind``: of the node, or ``switch``, ``fan_out``, ``join``. ``key``: a plain identifier, unique in a diagram."""

    id: str
    key: str
    kind: str
    label: str
    start: bool = False
    output: bool = False


@dataclass(frozen=True, slots=True)
class Arrow:
    """From box to box, by key."""

    source: str
    target: str
    kind: LineKind
    label: str = ""


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame or pattern around boxes (keys)."""

    key: str
    label: str
    members: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagram:
    """What all diagram languages can say."""

    name: str
    boxes: tuple[Box, ...]
    arrows: tuple[Arrow, ...]
    frames: tuple[Frame, ...]


def diagram(workflow: Workflow) -> Diagram:
    """The boxes in document order, numbered; arrows with a missing end are left out. A box is in one frame only."""
    boxes = tuple(_boxes(workflow))
    keys = {box.id: box.key for box in boxes}
    arrows = tuple(
        Arrow(keys[line.source], keys[line.target], line.kind, printable(line.label))
        for line in lines(workflow)
        if line.source in keys and line.target in keys
    )
    return Diagram(printable(workflow.name), boxes, arrows, tuple(_frames(workflow, keys)))


def _boxes(workflow: Workflow) -> Iterator[Box]:
    number = 0
    outputs = workflow.outputs if isinstance(workflow.outputs, tuple) else ()
    for node in workflow.nodes:
        number += 1
        kind = "join" if isinstance(node, JoinNode) else node.kind
        kind = kind if kind in (*COLORS, "join") else "other"
        label = printable(node.name) or node.id
        yield Box(node.id, f"n{number}", kind, label, node.id == workflow.start, node.id in outputs)
    for edge in workflow.edges:
        if isinstance(edge, SwitchEdge | FanOutEdge):
            number += 1
            yield Box(edge.id, f"n{number}", edge.kind, printable(edge.name))


def _frames(workflow: Workflow, keys: dict[str, str]) -> Iterator[Frame]:
    taken: set[str] = set()
    for number, group in enumerate(workflow.groups, 1):
        members = tuple(keys[m] for m in group.members if m in keys and m not in taken)
        taken.update(m for m in group.members if m in keys)
        if members:
            yield Frame(f"g{number}", printable(group.name), members)


def printable(text: str) -> str:
    """One line of text without control and direction marks, which no diagram language takes."""
    shown = "".join(" " if c.isspace() else c for c in text)
    return " ".join("".join(c for c in shown if unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Cn")).split())
