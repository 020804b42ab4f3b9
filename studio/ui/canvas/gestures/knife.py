"""Cutting edges."""

from __future__ import annotations

import itertools

from PySide6.QtCore import QLineF, QPointF, Qt
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsPathItem

from studio.ui.canvas.edge_item import EdgeItem
from studio.ui.canvas.gestures.gesture import Gesture, Pointer
from studio.ui.canvas.item import NO_BRUSH
from studio.ui.canvas.routing import Points
from studio.ui.text import tr

LAYER = 30.0


class KnifeGesture(Gesture):
    """Every edge that the drawn stroke crosses fades, and is deleted on release, all in one step."""

    cursor = Qt.CursorShape.CrossCursor

    def start(self, at: Pointer) -> None:
        self._stroke = [QPointF(at.scene)]
        self._cut: dict[str, None] = {}
        self._shown = QGraphicsPathItem()
        self._shown.setPen(self.scene.look.ink.pen("fail", 1.5, (4.0, 3.0), cosmetic=True))
        self._shown.setBrush(NO_BRUSH)
        self._shown.setZValue(LAYER)
        self.scene.addItem(self._shown)

    def move(self, at: Pointer) -> None:
        step = QLineF(self._stroke[-1], at.scene)
        if step.length() == 0:
            return
        self._stroke.append(QPointF(at.scene))
        path = QPainterPath(self._stroke[0])
        for point in self._stroke[1:]:
            path.lineTo(point)
        self._shown.setPath(path)
        for line_id, edge in self.scene.line_layer.items.items():
            if line_id not in self._cut and _near(edge, step) and _crosses(edge.points, step):
                self._cut[line_id] = None
                edge.setOpacity(0.25)
        self.view.touch_far()

    def finish(self, at: Pointer) -> None:
        self.move(at)
        self._tidy()
        if self._cut:
            count = len(self._cut)
            text = tr("Cut 1 edge") if count == 1 else tr("Cut {n} edges").format(n=count)
            self.view.delete_ids(self._cut, text)

    def cancel(self) -> None:
        self._tidy()

    def _tidy(self) -> None:
        self.scene.removeItem(self._shown)
        for line_id in self._cut:
            edge = self.scene.line_layer.items.get(line_id)
            if edge is not None:
                edge.setOpacity(1.0)
        self.view.touch_far()

    def paint_far(self, painter: QPainter) -> None:
        painter.strokePath(self._shown.path(), self._shown.pen())


def _near(edge: EdgeItem, step: QLineF) -> bool:
    left, top, right, bottom = edge.span
    xs, ys = sorted((step.x1(), step.x2())), sorted((step.y1(), step.y2()))
    return xs[0] <= right and xs[1] >= left and ys[0] <= bottom and ys[1] >= top


def _crosses(points: Points, step: QLineF) -> bool:
    bounded = QLineF.IntersectionType.BoundedIntersection
    return any(step.intersects(QLineF(a[0], a[1], b[0], b[1]))[0] == bounded for a, b in itertools.pairwise(points))
