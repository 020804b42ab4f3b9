"""Bends: points that a line goes through, kept in the geometry under the id of the line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from studio.document.edits import Applied, Batch, Edit, SetPlaces
from studio.document.lines import lines
from studio.document.model import Place, Workflow

Point = tuple[float, float]


def bends_of(workflow: Workflow, line_id: str) -> tuple[Point, ...]:
    """The bends of a line, from its source to its target."""
    place = workflow.places.get(line_id)
    return place.bends if place is not None else ()


def set_bends(line_id: str, points: Iterable[Point]) -> Edit:
    """Leads a line through these points; none: it finds its own way again."""
    kept = tuple((float(x), float(y)) for x, y in points)
    return SetPlaces({line_id: Place(x=kept[0][0], y=kept[0][1], bends=kept) if kept else None})


def moved_bends(workflow: Workflow, ids: Iterable[str], dx: float, dy: float) -> dict[str, Place | None]:
    """The bends of lines between moved items, moved along."""
    inside = frozenset(ids)
    if not has_bends(workflow):
        return {}
    return {
        ln.id: Place(x=place.x + dx, y=place.y + dy, bends=tuple((x + dx, y + dy) for x, y in place.bends))
        for ln in lines(workflow)
        if ln.source in inside and ln.target in inside and (place := workflow.places.get(ln.id)) and place.bends
    }


def straightened(workflow: Workflow, ids: Iterable[str]) -> dict[str, Place | None]:
    """Takes the bends of lines at these items away: the items are somewhere else now."""
    moved = frozenset(ids)
    if not has_bends(workflow):
        return {}
    ends = (ln for ln in lines(workflow) if ln.source in moved or ln.target in moved)
    return {ln.id: None for ln in ends if bends_of(workflow, ln.id)}


def has_bends(workflow: Workflow) -> bool:
    """Whether any line has bends; kept for the places that were asked about last."""
    global _asked
    places, found = _asked
    if places is not workflow.places:
        found = any(place.bends for place in workflow.places.values())
        _asked = (workflow.places, found)
    return found


_asked: tuple[Mapping[str, Place], bool] = ({}, False)


def apply_tidily(edit: Edit, workflow: Workflow) -> Applied:
    """Applies an edit, and takes the bends of lines away that are no longer there or lead elsewhere."""
    done = edit.apply(workflow)
    if done.changes.everything or not has_bends(done.workflow):
        return done
    before = {ln.id: (ln.source, ln.target) for ln in lines(workflow)}
    after = {ln.id: (ln.source, ln.target) for ln in lines(done.workflow)}
    stale: Mapping[str, Place | None] = {
        i: None
        for i, place in done.workflow.places.items()
        if place.bends and i not in done.changes.placed and before.get(i) != after.get(i)
    }
    stale = {**stale, **{i: None for i, p in done.workflow.places.items() if p.bends and i not in after}}
    if not stale:
        return done
    tidied = SetPlaces(stale).apply(done.workflow)
    return Applied(tidied.workflow, Batch((tidied.inverse, done.inverse)), done.changes | tidied.changes)
