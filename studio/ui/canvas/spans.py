"""Where lines are, found by place: which of thousands cross a few boxes is asked many times a second during a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""

CELL = 640.0
LONG = 32
"""A line over more cells than this is asked about each time; few are."""


class Spans:
    """The boxes around lines, by id. What moved is told with :meth:`spoil`, and put in by :meth:`refresh`, at the
    latest when somebody asks."""

    def __init__(self, span_of: Callable[[str], Box | None]) -> None:
        self._span_of = span_of
        self._cells: dict[tuple[int, int], set[str]] = {}
        self._over: dict[str, tuple[tuple[int, int], ...]] = {}
        """The cells of each line; none: it is long."""
        self._long: set[str] = set()
        self._stale: set[str] = set()

    def clear(self) -> None:
        """Forgets everything."""
        for table in (self._cells, self._over, self._long, self._stale):
            table.clear()

    def spoil(self, line_ids: Iterable[str]) -> None:
        """These are elsewhere now, new, or gone."""
        self._stale.update(line_ids)

    @property
    def behind(self) -> int:
        """How many lines have to be put in."""
        return len(self._stale)

    def refresh(self, most: int) -> None:
        """Puts in up to so many of the lines that moved."""
        for line_id in [self._stale.pop() for _ in range(min(most, len(self._stale)))]:
            self._put(line_id, self._span_of(line_id))

    def crossing(self, boxes: Sequence[Box]) -> set[str]:
        """The lines whose boxes touch one of these."""
        self.refresh(len(self._stale))
        found: set[str] = set()
        for box in boxes:
            near = set(self._long)
            for cell in _cells(box):
                near |= self._cells.get(cell, set())
            found |= {i for i in near - found if (span := self._span_of(i)) is not None and _touch(span, box)}
        return found

    def _put(self, line_id: str, span: Box | None) -> None:
        self._long.discard(line_id)
        for cell in self._over.pop(line_id, ()):
            self._cells[cell].discard(line_id)
        if span is None:
            return
        across = (math.floor(span[2] / CELL) - math.floor(span[0] / CELL) + 1) * (
            math.floor(span[3] / CELL) - math.floor(span[1] / CELL) + 1
        )
        if across > LONG:
            self._long.add(line_id)
            return
        self._over[line_id] = cells = tuple(_cells(span))
        for cell in cells:
            self._cells.setdefault(cell, set()).add(line_id)


def _cells(box: Box) -> Iterator[tuple[int, int]]:
    for column in range(math.floor(box[0] / CELL), math.floor(box[2] / CELL) + 1):
        for row in range(math.floor(box[1] / CELL), math.floor(box[3] / CELL) + 1):
            yield column, row


def _touch(a: Box, b: Box) -> bool:
    return a[0] <= b[2] and a[2] >= b[0] and a[1] <= b[3] and a[3] >= b[1]
