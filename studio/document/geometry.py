"""Sizes and places of what is drawn, in scene units: what the canvas, arrange and the commands agree on."""

from __future__ import annotations

from collections.abc import Iterable

from studio.document.frozen import with_values
from studio.document.model import FanOutEdge, JoinNode, Note, Place, SwitchEdge, Workflow

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

GRID = 8.0
GAP_X = 72.0
GAP_Y = 40.0
CARD = (200.0, 64.0)
JOIN = (8.0, 188.0)
FAN_OUT = (8.0, 64.0)
SWITCH = (40.0, 40.0)
NOTE = (240.0, 160.0)
_WIDEST = 240.0
"""Of what has no width of its own."""
PORT_Y = 32.0
"""The middle of a card's ports below its top edge."""


def default_size(item: object) -> tuple[float, float]:
    """Width and height of a node, switch, fan-out or note that has none of its own."""
    match item:
        case JoinNode():
            return JOIN
        case SwitchEdge():
            return SWITCH
        case FanOutEdge():
            return FAN_OUT
        case Note():
            return NOTE
    return CARD


def bar_size(size: tuple[float, float], *, down: bool) -> tuple[float, float]:
    """Thickness and length of a bar as width and height: it stands across the way that lines run."""
    return (size[1], size[0]) if down else size


def drawn(workflow: Workflow) -> dict[str, object]:
    """Everything with a place of its own except groups: nodes, switches, fan-outs, notes, by id."""
    junctions = (e for e in workflow.edges if isinstance(e, SwitchEdge | FanOutEdge))
    return {item.id: item for item in (*workflow.nodes, *junctions, *workflow.notes)}


def size_of(workflow: Workflow, item_id: str) -> tuple[float, float]:
    """Width and height of an item as drawn."""
    return sizes_of(workflow, (item_id,))[item_id]


def sizes_of(workflow: Workflow, ids: Iterable[str]) -> dict[str, tuple[float, float]]:
    """Width and height of several items as drawn, by id."""
    items = drawn(workflow)
    found: dict[str, tuple[float, float]] = {}
    down = workflow.flow == "down"
    for item_id in ids:
        item = items.get(item_id)
        width, height = default_size(item)
        place = workflow.places.get(item_id)
        if isinstance(item, JoinNode | FanOutEdge):
            found[item_id] = bar_size((width, place.height if place and place.height else height), down=down)
            continue
        found[item_id] = (width, height) if place is None else (place.width or width, place.height or height)
    return found


def snapped(value: float) -> float:
    """To the grid."""
    return round(value / GRID) * GRID


def moved(place: Place, dx: float, dy: float) -> Place:
    """The same place, shifted; size and unknown fields are kept."""
    values: dict[str, object] = {"x": place.x + dx, "y": place.y + dy}
    if place.bends:
        values["bends"] = tuple((x + dx, y + dy) for x, y in place.bends)
    return with_values(place, values)


def boxes(workflow: Workflow, ids: Iterable[str]) -> list[Box]:
    """The rectangles of the placed ones of these items."""
    sizes = sizes_of(workflow, (i for i in ids if i in workflow.places))
    places = workflow.places
    return [(places[i].x, places[i].y, places[i].x + w, places[i].y + h) for i, (w, h) in sizes.items()]


def bounds(workflow: Workflow, ids: Iterable[str]) -> Box | None:
    """The rectangle around the placed ones of these items; None if none has a place."""
    found = boxes(workflow, ids)
    if not found:
        return None
    left, top, right, bottom = zip(*found, strict=True)
    return min(left), min(top), max(right), max(bottom)


def between(workflow: Workflow, first: str, second: str, size: tuple[float, float]) -> Place | None:
    """The place of something of this size in the middle of two placed items; None if one has no place."""
    box = bounds(workflow, (first,)), bounds(workflow, (second,))
    if box[0] is None or box[1] is None:
        return None
    x = (box[0][0] + box[0][2] + box[1][0] + box[1][2]) / 4 - size[0] / 2
    y = (box[0][1] + box[0][3] + box[1][1] + box[1][3]) / 4 - size[1] / 2
    return Place(x=snapped(x), y=snapped(y))


def free_place(
    workflow: Workflow, size: tuple[float, float] = CARD, wanted: Place | None = None, *, frames: bool = False
) -> Place:
    """A place that covers nothing (with ``frames``: no frame either): the wanted one, else right of everything; shifted
    down until it is free."""
    place = wanted or _right_of_everything(workflow)
    # It only ever goes down: what is beside its column does not matter, and there may be thousands.
    left, right = place.x - _WIDEST, place.x + size[0]
    beside = (i for i, p in workflow.places.items() if p.x < right and p.x + (p.width or 0.0) > left)
    every = drawn(workflow)
    taken = boxes(workflow, (i for i in beside if i in every))
    sized = (p for g in workflow.groups if frames and (p := workflow.places.get(g.id)) is not None)
    taken += [(p.x, p.y, p.x + p.width, p.y + p.height) for p in sized if p.width and p.height]
    while any(_covers(place, size, box) for box in taken):
        place = moved(place, 0, GAP_Y)
    return place


def _right_of_everything(workflow: Workflow) -> Place:
    box = bounds(workflow, (n.id for n in workflow.nodes))
    return Place(x=0, y=0) if box is None else Place(x=snapped(box[2] + GAP_X), y=snapped(box[1]))


def _covers(place: Place, size: tuple[float, float], box: Box) -> bool:
    apart = place.x + size[0] <= box[0] or place.x >= box[2] or place.y + size[1] <= box[1] or place.y >= box[3]
    return not apart
