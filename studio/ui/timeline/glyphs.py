"""The marks of checkpoints: triangle, circle, rhombus, ticked square, crossed square, and the ring around."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QPolygonF

from studio.ui.theme import Theme
from studio.ui.timeline.plan import Glyph


def pen(theme: Theme, token: str, width: float) -> QPen:
    """A round pen."""
    made = QPen(theme.color(token), width)
    made.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    made.setCapStyle(Qt.PenCapStyle.RoundCap)
    return made


def draw_glyph(
    painter: QPainter, theme: Theme, x: float, y: float, glyph: Glyph, token: str, *, filled: bool = False
) -> None:
    """One mark with its centre at ``x``, ``y``."""
    painter.setBrush(theme.color(token if filled else "surface"))
    if glyph == "input":
        painter.setPen(pen(theme, token, 1.6))
        painter.drawPolygon(QPolygonF([QPointF(x - 4.5, y - 6.5), QPointF(x + 5.5, y), QPointF(x - 4.5, y + 6.5)]))
    elif glyph == "answers":
        painter.setPen(pen(theme, token, 1.6))
        corners = [QPointF(x, y - 7), QPointF(x + 7, y), QPointF(x, y + 7), QPointF(x - 7, y)]
        painter.drawPolygon(QPolygonF(corners))
    elif glyph == "finished":
        painter.setPen(pen(theme, token, 1.5))
        painter.setBrush(theme.color(token))
        painter.drawRoundedRect(QRectF(x - 6, y - 6, 12, 12), 2, 2)
        tick = QPainterPath(QPointF(x - 3, y + 0.2))
        tick.lineTo(x - 0.8, y + 2.4)
        tick.lineTo(x + 3.2, y - 2.2)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(pen(theme, "surface", 1.6))
        painter.drawPath(tick)
    elif glyph == "broken":
        painter.setPen(pen(theme, "fail", 1.6))
        painter.setBrush(theme.color("surface"))
        painter.drawRoundedRect(QRectF(x - 6, y - 6, 12, 12), 2, 2)
        painter.setPen(pen(theme, "fail", 1.5))
        painter.drawLine(QPointF(x - 3, y - 3), QPointF(x + 3, y + 3))
        painter.drawLine(QPointF(x + 3, y - 3), QPointF(x - 3, y + 3))
    else:
        painter.setPen(pen(theme, token, 1.75))
        painter.drawEllipse(QPointF(x, y), 6, 6)


def draw_here(painter: QPainter, theme: Theme, x: float, y: float) -> None:
    """The ring "you are here"."""
    painter.setPen(pen(theme, "wait", 1.75))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawEllipse(QPointF(x, y), 11, 11)


def draw_selected(painter: QPainter, theme: Theme, x: float, y: float, *, focused: bool) -> None:
    """The square behind the selected mark."""
    painter.setPen(pen(theme, "accent", 2 if focused else 1.25))
    painter.setBrush(theme.color("sel"))
    painter.drawRoundedRect(QRectF(x - 12, y - 12, 24, 24), 6, 6)


def branch_path(x1: float, y1: float, x2: float, y2: float, leg: float) -> QPainterPath:
    """From a parent to the first checkpoint of another branch: right, down at ``leg``, right; corners of radius 9."""
    radius = min(9.0, abs(y2 - y1) / 2, leg - x1)
    down = 1 if y2 > y1 else -1
    path = QPainterPath(QPointF(x1, y1))
    path.lineTo(leg - radius, y1)
    path.quadTo(leg, y1, leg, y1 + down * radius)
    path.lineTo(leg, y2 - down * radius)
    path.quadTo(leg, y2, leg + radius, y2)
    path.lineTo(x2, y2)
    return path
