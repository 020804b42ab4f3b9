"""Edges: C++ path items, whose Python side only decides path and brush; and the chips that stand on them."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QPainter, QPainterPath
from PySide6.QtWidgets import QGraphicsItem, QGraphicsPathItem, QStyleOptionGraphicsItem, QWidget

from studio.document.lines import Line
from studio.ui.canvas import routing
from studio.ui.canvas.item import NO_BRUSH, NO_PEN, PORT_GAP, Look
from studio.ui.canvas.levels import Level
from studio.ui.paint import ChipText

LAYER = 2.0
HEADLESS = frozenset({"into_switch", "into_fan_out", "fan_in"})
"""Kinds of lines that end at a bar or rhombus, without an arrow head."""
DOT = 3.5
"""Radius of the mark of a bend."""
LARGEST = 1.85
"""How much larger than in the scene a chip is at the lowest zoom that shows one."""
_CUT = 6.5
"""The line ends inside the notch of its head."""


@dataclass(frozen=True, slots=True)
class LineState:
    """How a line looks now: ``carrying`` counts queued messages; ``fault`` is an error on this edge."""

    carrying: int = 0
    delivered: bool = False
    refused: str = ""
    """Why the condition was false in this superstep."""
    fault: str = ""
    token: bool = False
    """Whether a turn token is among the queued messages."""


IDLE = LineState()


class EdgeItem(QGraphicsPathItem):
    """One line. No ``paint()`` in Python: the path holds the stroked line and its head."""

    def __init__(self, line: Line, look: Look) -> None:
        super().__init__()
        self.line = line
        self.look = look
        self._points: routing.Points = ((0.0, 0.0), (0.0, 0.0))
        self._bends: routing.Points = ()
        self._flat: routing.Points | None = None
        """The route of which the path is the plain line; None: the path is a stroke with head."""
        self._span = (0.0, 0.0, 0.0, 0.0)
        # All of these without the item's position: while both ends are dragged only that changes.
        self._at = (0.0, 0.0)
        """The item's position."""
        self.stale = False
        """Changed while the far picture was shown, which does not use the path."""
        self.state = IDLE
        self.selected = False
        self.hovered = False
        self.faded = False
        self.setZValue(LAYER)
        self.setPen(NO_PEN)

    # ---- what decides the look

    @property
    def points(self) -> routing.Points:
        """The route, in scene coordinates."""
        return self._moved(self._points)

    @property
    def bends(self) -> routing.Points:
        """The points of the route that a person chose."""
        return self._moved(self._bends)

    @property
    def span(self) -> tuple[float, float, float, float]:
        """Left, top, right, bottom of the route."""
        left, top, right, bottom = self._span
        x, y = self._at
        return (left + x, top + y, right + x, bottom + y)

    @property
    def ends_at(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """The first and the last point of the route."""
        (ax, ay), (bx, by), (x, y) = self._points[0], self._points[-1], self._at
        return (ax + x, ay + y), (bx + x, by + y)

    def _moved(self, points: routing.Points) -> routing.Points:
        x, y = self._at
        return tuple((px + x, py + y) for px, py in points) if x or y else points

    def shift(self, dx: float, dy: float) -> None:
        """Moves the line as it is."""
        x, y = self._at
        self._at = (x + dx, y + dy)
        self.setPos(*self._at)

    def revive(self, line: Line) -> None:
        """Shows a line that was taken out of the scene once more."""
        self.line, self.state = line, IDLE
        self.selected = self.hovered = self.faded = False
        self.setZValue(LAYER)
        self.setOpacity(1.0)
        self.redraw()

    def set_points(self, points: routing.Points, bends: routing.Points = ()) -> None:
        """The route, in scene coordinates, and the bends in it."""
        if points != self.points or bends != self.bends:
            if self._at != (0.0, 0.0):
                self._at = (0.0, 0.0)
                self.setPos(0, 0)
            self._points, self._bends = points, bends
            xs, ys = [p[0] for p in points], [p[1] for p in points]
            self._span = (min(xs), min(ys), max(xs), max(ys))
            self.redraw()

    def set_state(self, state: LineState) -> None:
        if state is not self.state and state != self.state:
            self.state = state
            self.redraw()

    def mark(self, name: str, value: bool) -> None:
        """Sets ``selected`` or ``hovered``."""
        if getattr(self, name) != value:
            setattr(self, name, value)
            self.redraw()

    @property
    def token(self) -> str:
        """Token of its colour."""
        return "accent" if self.selected else self.base_token

    @property
    def base_token(self) -> str:
        """Token of its colour when it is not selected."""
        if self.state.carrying:
            return "run"
        if self.state.fault:
            return "fail"
        if self.state.delivered:
            return "done"
        return "text2" if self.hovered else "edge"

    @property
    def width(self) -> float:
        state = self.state
        return 2.25 if self.selected or state.carrying or state.delivered or self.hovered else 1.75

    @property
    def ends(self) -> tuple[str, str]:
        """Ids of the items it joins."""
        return self.line.source, self.line.target

    @property
    def headless(self) -> bool:
        return self.line.kind in HEADLESS

    def redraw(self) -> None:
        """Path, pen and brush for the level of now."""
        tools, level, token = self.look.ink, self.look.level, self.token
        self.stale = level == Level.FAR
        if self.stale:
            return
        if level <= Level.FLAT:
            wide = self.selected or bool(self.state.carrying)
            self.setBrush(NO_BRUSH)
            self.setPen(tools.pen(token, 2.0 if wide else 1.0, cosmetic=True))
            if self._flat is not self._points:
                self.setPath(routing.polyline(routing.reaching(self._points, PORT_GAP)))
                self._flat = self._points
            return
        self._flat = None
        refused = bool(self.state.refused) and not self.selected
        dash: tuple[float, ...] = (1.5, 4.5) if refused else ()
        square = False
        if self.state.fault:
            dash = (10.0, 5.0)
        elif self.line.kind == "handoff":
            dash, square = (5.0, 3.0), True
        path = routing.outline(
            routing.rounded(self._points, 0.0 if self.headless else _CUT), self.width, dash, square=square
        )
        if not self.headless:
            path.addPath(routing.head(self._points))
        for x, y in self._bends:
            radius = DOT + (1.0 if self.selected or self.hovered else 0.0)
            path.addEllipse(QPointF(x, y), radius, radius)
        self.setPen(NO_PEN)
        self.setBrush(tools.brush(token, 0.8 if refused else 1.0))
        self.setPath(path)

    # ---- picking

    def near(self, at: QPointF, reach: float) -> bool:
        """Whether a point is on the line, within ``reach`` scene units."""
        return routing.distance(self.points, at.x(), at.y()) <= reach

    def bend_at(self, at: QPointF, reach: float) -> int | None:
        """Which bend is at a point, within ``reach`` scene units."""
        near = [(math.hypot(at.x() - x, at.y() - y), i) for i, (x, y) in enumerate(self.bends)]
        distance, index = min(near, default=(math.inf, 0))
        return index if distance <= reach else None

    def part_of(self, at: QPointF) -> int:
        """How many bends the line has passed where it is nearest to a point."""
        points = self.points
        parts = itertools.pairwise(points)
        along = min(enumerate(parts), key=lambda part: routing.distance(part[1], at.x(), at.y()))[0]
        passed = [points.index(bend) if bend in points else -1 for bend in self.bends]
        return sum(1 for index in passed if 0 <= index <= along)


class ChipItem(QGraphicsItem):
    """A chip on an edge: its label or the pill of its queued messages. Only where the level has text."""

    def __init__(self, line_id: str, chip: ChipText, look: Look, *, pill: bool) -> None:
        super().__init__()
        self.line_id = line_id
        self.chip = chip
        self.look = look
        self.pill = pill
        self.selected = False
        self.setZValue(7.0 if pill else 6.0)
        self.setCacheMode(QGraphicsItem.CacheMode.DeviceCoordinateCache)

    @property
    def scale_now(self) -> float:
        """Chips keep their size on the screen where they would become too small to read."""
        return self.look.chip_scale

    @property
    def box(self) -> QRectF:
        scale = self.scale_now
        width, height = self.chip.width * scale, self.chip.height * scale
        return QRectF(-width / 2, -height / 2, width, height)

    @property
    def rect(self) -> QRectF:
        """The chip in scene coordinates."""
        return self.box.translated(self.pos())

    def show_chip(self, chip: ChipText) -> None:
        self.prepareGeometryChange()
        self.chip = chip
        self.update()

    def mark(self, selected: bool) -> None:
        if self.selected != selected:
            self.selected = selected
            self.update()

    def boundingRect(self) -> QRectF:
        # The same at every zoom: the scene's index must not find an item elsewhere than where it put it in.
        width, height = self.chip.width * LARGEST, self.chip.height * LARGEST
        return QRectF(-width / 2, -height / 2, width, height).adjusted(-2, -2, 2, 2)

    def shape(self) -> QPainterPath:
        path = QPainterPath()
        path.addRect(self.box)
        return path

    def paint(self, painter: QPainter, option: QStyleOptionGraphicsItem, widget: QWidget | None = None) -> None:
        scale = self.scale_now
        if scale != 1.0:
            painter.scale(scale, scale)
        self.chip.paint(painter, -self.chip.width / 2, -self.chip.height / 2, selected=self.selected)
