"""Lining up and spreading out what is drawn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from studio.document.edits import Edit, SetPlaces
from studio.document.geometry import moved, sizes_of
from studio.document.model import Place, Workflow

Side = Literal["left", "right", "up", "down", "across", "along"]
"""Edges to line up; ``across`` puts middles above each other, ``along`` beside each other."""
Axis = Literal["x", "y"]


def align(workflow: Workflow, ids: Iterable[str], side: Side) -> Edit:
    """Moves the placed ones of these items so that their edges or middles are in line.

    Edges: with the outermost one. Middles: with the middle of all.
    """
    sizes = sizes_of(workflow, (i for i in ids if i in workflow.places))
    if len(sizes) < 2:
        return SetPlaces({})
    axis: Axis = "x" if side in ("left", "right", "across") else "y"
    spans = {i: _span(workflow.places[i], size, axis) for i, size in sizes.items()}
    low, high = min(a for a, _ in spans.values()), max(b for _, b in spans.values())
    shifts: dict[str, float] = {}
    for item_id, (a, b) in spans.items():
        if side in ("left", "up"):
            shifts[item_id] = low - a
        elif side in ("right", "down"):
            shifts[item_id] = high - b
        else:
            shifts[item_id] = (low + high - a - b) / 2
    return _shifted(workflow, shifts, axis)


def distribute(workflow: Workflow, ids: Iterable[str], axis: Axis) -> Edit:
    """Equal gaps between the placed ones of these items along an axis; the outermost two stay."""
    sizes = sizes_of(workflow, (i for i in ids if i in workflow.places))
    spans = {i: _span(workflow.places[i], size, axis) for i, size in sizes.items()}
    order: Sequence[str] = sorted(spans, key=lambda i: (spans[i][0] + spans[i][1], i))
    if len(order) < 3:
        return SetPlaces({})
    first, last = spans[order[0]], spans[order[-1]]
    inner = order[1:-1]
    room = last[0] - first[1] - sum(spans[i][1] - spans[i][0] for i in inner)
    gap = room / (len(inner) + 1)
    shifts: dict[str, float] = {}
    at = first[1] + gap
    for item_id in inner:
        shifts[item_id] = at - spans[item_id][0]
        at += spans[item_id][1] - spans[item_id][0] + gap
    return _shifted(workflow, shifts, axis)


def _span(place: Place, size: tuple[float, float], axis: Axis) -> tuple[float, float]:
    return (place.x, place.x + size[0]) if axis == "x" else (place.y, place.y + size[1])


def _shifted(workflow: Workflow, shifts: dict[str, float], axis: Axis) -> Edit:
    places = workflow.places
    return SetPlaces(
        {
            i: moved(places[i], by if axis == "x" else 0.0, by if axis == "y" else 0.0)
            for i, by in shifts.items()
            if abs(by) > 1e-9
        }
    )
