"""What moves on the canvas: a flash around a revealed item, dots of delivered messages along their edges."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from PySide6.QtCore import QEasingCurve, QObject, QRectF, QVariantAnimation
from PySide6.QtGui import QPainterPath
from PySide6.QtWidgets import QGraphicsEllipseItem, QGraphicsPathItem

from studio.ui.canvas import routing
from studio.ui.canvas.item import NO_BRUSH, NO_PEN
from studio.ui.canvas.levels import Level

if TYPE_CHECKING:
    from studio.ui.canvas.edge_item import EdgeItem
    from studio.ui.canvas.scene import CanvasScene

FLASH_MS = 600
DOT_MS = 240
AT_ONCE = 12
"""More dots than this are not shown at once: the rest just arrive."""
DOT = 4.0
LAYER = 8.0


class Motion(QObject):
    """One animation for flashes and one for dots. Nothing is left in the scene when they end or are stopped."""

    def __init__(self, scene: CanvasScene) -> None:
        super().__init__(scene)
        self._scene = scene
        self._outline: QGraphicsPathItem | None = None
        self._dots: list[tuple[QGraphicsEllipseItem, QPainterPath]] = []
        self._flash = QVariantAnimation(self)
        self._flash.setDuration(FLASH_MS)
        self._flash.setStartValue(0.0)
        self._flash.setEndValue(2.0)
        self._flash.valueChanged.connect(self._on_flash_value_changed)
        self._flash.finished.connect(self._on_flash_finished)
        self._fly = QVariantAnimation(self)
        self._fly.setDuration(DOT_MS)
        self._fly.setStartValue(0.0)
        self._fly.setEndValue(1.0)
        self._fly.setEasingCurve(QEasingCurve.Type.InOutSine)
        self._fly.valueChanged.connect(self._on_fly_value_changed)
        self._fly.finished.connect(self._on_fly_finished)

    def flash(self, rect: QRectF) -> None:
        """Shows an accent outline around a rectangle of the scene, twice."""
        self._flash.stop()
        self._on_flash_finished()
        path = QPainterPath()
        path.addRoundedRect(rect.adjusted(-6, -6, 6, 6), 12, 12)
        self._outline = QGraphicsPathItem(path)
        self._outline.setPen(self._scene.look.ink.pen("accent", 2.0, cosmetic=True))
        self._outline.setBrush(NO_BRUSH)
        self._outline.setZValue(LAYER)
        self._scene.addItem(self._outline)
        self._flash.start()

    def fly(self, edges: Iterable[EdgeItem]) -> None:
        """Sends a dot along each of these edges."""
        if self._scene.look.level < Level.MIDDLE:
            return
        self._fly.stop()
        self._on_fly_finished()
        for edge in edges:
            if len(self._dots) == AT_ONCE:
                break
            dot = QGraphicsEllipseItem(-DOT, -DOT, 2 * DOT, 2 * DOT)
            dot.setPen(NO_PEN)
            dot.setBrush(self._scene.look.ink.brush("run"))
            dot.setZValue(LAYER)
            dot.setPos(*edge.points[0])
            self._scene.addItem(dot)
            self._dots.append((dot, routing.rounded(edge.points)))
        if self._dots:
            self._fly.start()

    def stop(self) -> None:
        """Ends everything at once."""
        self._flash.stop()
        self._fly.stop()
        self._on_flash_finished()
        self._on_fly_finished()

    def _on_flash_value_changed(self, value: float) -> None:
        if self._outline is not None:
            self._outline.setOpacity(1.0 - abs(value % 1.0 - 0.5) * 2.0 if value < 2.0 else 0.0)

    def _on_flash_finished(self) -> None:
        if self._outline is not None:
            self._scene.removeItem(self._outline)
            self._outline = None

    def _on_fly_value_changed(self, value: float) -> None:
        for dot, path in self._dots:
            dot.setPos(path.pointAtPercent(min(1.0, max(0.0, value))))

    def _on_fly_finished(self) -> None:
        for dot, _ in self._dots:
            self._scene.removeItem(dot)
        self._dots = []
