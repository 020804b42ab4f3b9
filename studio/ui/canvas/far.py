"""The picture below 30 % zoom: kept lists of rectangles and lines, painted by the view itself, one call per colour."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QLineF, QPointF, QRectF
from PySide6.QtGui import QPainter

from studio.ui.canvas.area_items import FrameItem, NoteItem
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, DrawnItem
from studio.ui.canvas.node_item import NodeItem
from studio.ui.paint import STATUS_TINTS, STATUS_TOKENS

if TYPE_CHECKING:
    from studio.ui.canvas.scene import CanvasScene

NOTCH = 28.0


class FarPicture:
    """Kept lists; rebuilt when items changed, shifted in place while something is dragged."""

    def __init__(self, scene: CanvasScene) -> None:
        self._scene = scene
        self._stale = True
        self.rects: dict[str, QRectF] = {}
        """Rectangle of every item; frames last."""
        self._by_token: dict[str, list[QRectF]] = {}
        self._notches: dict[str, list[QRectF]] = {}
        self._frames: list[QRectF] = []
        self._selected: list[QRectF] = []
        self._lines: dict[str, list[QLineF]] = {}
        self._line_of: dict[str, QLineF] = {}

    def spoil(self) -> None:
        """Items changed: build the lists again before the next painting."""
        self._stale = True

    def refresh(self) -> None:
        """Builds the lists if something changed."""
        if not self._stale:
            return
        self._stale = False
        self.rects, self._by_token, self._notches, self._frames, self._selected = {}, {}, {}, [], []
        for item_id, item in self._scene.items_by_id.items():
            rect = item.rect
            self.rects[item_id] = rect
            if isinstance(item, FrameItem):
                self._frames.append(rect)
                continue
            self._by_token.setdefault(_fill(item), []).append(rect)
            if item.selected:
                self._selected.append(rect)
            status = STATUS_TOKENS.get(item.card.status) if isinstance(item, NodeItem) else None
            if status is not None:
                notch = QRectF(rect.right() - NOTCH, rect.top(), NOTCH, NOTCH)
                self._notches.setdefault(status, []).append(notch)
        self._lines, self._line_of = {}, {}
        for line_id, edge in self._scene.line_layer.items.items():
            first, last = edge.points[0], edge.points[-1]
            line = QLineF(first[0], first[1], last[0], last[1])
            self._line_of[line_id] = line
            self._lines.setdefault(edge.token, []).append(line)

    def shift(self, ids: frozenset[str], dx: float, dy: float) -> None:
        """Moves rectangles and lines while dragging; the items follow on release."""
        self.refresh()
        for item_id in ids:
            rect = self.rects.get(item_id)
            if rect is not None:
                rect.translate(dx, dy)
        for line_id in {line for i in ids for line in self._scene.line_layer.at(i)}:
            edge, line = self._scene.line_layer.items[line_id], self._line_of.get(line_id)
            if line is None:
                continue
            if edge.line.source in ids:
                line.setP1(line.p1() + QPointF(dx, dy))
            if edge.line.target in ids:
                line.setP2(line.p2() + QPointF(dx, dy))

    def pick(self, at: QPointF) -> str | None:
        """The topmost item at a point of the scene."""
        self.refresh()
        found = None
        for item_id, rect in self.rects.items():
            if rect.contains(at):
                found = item_id
        return found

    def inside(self, area: QRectF) -> list[str]:
        """The items that a rectangle touches."""
        self.refresh()
        return [item_id for item_id, rect in self.rects.items() if rect.intersects(area)]

    def paint(self, painter: QPainter) -> None:
        """Paints everything; the painter has the view's transform."""
        self.refresh()
        tools = self._scene.look.ink
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        painter.setPen(NO_PEN)
        if self._frames:
            painter.setBrush(tools.brush("sunken"))
            painter.drawRects(self._frames)
        for token, lines in self._lines.items():
            painter.setPen(tools.pen(token, 1.0, cosmetic=True))
            painter.drawLines(lines)
        for token, rects in self._by_token.items():
            border = "edge" if token == "surface" else token
            painter.setPen(NO_PEN if token == "wait_s" else tools.pen(border, 1.0, cosmetic=True))
            painter.setBrush(tools.brush(token))
            painter.drawRects(rects)
        painter.setPen(NO_PEN)
        for token, rects in self._notches.items():
            painter.setBrush(tools.brush(token))
            painter.drawRects(rects)
        if self._selected:
            painter.setBrush(NO_BRUSH)
            painter.setPen(tools.pen("accent", 2.0, cosmetic=True))
            painter.drawRects(self._selected)


def _fill(item: DrawnItem) -> str:
    if isinstance(item, NodeItem):
        return STATUS_TINTS.get(item.card.status, "surface")
    return "wait_s" if isinstance(item, NoteItem) else "edge"
