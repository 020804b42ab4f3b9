"""Shadows of cards and floating things: one nine-patch pixmap per scheme and elevation, no graphics effect."""

from __future__ import annotations

from functools import cache

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPixmap

_RATIO = 2.0
_CORE = 8.0
"""Stretchable part in the middle of the picture."""


@cache
def _picture(dark: bool, elevation: int) -> tuple[QPixmap, float]:
    """The pixmap and its margin (how far the shadow reaches outside the shape), in device-independent pixels."""
    offset, blur, alpha = (1.0, 2.6, 0.5 if dark else 0.16) if elevation == 1 else (6.0, 20.0, 0.55 if dark else 0.16)
    margin = blur + offset + 2
    corner = 8.0 + blur
    size = 2 * (margin + corner) + _CORE
    picture = QPixmap(round(size * _RATIO), round(size * _RATIO))
    picture.fill(Qt.GlobalColor.transparent)
    picture.setDevicePixelRatio(_RATIO)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    steps = max(6, round(blur * 2))
    # Stacked translucent shapes from wide to narrow: together close to a blurred edge, with alpha in the core.
    layer = 1.0 - (1.0 - alpha) ** (1.0 / steps)
    color = QColor(20, 26, 40) if not dark else QColor(0, 0, 0)
    color.setAlphaF(layer)
    painter.setBrush(color)
    for step in range(steps):
        grow = blur * (0.5 - (step + 0.5) / steps)
        side = size - 2 * margin + 2 * grow
        radius = max(1.0, 8.0 + grow)
        painter.drawRoundedRect(QRectF(margin - grow, margin - grow + offset, side, side), radius, radius)
    painter.end()
    return picture, margin


def draw_shadow(painter: QPainter, rect: QRectF, *, dark: bool, elevation: int = 1) -> None:
    """Draws the shadow of a card (radius 8) with this rectangle; draw the card over it."""
    picture, margin = _picture(dark, elevation)
    size = picture.width()
    edge = size / 2 - _CORE / 2 * _RATIO
    out = rect.adjusted(-margin, -margin, margin, margin)
    part = edge / _RATIO
    inner_w, inner_h = max(0.0, out.width() - 2 * part), max(0.0, out.height() - 2 * part)
    if not inner_w or not inner_h:
        painter.drawPixmap(out, picture, QRectF(0, 0, size, size))
        return
    core = _CORE * _RATIO
    columns = ((0.0, edge, part), (edge, core, inner_w), (edge + core, edge, part))
    rows = ((0.0, edge, part), (edge, core, inner_h), (edge + core, edge, part))
    y = out.y()
    for top, source_h, height in rows:
        x = out.x()
        for left, source_w, width in columns:
            # The middle is under the card.
            if left != edge or top != edge:
                painter.drawPixmap(QRectF(x, y, width, height), picture, QRectF(left, top, source_w, source_h))
            x += width
        y += height
