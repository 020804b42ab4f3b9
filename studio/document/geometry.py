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
_APART = 16.0
"""What has to give way stays so far from what is there."""


def turned(pair: tuple[float, float], *, down: bool) -> tuple[float, float]:
    """x and y (or width and height) as along and across the way that lines run; and back."""
    return (pair[1], pair[0]) if down else pair


def default_size(item: object, *, down: bool = False) -> tuple[float, float]:
    """Width and height of a node, switch, fan-out or note that has none of its own; bars stand across the way that
    lines run."""
    match item:
        case JoinNode():
            return turned(JOIN, down=down)
        case SwitchEdge():
            return SWITCH
        case FanOutEdge():
            return turned(FAN_OUT, down=down)
        case Note():
            return NOTE
    return CARD


def size_of_kind(kind: str, *, down: bool = False) -> tuple[float, float]:
    """The same of something new of a kind."""
    bar = {"join": JOIN, "fan_out": FAN_OUT}.get(kind)
    if bar is not None:
        return turned(bar, down=down)
    return {"switch": SWITCH, "note": NOTE}.get(kind, CARD)


def behind(box: Box, size: tuple[float, float], *, down: bool, gap: float = GAP_X, before: bool = False) -> Place:
    """The place of something of this size behind (or before) a box where lines run, its ports in line with those of
    the box: what is no card leaves the grid rather than the line."""
    left, start = turned(box[:2], down=down)
    right, end = turned(box[2:], down=down)
    depth, breadth = turned(size, down=down)
    along = snapped(left - gap - depth) if before else snapped(right + gap)
    x, y = turned((along, (start + end - breadth) / 2), down=down)
    return Place(x=x, y=y)


def at_port(point: tuple[float, float], size: tuple[float, float], *, down: bool, out: bool = False) -> Place:
    """The place of something of this size whose port for incoming (``out``: outgoing) lines is at a point; on the grid
    as far as it keeps its ports there."""
    along, across = turned(point, down=down)
    depth, breadth = turned(size, down=down)
    x, y = turned((snapped(along - (depth if out else 0.0)), snapped(across - breadth / 2)), down=down)
    return Place(x=x, y=y)


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
        width, height = default_size(item, down=down)
        place = workflow.places.get(item_id)
        if isinstance(item, JoinNode | FanOutEdge):
            # The length of a bar is kept as its height, however lines run.
            thickness, length = turned((width, height), down=down)
            kept = place.height if place is not None else None
            found[item_id] = turned((thickness, kept or length), down=down)
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


def frame_around(workflow: Workflow, members: Iterable[str]) -> Place | None:
    """The place of a frame around the placed ones of these; None if none has a place."""
    box = bounds(workflow, members)
    if box is None:
        return None
    x, y = box[0] - 24, box[1] - 40
    return Place(x=x, y=y, width=box[2] + 24 - x, height=box[3] + 24 - y)


def frames_around(workflow: Workflow, changed: Iterable[str]) -> dict[str, Place]:
    """Frames of a size of their own, around their members again of which some have other places."""
    gone = frozenset(changed)
    sized = [g for g in workflow.groups if (p := workflow.places.get(g.id)) is not None and p.width is not None]
    found = {g.id: frame_around(workflow, g.members) for g in sized if gone & set(g.members)}
    around = {i: {"x": p.x, "y": p.y, "width": p.width, "height": p.height} for i, p in found.items() if p is not None}
    return {i: workflow.places[i].model_copy(update=values) for i, values in around.items()}


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
    """A place that covers nothing (with ``frames``: no frame either): the wanted one, else behind everything. What
    would cover something gives way across the way that lines run: down, or to the right where they run down."""
    down = workflow.flow == "down"
    place = wanted or _behind_everything(workflow)
    taken = [box for box in _beside(workflow, place, size, frames=frames) if _ahead(place, box, down=down)]
    apart = 0.0
    while any(covers(place, size, box, apart) for box in taken):
        place, apart = stepped(place, across=GAP_Y, down=down), _APART
    return place


def _beside(workflow: Workflow, place: Place, size: tuple[float, float], *, frames: bool) -> list[Box]:
    """The boxes that something can meet on its way across: there may be thousands elsewhere."""
    down = workflow.flow == "down"
    (near, _), (depth, _) = turned((place.x, place.y), down=down), turned(size, down=down)
    beside = []
    for item_id, other in workflow.places.items():
        along, reach = (other.y, other.height) if down else (other.x, other.width)
        if along < near + depth + _APART and along + max(reach or 0.0, _WIDEST) > near - _APART:
            beside.append(item_id)
    every = drawn(workflow)
    taken = boxes(workflow, (i for i in beside if i in every))
    sized = (p for g in workflow.groups if frames and (p := workflow.places.get(g.id)) is not None)
    return taken + [(p.x, p.y, p.x + p.width, p.y + p.height) for p in sized if p.width and p.height]


def _ahead(place: Place, box: Box, *, down: bool) -> bool:
    """Whether a box ends behind where something begins, across the way that lines run: it never gives way back."""
    return (box[2] > place.x - _APART) if down else (box[3] > place.y - _APART)


def stepped(place: Place, along: float = 0.0, across: float = 0.0, *, down: bool) -> Place:
    """The same place, moved along and across the way that lines run."""
    return moved(place, *turned((along, across), down=down))


def _behind_everything(workflow: Workflow) -> Place:
    box = bounds(workflow, (n.id for n in workflow.nodes))
    if box is None:
        return Place(x=0, y=0)
    down = workflow.flow == "down"
    (_, start), (end, _) = turned(box[:2], down=down), turned(box[2:], down=down)
    x, y = turned((snapped(end + GAP_X), snapped(start)), down=down)
    return Place(x=x, y=y)


def covers(place: Place, size: tuple[float, float], box: Box, apart: float = 0.0) -> bool:
    """Whether something of this size at a place lies on a box, or nearer to it than ``apart``."""
    x, y = place.x, place.y
    level = x + size[0] + apart <= box[0] or x >= box[2] + apart
    return not (level or y + size[1] + apart <= box[1] or y >= box[3] + apart)
