"""The same drawing with lines that run the other way: what followed to the right follows below, or the reverse."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TypeVar

from studio.document.geometry import GAP_Y, Box, bounds, boxes, drawn, frames_around, sizes_of, snapped, turned
from studio.document.layout import Flow, in_layers, spanning
from studio.document.model import Note, Place, Workflow

AnyWorkflow = TypeVar("AnyWorkflow", bound=Workflow)


def turned_to(workflow: AnyWorkflow, flow: Flow) -> AnyWorkflow:
    """The drawing with lines that run this way, in the order in which things stand now, around the corner where it
    began; it may be drawn that way already. Nothing is put in another order, bends are left out."""
    if flow == workflow.flow:
        return workflow
    other = workflow.model_copy(update={"flow": flow})
    items = [i for i, item in drawn(workflow).items() if i in workflow.places and not isinstance(item, Note)]
    if not items:
        return other
    left, top, _, _ = bounds(workflow, items) or (0.0, 0.0, 0.0, 0.0)
    layers, down = _layers(workflow, items), flow == "down"
    found = spanning(other, layers, in_layers(other, layers, left, top, down=down), down=down)
    others = {n.id for n in workflow.notes} | {g.id for g in workflow.groups}
    kept = {i: place for i, place in workflow.places.items() if i in others}
    other = other.model_copy(update={"places": {**kept, **found}})
    other = other.model_copy(update={"places": {**other.places, **notes_beside(workflow, other)}})
    return other.model_copy(update={"places": {**other.places, **frames_around(other, found)}})


def _layers(workflow: Workflow, items: Iterable[str]) -> list[list[str]]:
    """What stands beside each other across the way that lines run, in order along that way and across it."""
    spots = _spots(workflow, items)
    layers: list[list[str]] = []
    limit = 0.0
    for item in sorted(spots, key=lambda i: (_middle(spots[i]), spots[i][1])):
        if not layers or _middle(spots[item]) > limit:
            layers.append([])
            limit = spots[item][2]
        layers[-1].append(item)
    return [sorted(layer, key=lambda i: spots[i][1] + spots[i][3]) for layer in layers]


def notes_beside(before: Workflow, after: Workflow) -> dict[str, Place]:
    """Places of the notes of a drawing that was turned: beside everything, at what they stood nearest to, on the side
    on which they stood."""
    items = [i for i, item in drawn(before).items() if not isinstance(item, Note)]
    old, new = _spots(before, items), _spots(after, items)
    if not old:
        return {}
    middle = (min(s[1] for s in old.values()) + max(s[3] for s in old.values())) / 2
    first, last = min(s[1] for s in new.values()) - GAP_Y, max(s[3] for s in new.values()) + GAP_Y
    down = after.flow == "down"
    sizes = sizes_of(before, (n.id for n in before.notes))
    free = {False: -math.inf, True: -math.inf}
    found: dict[str, Place] = {}
    spots = _spots(before, sizes)
    for note in sorted(spots, key=lambda i: spots[i]):
        spot = spots[note]
        near = min(old, key=lambda i: abs(_middle(old[i]) - _middle(spot)))
        behind = spot[1] + spot[3] > 2 * middle
        depth, breadth = turned(sizes[note], down=down)
        along = max(new[near][0], free[behind])
        free[behind] = along + depth + GAP_Y
        x, y = turned((along, snapped(last if behind else first - breadth)), down=down)
        found[note] = before.places[note].model_copy(update={"x": x, "y": y})
    return found


def _spots(workflow: Workflow, items: Iterable[str]) -> dict[str, Box]:
    """Where things stand along and across the way that lines run: start, first, end, last."""
    down = workflow.flow == "down"
    placed = sizes_of(workflow, (i for i in items if i in workflow.places))
    around = zip(placed, boxes(workflow, placed), strict=True)
    return {i: (*turned(box[:2], down=down), *turned(box[2:], down=down)) for i, box in around}


def _middle(spot: Box) -> float:
    return (spot[0] + spot[2]) / 2
