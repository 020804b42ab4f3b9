"""SVG path data to ``QPainterPath``: what the glyphs of this project use (all commands; arcs with equal radii)."""

from __future__ import annotations

import math
import re

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainterPath

_TOKEN = re.compile(r"[A-Za-z]|[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COUNT = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "S": 4, "Q": 4, "T": 2, "A": 7, "Z": 0}
_ARC = re.compile(r"([aA])([^a-zA-Z]*)")


def _spread_flags(data: str) -> str:
    """Arc flags may be written without separators (``a1 1 0 012 0``); puts spaces between them."""
    number = r"\s*,?\s*([-+]?(?:\d+\.?\d*|\.\d+))"
    one = re.compile(number * 3 + r"\s*,?\s*([01])\s*,?\s*([01])" + number * 2)
    return _ARC.sub(lambda m: m[1] + one.sub(lambda a: " " + " ".join(a.groups()), m[2]), data)


def parse(data: str) -> QPainterPath:
    """The path of a ``d`` attribute. Raises ``ValueError`` for a command it does not know."""
    path = QPainterPath()
    tokens = _TOKEN.findall(_spread_flags(data))
    at, command = 0, ""
    pen = _Pen(path)
    while at < len(tokens):
        if tokens[at].isalpha():
            command = tokens[at]
            at += 1
        count = _COUNT.get(command.upper())
        if count is None:
            raise ValueError(command)
        pen.draw(command, [float(t) for t in tokens[at : at + count]])
        at += count
        if command in "Mm":
            command = "L" if command == "M" else "l"
    return path


class _Pen:
    """Draws commands one by one; remembers the current point and the last control point."""

    def __init__(self, path: QPainterPath) -> None:
        self._path = path
        self._control: QPointF | None = None

    def draw(self, command: str, n: list[float]) -> None:
        here = self._path.currentPosition()
        relative = command.islower()
        base = here if relative else QPointF()
        upper = command.upper()
        points = (
            [QPointF(base.x() + n[i], base.y() + n[i + 1]) for i in range(0, len(n) - 1, 2)] if upper != "A" else []
        )
        control = self._control or here
        mirrored = QPointF(2 * here.x() - control.x(), 2 * here.y() - control.y())
        self._control = None
        if upper == "M":
            self._path.moveTo(points[0])
        elif upper == "L":
            self._path.lineTo(points[0])
        elif upper == "H":
            self._path.lineTo(base.x() + n[0], here.y())
        elif upper == "V":
            self._path.lineTo(here.x(), base.y() + n[0])
        elif upper == "Z":
            self._path.closeSubpath()
        elif upper == "A":
            _arc(self._path, here, n[0], bool(n[3]), bool(n[4]), QPointF(base.x() + n[5], base.y() + n[6]))
        elif upper in "CS":
            first, second, end = points if upper == "C" else (mirrored, *points)
            self._path.cubicTo(first, second, end)
            self._control = second
        else:
            middle, end = points if upper == "Q" else (mirrored, points[0])
            self._path.quadTo(middle, end)
            self._control = middle


def _arc(path: QPainterPath, start: QPointF, radius: float, large: bool, sweep: bool, end: QPointF) -> None:
    dx, dy = end.x() - start.x(), end.y() - start.y()
    chord = math.hypot(dx, dy)
    if not chord:
        return
    radius = max(radius, chord / 2)
    height = math.sqrt(max(0.0, radius * radius - chord * chord / 4))
    side = 1 if large != sweep else -1
    cx = (start.x() + end.x()) / 2 - side * height * dy / chord
    cy = (start.y() + end.y()) / 2 + side * height * dx / chord
    first = math.degrees(math.atan2(cy - start.y(), start.x() - cx))
    last = math.degrees(math.atan2(cy - end.y(), end.x() - cx))
    span = (first - last) % 360 if sweep else (last - first) % 360
    path.arcTo(QRectF(cx - radius, cy - radius, 2 * radius, 2 * radius), first, -span if sweep else span)
