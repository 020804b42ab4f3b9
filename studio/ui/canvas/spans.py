"""Where things are, found by place: which of thousands are in a few boxes is asked many times a second during a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

from PySide6.QtCore import QRectF

from studio.ui.canvas.routing import CLEARANCE

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

CELL = 320.0
LONG = 32
"""What is over more cells than this is asked about each time; little is."""


_NONE: frozenset[str] = frozenset()


class Spans:
    """The boxes around lines or other things, by id. What moved is told with :meth:`spoil`, and put in by
    :meth:`refresh`, at the latest when somebody asks."""

    def __init__(self, span_of: Callable[[str], Box | None]) -> None:
        self._span_of = span_of
        self._cells: dict[tuple[int, int], set[str]] = {}
        self._over: dict[str, tuple[tuple[int, int], ...]] = {}
        """The cells of each; none: it is long."""
        self._boxes: dict[str, Box] = {}
        self._long: set[str] = set()
        self._stale: set[str] = set()

    def clear(self) -> None:
        """Forgets everything."""
        for table in (self._cells, self._over, self._boxes, self._long, self._stale):
            table.clear()

    def spoil(self, ids: Iterable[str]) -> None:
        """These are elsewhere now, new, or gone."""
        self._stale.update(ids)

    @property
    def behind(self) -> int:
        """How many have to be put in."""
        return len(self._stale)

    def refresh(self, most: int) -> None:
        """Puts in up to so many of those that moved."""
        for item_id in [self._stale.pop() for _ in range(min(most, len(self._stale)))]:
            self._put(item_id, self._span_of(item_id))

    def crossing(self, boxes: Sequence[Box]) -> set[str]:
        """Those whose boxes touch one of these."""
        self.refresh(len(self._stale))
        found: set[str] = set()
        for left, top, right, bottom in boxes:
            near = set(self._long)
            for cell in _cells((left, top, right, bottom)):
                near |= self._cells.get(cell, _NONE)
            for item_id in near - found:
                box = self._boxes[item_id]
                if box[0] <= right and box[2] >= left and box[1] <= bottom and box[3] >= top:
                    found.add(item_id)
        return found

    def _put(self, item_id: str, span: Box | None) -> None:
        self._long.discard(item_id)
        for cell in self._over.pop(item_id, ()):
            self._cells[cell].discard(item_id)
        if span is None:
            self._boxes.pop(item_id, None)
            return
        self._boxes[item_id] = span
        across = (math.floor(span[2] / CELL) - math.floor(span[0] / CELL) + 1) * (
            math.floor(span[3] / CELL) - math.floor(span[1] / CELL) + 1
        )
        if across > LONG:
            self._long.add(item_id)
            return
        self._over[item_id] = cells = tuple(_cells(span))
        for cell in cells:
            self._cells.setdefault(cell, set()).add(item_id)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(math.floor(box[0] / CELL), math.floor(box[2] / CELL) + 1):
        for row in range(math.floor(box[1] / CELL), math.floor(box[3] / CELL) + 1):
            yield column, row


def with_room(rect: QRectF) -> Box:
    """A rectangle with the room that lines keep from it."""
    return (rect.left() - CLEARANCE, rect.top() - CLEARANCE, rect.right() + CLEARANCE, rect.bottom() + CLEARANCE)


def strip(before: QRectF, now: QRectF) -> QRectF | None:
    """What a rectangle gained or lost at its bottom; None: more of it changed, or nothing."""
    if before == now or before.topLeft() != now.topLeft() or before.width() != now.width():
        return None
    top, bottom = sorted((before.bottom(), now.bottom()))
    return QRectF(now.left(), top, now.width(), bottom - top)
