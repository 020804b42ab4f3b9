"""Room for the cards of this program in a drawing whose positions come from one with smaller or other cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from studio.document.geometry import CARD, GAP_X, GAP_Y, default_size, drawn, free_place, snapped
from studio.document.lines import lines
from studio.document.model import Place, Workflow

_MOST = 1_500
"""Items up to which every one is looked at for itself; more are scaled alone."""
_WIDEST, _NARROWEST = 2.5, 1.0
_TIGHT = 0.15
"""The share of neighbours that may stay nearer than wanted: single ones that are crammed do not spread the whole."""


def spaced(workflow: Workflow) -> Workflow:
    """The drawing pulled apart until its cards have room for lines between them; what the other program did not draw
    (switches, steps that were added: their places say ``auto``) stands behind what leads to it, on nothing else."""
    given = {n.id for n in workflow.nodes if n.id in workflow.places and not _is_added(workflow.places[n.id])}
    given |= {note.id for note in workflow.notes}
    wide, high = (
        _scale(_by_rows(workflow, given), CARD[0] + GAP_X),
        _scale(_by_columns(workflow, given), CARD[1] + GAP_Y),
    )
    places = {
        item: place.model_copy(update={"x": snapped(place.x * wide), "y": snapped(place.y * high)})
        for item, place in workflow.places.items()
        if item in given
    }
    if len(workflow.places) > _MOST:
        return workflow.model_copy(update={"places": {**workflow.places, **places}})
    settled = _apart(workflow, places)
    return workflow.model_copy(update={"places": {**workflow.places, **settled, **behind(workflow, settled)}})


def _is_added(place: Place) -> bool:
    return (place.model_extra or {}).get("placed") == "auto"


def _scale(distances: Iterable[float], wanted: float) -> float:
    """The factor that gives all but a few of the distances the wanted length."""
    found = sorted(distances)
    tight = found[int(len(found) * _TIGHT)] if found else wanted
    return min(_WIDEST, max(_NARROWEST, wanted / max(tight, 1.0)))


def _by_rows(workflow: Workflow, given: set[str]) -> Iterator[float]:
    """How far cards that stand beside each other are apart: their left edges."""
    cards = sorted((workflow.places[n.id].x, workflow.places[n.id].y) for n in workflow.nodes if n.id in given)
    for at, (x, y) in enumerate(cards):
        following = (other for other, top in cards[at + 1 : at + 60] if abs(top - y) < CARD[1] and other > x)
        yield from ([distance] if (distance := next(following, x) - x) else [])


def _by_columns(workflow: Workflow, given: set[str]) -> Iterator[float]:
    """How far cards above each other are apart: their upper edges."""
    cards = sorted(
        (round(workflow.places[n.id].x, -2), workflow.places[n.id].y) for n in workflow.nodes if n.id in given
    )
    yield from (b[1] - a[1] for a, b in pairwise(cards) if a[0] == b[0] and b[1] > a[1])


def _apart(workflow: Workflow, places: Mapping[str, Place]) -> dict[str, Place]:
    """The same places; one that covers another is further down."""
    every = drawn(workflow)
    known = sorted(places, key=lambda i: (places[i].y, places[i].x))
    now = workflow.model_copy(update={"places": {}})
    done: dict[str, Place] = {}
    for item in known:
        done[item] = free_place(now, default_size(every[item]), places[item])
        now = workflow.model_copy(update={"places": dict(done)})
    return done


def behind(workflow: Workflow, places: Mapping[str, Place]) -> dict[str, Place]:
    """Places for what has none among these: one after the other behind what leads to it, on nothing else."""
    every = drawn(workflow)
    done = {item: place for item, place in places.items() if item in every}
    now = workflow.model_copy(update={"places": dict(done)})
    before = _before(workflow)
    waiting = [item for item in every if item not in done]
    while waiting:
        ready = [item for item in waiting if before.get(item) and all(b in done for b in before[item])]
        begun = [item for item in waiting if any(b in done for b in before.get(item, ()))]
        for item in ready or begun[:1] or waiting[:1]:
            wanted = _wanted(workflow, item, [b for b in before.get(item, ()) if b in done], done)
            done[item] = free_place(now, default_size(every[item]), wanted)
            now = workflow.model_copy(update={"places": dict(done)})
        waiting = [item for item in waiting if item not in done]
    return {item: place for item, place in done.items() if item not in places}


def _before(workflow: Workflow) -> dict[str, list[str]]:
    """By item, what a line leads from."""
    found: dict[str, list[str]] = {}
    for line in lines(workflow):
        found.setdefault(line.target, []).append(line.source)
    return found


def _wanted(workflow: Workflow, item: str, before: list[str], done: Mapping[str, Place]) -> Place:
    if not before:
        return workflow.places.get(item, Place(x=0, y=0))
    every = drawn(workflow)
    last = max(before, key=lambda b: done[b].x)
    width, height = default_size(every[last])
    x = done[last].x + width + GAP_X / 2
    return Place(x=snapped(x), y=snapped(done[last].y + (height - default_size(every[item])[1]) / 2))
