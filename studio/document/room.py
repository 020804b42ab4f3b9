"""Room for something that was put between others: what comes after it moves aside."""

from __future__ import annotations

from studio.document.edits import Batch, Edit, SetPlaces
from studio.document.geometry import GRID, Box, drawn, sizes_of, snapped, stepped, turned
from studio.document.lines import lines
from studio.document.model import Place, Workflow

GAP = 48.0
"""Least distance between two things that an edge joins, in the direction that lines run."""
_STRIP = 128.0
"""Height of the strips in which what is met is looked for."""


def make_room(workflow: Workflow, item_id: str) -> Edit:
    """Moves an item to the right of what leads to it, and what it leads to, with all that follows, to its right.

    Only edges that run from left to right count; what would be covered moves too; frames of a fixed size grow
    with what moves in them. Where lines run down, it is from top to bottom and below.
    """
    sizes = sizes_of(workflow, (i for i in drawn(workflow) if i in workflow.places))
    down = workflow.flow == "down"
    boxes = {i: _along(workflow.places[i], *size, down=down) for i, size in sizes.items()}
    if item_id not in boxes:
        return SetPlaces({})
    ends = [(ln.source, ln.target) for ln in lines(workflow)]
    sources = [s for s, t in ends if t == item_id and s in boxes and s != item_id]
    targets = [t for s, t in ends if s == item_id and t in boxes and t != item_id]
    forward = [t for t in targets if not sources or _middle(boxes[t]) > min(_middle(boxes[s]) for s in sources)]
    shifts: dict[str, float] = {}
    left = [boxes[s][2] + GAP - boxes[item_id][0] for s in sources if _middle(boxes[s]) <= _middle(boxes[item_id])]
    shifts[item_id] = _up(max([0.0, *left]))
    right = boxes[item_id][2] + shifts[item_id]
    by = _up(max([0.0, *(right + GAP - boxes[t][0] for t in forward)]))
    if by:
        stay = {item_id, *sources}
        for other in _pushed(boxes, _following(ends, boxes, forward, stay), stay, by):
            shifts[other] = by
    places: dict[str, Place | None] = {i: stepped(workflow.places[i], by, down=down) for i, by in shifts.items() if by}
    places.update(_frames(workflow, shifts))
    return SetPlaces(places)


def _along(place: Place, width: float, height: float, *, down: bool) -> Box:
    """The box of an item; x and y are exchanged where lines run down."""
    first, last = (place.x, place.y), (place.x + width, place.y + height)
    return *turned(first, down=down), *turned(last, down=down)


def _middle(box: Box) -> float:
    return (box[0] + box[2]) / 2


def _up(distance: float) -> float:
    """To the grid, never less."""
    near = snapped(distance)
    return near if near >= distance else near + GRID


def with_room(workflow: Workflow, edit: Edit) -> Edit:
    """An edit, and room for what it puts between others."""
    grown = edit.apply(workflow).workflow
    had = drawn(workflow)
    rooms: list[Edit] = []
    for item_id in drawn(grown):
        if item_id not in had:
            rooms.append(make_room(grown, item_id))
            grown = rooms[-1].apply(grown).workflow
    return Batch((edit, *rooms)) if rooms else edit


def _following(ends: list[tuple[str, str]], boxes: dict[str, Box], first: list[str], stay: set[str]) -> list[str]:
    """What can be reached along edges that run from left to right."""
    after: dict[str, list[str]] = {}
    for source, target in ends:
        if source in boxes and target in boxes and boxes[target][0] >= boxes[source][0]:
            after.setdefault(source, []).append(target)
    seen = dict.fromkeys(i for i in first if i not in stay)
    waiting = list(seen)
    while waiting:
        for target in after.get(waiting.pop(), ()):
            if target not in seen and target not in stay:
                seen[target] = None
                waiting.append(target)
    return list(seen)


def _pushed(boxes: dict[str, Box], moving: list[str], stay: set[str], by: float) -> list[str]:
    """What moves that far, and what it would meet on its way: that moves too, and what this would meet."""
    strips: dict[int, list[str]] = {}
    for item_id, (_, top, _, bottom) in boxes.items():
        for strip in range(int(top // _STRIP), int(bottom // _STRIP) + 1):
            strips.setdefault(strip, []).append(item_id)
    seen = dict.fromkeys(moving)
    waiting = list(seen)
    while waiting:
        _, top, right, bottom = boxes[waiting.pop()]
        for strip in range(int(top // _STRIP), int(bottom // _STRIP) + 1):
            for other in strips[strip]:
                x, y, _, end = boxes[other]
                if (
                    right <= x < right + by + GRID
                    and y < bottom
                    and end > top
                    and other not in seen
                    and other not in stay
                ):
                    seen[other] = None
                    waiting.append(other)
    return list(seen)


def _frames(workflow: Workflow, shifts: dict[str, float]) -> dict[str, Place]:
    found: dict[str, Place] = {}
    down = workflow.flow == "down"
    for group in workflow.groups:
        place = workflow.places.get(group.id)
        by = [shifts.get(m, 0.0) for m in group.members]
        if place is None or place.width is None or not any(by):
            continue
        if min(by) > 0:
            found[group.id] = stepped(place, min(by), down=down)
        elif down:
            found[group.id] = place.model_copy(update={"height": (place.height or 0.0) + max(by)})
        else:
            found[group.id] = place.model_copy(update={"width": place.width + max(by)})
    return found
