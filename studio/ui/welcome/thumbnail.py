"""A small picture of a workflow, painted from its geometry."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen, QTransform

from studio.document.geometry import turned
from studio.document.layout import arrange
from studio.document.model import FanInEdge, FanOutEdge, SwitchEdge, Workflow
from studio.ui.paint import draw_kind
from studio.ui.theme import Theme

_CARD = (200.0, 64.0)
_BARS = {"join": (8.0, 188.0), "fan_out": (8.0, 64.0), "switch": (40.0, 40.0)}


@dataclass(frozen=True, slots=True)
class Picture:
    """Boxes by id with their kind, and lines between them, in scene units."""

    boxes: dict[str, tuple[str, QRectF]]
    lines: tuple[tuple[str, str], ...]
    down: bool = False
    """Whether lines run from top to bottom."""

    @property
    def bounds(self) -> QRectF:
        """Everything that is drawn, with room for back edges."""
        found = QRectF()
        for _, box in self.boxes.values():
            found = found.united(box)
        if any(self.goes_back(a, b) for a, b in self.lines):
            found.adjust(*((0, -24, 56, 24) if self.down else (-24, 0, 24, 56)))
        return found

    def goes_back(self, source: str, target: str) -> bool:
        """Whether a line runs against the reading direction."""
        first, second = (self.turn.mapRect(self.boxes[i][1]) for i in (source, target))
        return second.left() < first.right() - 1

    @property
    def turn(self) -> QTransform:
        """Exchanges x and y where lines run down."""
        return QTransform(0, 1, 1, 0, 0, 0) if self.down else QTransform()


def picture(workflow: Workflow) -> Picture:
    """What to draw of a workflow; places that are missing are arranged."""
    places = dict(workflow.places)
    kinds = {node.id: node.kind for node in workflow.nodes}
    kinds |= {edge.id: edge.kind for edge in workflow.edges if isinstance(edge, SwitchEdge | FanOutEdge)}
    if any(item not in places for item in kinds):
        places |= {k: v for k, v in arrange(workflow).items() if k not in places}
    boxes, down = {}, workflow.flow == "down"
    for item, kind in kinds.items():
        place = places.get(item)
        if place is not None:
            width, height = _BARS.get(kind, _CARD)
            size = place.width or width, place.height or height
            drawn = turned(size, down=down) if kind in ("join", "fan_out") else size
            boxes[item] = (kind, QRectF(place.x, place.y, *drawn))
    lines = tuple((a, b) for a, b in _lines(workflow) if a in boxes and b in boxes)
    return Picture(boxes, lines, down)


def _lines(workflow: Workflow) -> list[tuple[str, str]]:
    lines: list[tuple[str, str]] = []
    for edge in workflow.edges:
        if isinstance(edge, SwitchEdge):
            targets = [case.target for case in edge.cases] + ([edge.default] if edge.default else [])
            lines += [(edge.source, edge.id)] if edge.source else []
            lines += [(edge.id, target) for target in targets]
        elif isinstance(edge, FanOutEdge):
            lines += [(edge.source, edge.id)] if edge.source else []
            lines += [(edge.id, target) for target in edge.targets]
        elif isinstance(edge, FanInEdge):
            lines += [(source, edge.target) for source in edge.sources]
        else:
            source, target = getattr(edge, "source", None), getattr(edge, "target", None)
            lines += [(source, target)] if isinstance(source, str) and isinstance(target, str) else []
    return lines


def paint_picture(painter: QPainter, theme: Theme, area: QRectF, shown: Picture) -> None:
    """Paints it into an area, dots included, never larger than 30 % of the canvas."""
    painter.fillRect(area, theme.color("canvas"))
    painter.setPen(QPen(theme.color("dot"), 1.4, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
    step = 12
    dots = [
        QPointF(area.left() + x, area.top() + y)
        for x in range(step // 2, round(area.width()), step)
        for y in range(step // 2, round(area.height()), step)
    ]
    painter.drawPoints(dots)
    bounds = shown.bounds
    if bounds.isEmpty():
        return
    scale = min((area.width() - 28) / bounds.width(), (area.height() - 24) / bounds.height(), 0.3)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    middle = area.center()
    origin = QPointF(middle.x() - bounds.center().x() * scale, middle.y() - bounds.center().y() * scale)

    def at(box: QRectF) -> QRectF:
        return QRectF(box.left() * scale + origin.x(), box.top() * scale + origin.y(),
                      box.width() * scale, box.height() * scale)  # fmt: skip

    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(theme.color("edge"), 1.25))
    turn = shown.turn
    low = turn.mapRect(at(bounds)).bottom() - 2
    for source, target in shown.lines:
        first, second = (turn.mapRect(at(shown.boxes[i][1])) for i in (source, target))
        painter.drawPath(turn.map(_route(first, second, low, back=shown.goes_back(source, target))))
    for kind, box in shown.boxes.values():
        _paint_box(painter, theme, at(box), kind)
    painter.restore()


def _paint_box(painter: QPainter, theme: Theme, box: QRectF, kind: str) -> None:
    if kind == "switch":
        painter.setPen(QPen(theme.color("edge"), 1.25))
        painter.setBrush(theme.color("surface"))
        middle = box.center()
        side = max(box.width() / 2, 7)
        corners = (QPointF(0, -side), QPointF(side, 0), QPointF(0, side), QPointF(-side, 0))
        painter.drawPolygon([middle + corner for corner in corners])
        return
    if kind in ("join", "fan_out"):
        bar = QRectF(box.center().x() - 2, box.top(), 4, box.height())
        if box.width() > box.height():
            bar = QRectF(box.left(), box.center().y() - 2, box.width(), 4)
        hollow = kind == "fan_out"
        painter.setPen(QPen(theme.color("edge"), 1))
        painter.setBrush(theme.color("surface" if hollow else "edge"))
        painter.drawRoundedRect(bar, 1.5, 1.5)
        return
    painter.setPen(QPen(theme.color("border"), 1))
    painter.setBrush(theme.color("surface"))
    painter.drawRoundedRect(box, 4, 4)
    disc = min(14.0, box.height() - 4, box.width() / 3)
    left = box.left() + min(5.0, box.width() * 0.1)
    draw_kind(painter, theme, QRectF(left, box.center().y() - disc / 2, disc, disc), kind)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color("border"))
    start = left + disc + 4
    painter.drawRoundedRect(QRectF(start, box.center().y() - 1.75, max(4.0, box.right() - start - 6), 3.5), 1.75, 1.75)


def _route(source: QRectF, target: QRectF, low: float, *, back: bool) -> QPainterPath:
    start = QPointF(source.right(), source.center().y())
    end = QPointF(target.left(), target.center().y())
    if back:
        right, left = start.x() + 8, end.x() - 8
        points = [
            start,
            QPointF(right, start.y()),
            QPointF(right, low),
            QPointF(left, low),
            QPointF(left, end.y()),
            end,
        ]
    elif abs(start.y() - end.y()) < 1.5:
        points = [start, QPointF(end.x(), start.y())]
    else:
        middle = (start.x() + end.x()) / 2
        points = [start, QPointF(middle, start.y()), QPointF(middle, end.y()), end]
    return _rounded(points, 5)


def _rounded(points: list[QPointF], radius: float) -> QPainterPath:
    path = QPainterPath(points[0])
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        into, out = corner - before, after - corner
        first, second = into.manhattanLength(), out.manhattanLength()
        room = min(radius, first / 2, second / 2)
        if room > 0:
            path.lineTo(corner - into * (room / first))
            path.quadTo(corner, corner + out * (room / second))
    path.lineTo(points[-1])
    return path
