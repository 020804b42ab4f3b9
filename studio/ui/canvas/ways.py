"""Where lines run in one drawing: from left to right, or from top to bottom.

Routes are found as if everything ran from left to right (:mod:`studio.ui.canvas.routing`); for a drawing that runs
down, x and y of what goes in and of what comes out are exchanged.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from PySide6.QtCore import QRectF

from studio.ui.canvas import routing
from studio.ui.canvas.item import Look
from studio.ui.canvas.routing import End, Points

Side = Literal["right", "left", "bottom", "top"]
_OTHER: dict[Side, Side] = {"right": "bottom", "bottom": "right", "left": "top", "top": "left"}
_NOTHING: frozenset[str] = frozenset()


def end_of(end: End, *, down: bool) -> End:
    """The same end in a drawing whose x and y are exchanged."""
    return End(end.y, end.x, _OTHER[end.side], end.gap) if down else end


def points_of(points: Points, *, down: bool) -> Points:
    """The same points, x and y exchanged."""
    return tuple((y, x) for x, y in points) if down else points


def box_of(rect: QRectF, *, down: bool) -> QRectF:
    """The same rectangle, x and y exchanged."""
    return QRectF(rect.y(), rect.x(), rect.height(), rect.width()) if down else rect


def across(end: End, *, down: bool) -> float:
    """Where an end is across the way that lines run: its height, or in a drawing that runs down its x."""
    return end.x if down else end.y


def plain(start: End, end: End, *, down: bool) -> Points:
    """The route that looks at nothing else."""
    return points_of(routing.two_bends(end_of(start, down=down), end_of(end, down=down)), down=down)


class Ways:
    """Routes of one scene around what is drawn. Everything given and returned is in scene coordinates."""

    def __init__(self, look: Look) -> None:
        self._look = look
        self._blocks = routing.Blocks()
        self._areas = routing.Blocks()
        self.tracks: dict[str, tuple[float, float, float]] = {}
        """Lines that lead back, by id: from where to where, and on which level."""

    def clear_all(self) -> None:
        """Forgets everything: the scene was cleared."""
        self._blocks.clear_all()
        self._areas.clear_all()
        self.tracks.clear()

    def put(self, item_id: str, rect: QRectF, *, area: bool) -> QRectF | None:
        """Puts in what lines go around, or moves it; an area is only passed by lines that lead back. Returns where it
        was before."""
        before = (self._areas if area else self._blocks).put(item_id, box_of(rect, down=self._look.down))
        return box_of(before, down=self._look.down) if before is not None else None

    def drop(self, item_id: str) -> None:
        """Takes it out."""
        self._blocks.drop(item_id)
        self._areas.drop(item_id)

    def covered(self, rect: QRectF) -> bool:
        """Whether a card covers part of this rectangle."""
        box = box_of(rect, down=self._look.down)
        return self._blocks.hit(box.left(), box.top(), box.right(), box.bottom(), _NOTHING) is not None

    def plain(self, start: End, end: End) -> Points:
        """The route that looks at nothing else."""
        return plain(start, end, down=self._look.down)

    def through(self, start: End, end: End, bends: Points) -> Points:
        """The route over points that a person chose."""
        return self._turned(start, end, lambda a, b: routing.through(a, b, points_of(bends, down=self._look.down)))

    def loop(self, start: End, end: End, rect: QRectF) -> Points:
        """From an item around it to itself."""
        bottom = box_of(rect, down=self._look.down).bottom()
        return self._turned(start, end, lambda a, b: routing.self_loop(a, b, bottom))

    def tips(self, start: End, end: End) -> Points:
        """The first and the last point of a line between these."""
        return self._turned(
            start, end, lambda a, b: ((a.x + (0.0 if a.side == "bottom" else a.gap), a.y), (b.x - b.gap, b.y))
        )

    def around(self, line_id: str, start: End, end: End, ends: dict[str, QRectF]) -> Points:
        """The route that crosses nothing; ``ends``: both items by id. Lines that lead back get levels of their own."""
        return self._turned(start, end, lambda a, b: self._around(line_id, a, b, ends))

    def _turned(self, start: End, end: End, find: Callable[[End, End], Points]) -> Points:
        down = self._look.down
        return points_of(find(end_of(start, down=down), end_of(end, down=down)), down=down)

    def _around(self, line_id: str, start: End, end: End, ends: dict[str, QRectF]) -> Points:
        below = None
        if routing.is_back(start, end):
            below = self._below(start, end, [box_of(r, down=self._look.down).bottom() for r in ends.values()])
        points = routing.around(start, end, self._blocks, frozenset(ends), below)
        if below is not None and any(y == below for _, y in points):
            self.tracks[line_id] = (end.x - 24, start.x + 24, below)
        return points

    def _below(self, start: End, end: End, bottoms: list[float]) -> float:
        """A free level under what a back edge passes, apart from other back edges."""
        left, right = end.x - end.gap - routing.STUB, start.x + start.gap + routing.STUB
        level = max(bottoms) + routing.BELOW
        for _ in range(200):
            box = self._blocks.hit(left, level - 40, right, level + 8, _NOTHING) or self._areas.hit(
                left, level - 40, right, level + 8, _NOTHING
            )
            if box is None:
                break
            level = box[4] + routing.BELOW
        for _ in range(200):
            if not any(a < right and b > left and abs(y - level) < routing.TRACK for a, b, y in self.tracks.values()):
                break
            level += routing.TRACK
        return level
