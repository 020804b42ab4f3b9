"""Lining up what is dragged with what is drawn: edges, middles, and the ports that lines run through."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtWidgets import QGraphicsLineItem

from studio.ui.canvas.area_items import FrameItem
from studio.ui.canvas.item import DrawnItem

if TYPE_CHECKING:
    from studio.ui.canvas.edge_item import EdgeItem
    from studio.ui.canvas.view import CanvasView

REACH = 5.0
"""Pixels within which things are lined up."""
LAYER = 30.0
MOST = 200
"""At most so many neighbours are looked at."""
BEYOND = 8.0
"""How far a guide goes beyond what it lines up."""


@dataclass(frozen=True, slots=True)
class Shape:
    """Where something is, and where lines pass through it (across the way that they run); None: none do."""

    rect: QRectF
    lane: float | None

    @classmethod
    def of(cls, item: DrawnItem, corner: QPointF) -> Shape:
        """An item with its top left corner at a point."""
        rect, lane = item.box.translated(corner), item.lane
        start = corner.x() if item.look.down else corner.y()
        return cls(rect, None if lane is None else start + lane)


class Guides:
    """The neighbours of what is dragged, and the dashed lines that show with what it is in line."""

    def __init__(self, view: CanvasView, moving: Set[str] = frozenset()) -> None:
        self._scene = view.canvas_scene
        self._others = [
            Shape.of(item, item.pos())
            for i, item in self._scene.items_by_id.items()
            if i not in moving and not isinstance(item, FrameItem) and self._scene.seen.intersects(item.rect)
        ][:MOST]
        self._shown: list[QGraphicsLineItem] = []

    def line_up(self, item: DrawnItem, free: QPointF, otherwise: QPointF) -> QPointF:
        """The corner for an item that is dragged to ``free``: in line with a neighbour, in x and y where there is one
        near; else as in ``otherwise``. Shows the guides."""
        look = self._scene.look
        dx, dy, guides = aligned(Shape.of(item, free), self._others, REACH / look.zoom, down=look.down)
        self._show(guides)
        x = free.x() + dx if dx is not None else otherwise.x()
        return QPointF(x, free.y() + dy if dy is not None else otherwise.y())

    def hide(self) -> None:
        """Takes the dashed lines away."""
        self._show([])

    def _show(self, guides: Iterable[QLineF]) -> None:
        for line in self._shown:
            self._scene.removeItem(line)
        self._shown = []
        for guide in guides:
            line = QGraphicsLineItem(guide)
            line.setPen(self._scene.look.ink.pen("accent", 1.0, (4.0, 3.0), cosmetic=True))
            line.setZValue(LAYER)
            self._scene.addItem(line)
            self._shown.append(line)


def aligned(
    shape: Shape, others: Iterable[Shape], reach: float, *, down: bool
) -> tuple[float | None, float | None, list[QLineF]]:
    """The least shift in x and in y that lines something up with another, and the guides to show for it."""
    best: list[tuple[float, QLineF] | None] = [None, None]
    for other in others:
        for axis in (0, 1):
            for mine, theirs in _pairs(shape, other, axis, across=down == (axis == 0)):
                gap, known = theirs - mine, best[axis]
                if abs(gap) <= reach and (known is None or abs(gap) < abs(known[0])):
                    best[axis] = (gap, _guide(shape.rect.united(other.rect), theirs, axis))
    guides = [found[1] for found in best if found is not None]
    x, y = best
    return x[0] if x else None, y[0] if y else None, guides


def _pairs(shape: Shape, other: Shape, axis: int, *, across: bool) -> Iterator[tuple[float, float]]:
    """What may be in line: where lines pass, else middles; then edges."""
    a, b = shape.rect, other.rect
    if across and shape.lane is not None and other.lane is not None:
        yield shape.lane, other.lane
    elif axis == 0:
        yield a.center().x(), b.center().x()
    else:
        yield a.center().y(), b.center().y()
    yield from (
        ((a.left(), b.left()), (a.right(), b.right()))
        if axis == 0
        else (
            (a.top(), b.top()),
            (a.bottom(), b.bottom()),
        )
    )


def _guide(around: QRectF, at: float, axis: int) -> QLineF:
    if axis == 0:
        return QLineF(at, around.top() - BEYOND, at, around.bottom() + BEYOND)
    return QLineF(around.left() - BEYOND, at, around.right() + BEYOND, at)


def on_line(item: DrawnItem, corner: QPointF, edge: EdgeItem) -> QPointF:
    """The corner with which an edge passes straight through the ports of an item that is dropped on it; the same one
    where the edge does not run along there."""
    shape, down = Shape.of(item, corner), item.look.down
    if shape.lane is None:
        return corner
    middle = shape.rect.center()
    here = middle.y() if down else middle.x()
    for (ax, ay), (bx, by) in zip(edge.points, edge.points[1:], strict=False):
        start, end, beside, other = (ay, by, ax, bx) if down else (ax, bx, ay, by)
        if abs(beside - other) < 0.5 and min(start, end) <= here <= max(start, end):
            return corner + (QPointF(beside - shape.lane, 0) if down else QPointF(0, beside - shape.lane))
    return corner
