"""The dots of the background: one tile per zoom and ratio, so that painting them is one call."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap


@lru_cache(maxsize=16)
def _tile(step: float, color: str, ratio: float) -> tuple[QPixmap, int]:
    """A tile of n × n dots ``step`` pixels apart, n such that its side is close to a whole number of pixels."""
    count = min(range(1, 33), key=lambda n: (abs(n * step - round(n * step)) + (0.5 if n * step > 640 else 0), n))
    side = max(1, round(count * step))
    tile = QPixmap(side, side)
    tile.fill(Qt.GlobalColor.transparent)
    painter = QPainter(tile)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    radius = 1.13 * ratio
    for column in range(count):
        for row in range(count):
            # Whole pixels: dots look alike, and distances differ by one pixel at most.
            painter.drawEllipse(QPointF(round((column + 0.5) * step), round((row + 0.5) * step)), radius, radius)
    painter.end()
    return tile, side


def draw_dots(painter: QPainter, area: QRectF, origin: QPointF, spacing: float, color: str, ratio: float) -> None:
    """Fills ``area`` (device-independent pixels) with dots; ``origin`` is where the scene's zero is shown."""
    step = spacing * ratio
    tile, side = _tile(round(step, 3), color, ratio)
    painter.save()
    painter.resetTransform()
    painter.scale(1 / ratio, 1 / ratio)
    device = QRectF(area.x() * ratio, area.y() * ratio, area.width() * ratio, area.height() * ratio)
    shift = QPointF(
        (device.x() - round(origin.x() * ratio - step / 2)) % side,
        (device.y() - round(origin.y() * ratio - step / 2)) % side,
    )
    painter.drawTiledPixmap(device, tile, shift)
    painter.restore()
