"""A plain canvas, the fastest simple design: ``python -m tests.benchmarks.canvas_floor FILE WIDTH HEIGHT``.

Node items without hooks and with a device cache, edges as path items; far out the view itself paints kept lists, one
call per colour, and dragging shifts the lists. It shows nothing but rectangles, titles and curves.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtCore import QLineF, QPoint, QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QFont, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPixmapCache
from PySide6.QtWidgets import (
    QApplication,
    QGraphicsItem,
    QGraphicsPathItem,
    QGraphicsScene,
    QGraphicsView,
    QMainWindow,
    QStyleOptionGraphicsItem,
    QWidget,
)

from tests.benchmarks.canvas_steps import measure
from tests.benchmarks.children import answer

_WIDTH, _HEIGHT, _PORT = 200, 64, 32
_FAR = 0.3
_BODY, _PICKED, _CANVAS = QBrush(QColor("#ffffff")), QBrush(QColor("#ffb454")), QBrush(QColor("#f4f5f7"))
_BORDER, _LINE, _HAIR, _NONE = (
    QPen(QColor("#868e96"), 1),
    QPen(QColor("#868e96"), 2),
    QPen(QColor("#868e96"), 0),
    QPen(),
)
_NONE.setStyle(Qt.PenStyle.NoPen)
_MODE = QGraphicsView.ViewportUpdateMode


class _Node(QGraphicsItem):
    def __init__(self, title: str, font: QFont) -> None:
        super().__init__()
        self.title, self.font, self.picked = title, font, False
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    def boundingRect(self) -> QRectF:
        return QRectF(-2, -2, _WIDTH + 4, _HEIGHT + 4)

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, _widget: QWidget | None = None) -> None:
        brush = _PICKED if self.picked else _BODY
        if option.levelOfDetailFromTransform(painter.worldTransform()) < 0.45:
            painter.fillRect(QRectF(0, 0, _WIDTH, _HEIGHT), brush)
            return
        painter.setPen(_BORDER)
        painter.setBrush(brush)
        painter.drawRoundedRect(QRectF(0, 0, _WIDTH, _HEIGHT), 6, 6)
        painter.setFont(self.font)
        painter.drawText(QRectF(12, 0, _WIDTH - 24, _HEIGHT), Qt.AlignmentFlag.AlignVCenter, self.title)


class PlainCanvas(QGraphicsView):
    """View and steps in one."""

    def __init__(self, file: Path, width: int, height: int) -> None:
        self._scene = QGraphicsScene()
        super().__init__(self._scene)
        self._file, self._window = file, QMainWindow()
        self._nodes: dict[str, _Node] = {}
        self._rects: list[QRectF] = []
        self._lines: list[QLineF] = []
        self._edges: list[QGraphicsPathItem] = []
        self._last: QPointF | None = None
        self._moved = QPointF()
        self._turn = 0
        self._gone: tuple[list[QRectF], list[QLineF]] = ([], [])
        self.setFixedSize(width, height)
        self.setFrameShape(QGraphicsView.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.setBackgroundBrush(_CANVAS)
        QPixmapCache.setCacheLimit(96 * 1024)

    @property
    def view(self) -> QGraphicsView:
        return self

    @property
    def _far(self) -> bool:
        return self.transform().m11() < _FAR

    def open(self) -> None:
        document = json.loads(self._file.read_text(encoding="utf-8"))
        font, places = QFont("Inter", 10), document["geometry"]["places"]
        for node in document["nodes"]:
            item = self._nodes[node["id"]] = _Node(node["name"], font)
            place = places[node["id"]]
            item.setPos(place["x"], place["y"])
            self._scene.addItem(item)
            self._rects.append(QRectF(place["x"], place["y"], _WIDTH, _HEIGHT))
        for edge in document["edges"]:
            start = self._nodes[edge["source"]].pos() + QPointF(_WIDTH, _PORT)
            end = self._nodes[edge["target"]].pos() + QPointF(0, _PORT)
            path = QPainterPath(start)
            path.cubicTo(start + QPointF(40, 0), end - QPointF(40, 0), end)
            curve = QGraphicsPathItem(path)
            curve.setPen(_LINE)
            self._scene.addItem(curve)
            self._edges.append(curve)
            self._lines.append(QLineF(start, end))
        self._box = self._scene.itemsBoundingRect()
        self.setSceneRect(self._box.adjusted(-4000, -4000, 4000, 4000))
        self._window.setCentralWidget(self)
        self.fit()
        self._window.show()

    def fit(self) -> None:
        self.fitInView(self._box.adjusted(-50, -50, 50, 50), Qt.AspectRatioMode.KeepAspectRatio)
        self._choose_mode()

    def zoom(self, zoom: float) -> None:
        factor = zoom / self.transform().m11()
        self.scale(factor, factor)
        self._choose_mode()

    def select_all(self) -> None:
        self._pick(True)

    def select_none(self) -> None:
        self._pick(False)

    def grab(self) -> QPoint:  # type: ignore[override]
        return self.mapFromScene(self._rects[len(self._rects) // 2].center())

    def pan(self, pixels: int) -> None:
        bar = self.horizontalScrollBar()
        bar.setValue(bar.value() + pixels)

    def touch(self, count: int) -> None:
        nodes = list(self._nodes.values())
        self._turn += 1
        for i in range(count):
            node = nodes[(i * len(nodes) // count + 7 * self._turn) % len(nodes)]
            node.picked = not node.picked
            if not self._far:
                node.update()
        if self._far:
            self.viewport().update()

    def delete_all(self) -> None:
        self._gone = (self._rects, self._lines)
        for item in (*self._nodes.values(), *self._edges):
            self._scene.removeItem(item)
        self._rects, self._lines = [], []
        self.viewport().update()

    def undo(self) -> None:
        for item in (*self._nodes.values(), *self._edges):
            self._scene.addItem(item)
        self._rects, self._lines = self._gone
        self.viewport().update()

    def _pick(self, on: bool) -> None:
        for item in self._nodes.values():
            item.picked = on
            if not self._far:
                item.update()
        if self._far:
            self.viewport().update()

    def _choose_mode(self) -> None:
        self.setViewportUpdateMode(_MODE.BoundingRectViewportUpdate if self._far else _MODE.MinimalViewportUpdate)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._far:
            super().paintEvent(event)
            return
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), _CANVAS)
        painter.setWorldTransform(self.viewportTransform())
        painter.setPen(_HAIR)
        painter.drawLines(self._lines)
        painter.setPen(_NONE)
        picked = next(iter(self._nodes.values())).picked
        painter.setBrush(_PICKED if picked else _BODY)
        painter.drawRects(self._rects)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._last = self.mapToScene(event.position().toPoint())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._last is None:
            return
        at = self.mapToScene(event.position().toPoint())
        shift, self._last = at - self._last, at
        self._moved += shift
        for rect in self._rects:
            rect.translate(shift)
        for line in self._lines:
            line.translate(shift)
        self.viewport().update()

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._last = None
        for item in (*self._nodes.values(), *self._edges):
            item.moveBy(self._moved.x(), self._moved.y())
        self._moved = QPointF()


def run(file: Path, width: int, height: int) -> int:
    """Measures it without a loop of its own."""
    app = QApplication([])
    canvas = PlainCanvas(file, width, height)
    answer({"steps": measure(canvas)})
    assert app
    return 0


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
