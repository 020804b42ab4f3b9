"""The own glyphs of ``resources/icons`` as painter paths, for places where a pixmap would be blurred by the zoom."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from xml.etree import ElementTree

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QTransform

from studio.ui.paint.ink import Ink
from studio.ui.paint.svgpath import parse
from studio.ui.theme import icons

_GRID = 16.0
_NO_BRUSH = Qt.BrushStyle.NoBrush


@dataclass(frozen=True, slots=True)
class Glyph:
    """An icon at one size: what is stroked with ``width``, and what is filled besides."""

    stroke: QPainterPath
    fill: QPainterPath
    width: float


def _shape(element: ElementTree.Element) -> QPainterPath:
    tag = element.tag.rsplit("}", 1)[-1]

    def number(name: str) -> float:
        return float(element.get(name, "0"))

    if tag == "path":
        return parse(element.get("d", ""))
    path = QPainterPath()
    if tag == "circle":
        path.addEllipse(QPointF(number("cx"), number("cy")), number("r"), number("r"))
    elif tag == "ellipse":
        path.addEllipse(QPointF(number("cx"), number("cy")), number("rx"), number("ry"))
    elif tag == "rect":
        rect = QRectF(number("x"), number("y"), number("width"), number("height"))
        path.addRoundedRect(rect, number("rx"), number("rx"))
    else:
        raise ValueError(tag)
    return path


@cache
def glyph(name: str, size: float = _GRID) -> Glyph:
    """The glyph of this name (without ``own:``), scaled to ``size``. Raises ``KeyError`` for an unknown name."""
    root = ElementTree.fromstring(icons.svg(f"own:{name}"))
    scale = QTransform.fromScale(size / _GRID, size / _GRID)
    stroke, fill = QPainterPath(), QPainterPath()
    for element in root:
        shape = scale.map(_shape(element))
        if element.get("stroke") != "none":
            stroke.addPath(shape)
        if element.get("fill", "none") != "none":
            fill.addPath(shape)
    return Glyph(stroke, fill, float(root.get("stroke-width", "1.4")) * size / _GRID)


def draw_glyph(painter: QPainter, tools: Ink, name: str, x: float, y: float, size: float, token: str) -> None:
    """Draws a glyph with its top left corner at ``x``, ``y``, in a token's colour."""
    shape = glyph(name, size)
    painter.translate(x, y)
    if not shape.fill.isEmpty():
        painter.fillPath(shape.fill, tools.brush(token))
    painter.setBrush(_NO_BRUSH)
    painter.setPen(tools.pen(token, shape.width))
    painter.drawPath(shape.stroke)
    painter.translate(-x, -y)
