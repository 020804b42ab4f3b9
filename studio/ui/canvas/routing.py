"""Routes of edges: orthogonal, left to right, around cards where that is possible; back edges below the graph."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainterPath, QPainterPathStroker, QTransform

Points = tuple[tuple[float, float], ...]

STUB = 18.0
"""Straight part between a port and the first bend."""
CLEARANCE = 16.0
RADIUS = 10.0
BELOW = 48.0
"""A back edge runs this far below what it passes."""
TRACK = 12.0
"""Distance of back edges from each other."""
LABEL_ABOVE = 15.0
"""How far above a short line its label stands."""
CLEAR = 6.5
"""Between a level line, with its head, and a label that stands beside it."""
HEAD = QPainterPath()
HEAD.moveTo(0, 0)
HEAD.lineTo(-9, 4.8)
HEAD.lineTo(-7, 0)
HEAD.lineTo(-9, -4.8)
HEAD.closeSubpath()


@dataclass(frozen=True, slots=True)
class End:
    """Where an edge leaves or arrives: the attachment point, the side, and the gap that is left free before it."""

    x: float
    y: float
    side: Literal["right", "left", "bottom", "top"]
    gap: float


Box = tuple[str, float, float, float, float]
"""Id, left, top, right, bottom."""
_NONE: dict[str, Box] = {}


class Blocks:
    """Boxes that edges should not cross, found by place."""

    _CELL = 320.0

    def __init__(self) -> None:
        self._cells: dict[tuple[int, int], dict[str, Box]] = {}
        self._boxes: dict[str, Box] = {}

    def put(self, item_id: str, rect: QRectF) -> QRectF | None:
        """Puts a box in, or moves it; returns where it was before."""
        before = self._boxes.get(item_id)
        self.drop(item_id)
        box = (item_id, rect.left(), rect.top(), rect.right(), rect.bottom())
        self._boxes[item_id] = box
        for cell in self._over(*box[1:]):
            self._cells.setdefault(cell, {})[item_id] = box
        return QRectF(QPointF(*before[1:3]), QPointF(*before[3:])) if before is not None else None

    def drop(self, item_id: str) -> None:
        """Takes a box out, if it is there."""
        box = self._boxes.pop(item_id, None)
        if box is not None:
            for cell in self._over(*box[1:]):
                del self._cells[cell][item_id]

    def clear_all(self) -> None:
        self._cells.clear()
        self._boxes.clear()

    def _over(self, left: float, top: float, right: float, bottom: float) -> Iterator[tuple[int, int]]:
        size = self._CELL
        for column in range(math.floor(left / size), math.floor(right / size) + 1):
            for row in range(math.floor(top / size), math.floor(bottom / size) + 1):
                yield column, row

    def hit(self, left: float, top: float, right: float, bottom: float, free: frozenset[str]) -> Box | None:
        """A box that overlaps this rectangle, other than those in ``free``."""
        if not self._cells:
            return None
        for cell in self._over(left, top, right, bottom):
            for box in self._cells.get(cell, _NONE).values():
                if box[1] < right and box[3] > left and box[2] < bottom and box[4] > top and box[0] not in free:
                    return box
        return None

    def clear(self, points: Sequence[tuple[float, float]], free: frozenset[str], margin: float = 4.0) -> bool:
        """Whether no segment crosses a box."""
        return all(
            self.hit(
                min(a[0], b[0]) - margin,
                min(a[1], b[1]) - margin,
                max(a[0], b[0]) + margin,
                max(a[1], b[1]) + margin,
                free,
            )
            is None
            for a, b in itertools.pairwise(points)
        )


def is_back(start: End, end: End) -> bool:
    """Whether an edge leads to the left, so that it has to run below."""
    return end.x - end.gap < start.x + start.gap + (CLEARANCE if start.side != "bottom" else -STUB)


def two_bends(start: End, end: End, below: float | None = None) -> Points:
    """The plain route: straight, one vertical leg, or below everything at ``below`` for a back edge."""
    p, q = (start.x, start.y), (end.x - end.gap, end.y)
    if start.side == "bottom":
        return _from_bottom(p, q, start, end, below)
    p = (start.x + start.gap, start.y)
    if not is_back(start, end):
        return _z(p, q, (p[0] + q[0]) / 2)
    level = below if below is not None else max(p[1], q[1]) + 64
    return (p, (p[0] + STUB, p[1]), (p[0] + STUB, level), (q[0] - STUB, level), (q[0] - STUB, q[1]), q)


def _from_bottom(p: tuple[float, float], q: tuple[float, float], start: End, end: End, below: float | None) -> Points:
    if is_back(start, end):
        level = below if below is not None else max(p[1], q[1]) + 64
        return (p, (p[0], level), (q[0] - STUB, level), (q[0] - STUB, q[1]), q)
    if q[1] >= p[1] + CLEARANCE:
        return (p, (p[0], q[1]), q)
    return (p, (p[0], p[1] + STUB), (q[0] - STUB, p[1] + STUB), (q[0] - STUB, q[1]), q)


def _z(p: tuple[float, float], q: tuple[float, float], middle: float) -> Points:
    return (p, q) if abs(p[1] - q[1]) < 0.5 else (p, (middle, p[1]), (middle, q[1]), q)


def around(start: End, end: End, blocks: Blocks, free: frozenset[str], below: float | None = None) -> Points:
    """The route that crosses no card, if there is a short one; else the plain one. ``free``: ids of both ends."""
    plain = two_bends(start, end, below)
    if is_back(start, end):
        between = _between_rows(start, end, blocks, free) if start.side == "right" else None
        return between or plain
    if start.side == "bottom" or blocks.clear(plain, free):
        return plain
    p, q = plain[0], plain[-1]
    if len(plain) > 2:
        for middle in (q[0] - STUB, p[0] + STUB, p[0] + (q[0] - p[0]) / 4, q[0] - (q[0] - p[0]) / 4):
            route = _z(p, q, middle)
            if blocks.clear(route, free):
                return route
    return _channel(p, q, blocks, free) or plain


def _between_rows(start: End, end: End, blocks: Blocks, free: frozenset[str]) -> Points | None:
    """Between two cards that stand above each other, if the gap is free."""
    p, q = (start.x + start.gap, start.y), (end.x - end.gap, end.y)
    if abs(p[1] - q[1]) < 96 or p[0] - q[0] > 360:
        return None
    level = (p[1] + q[1]) / 2
    route = (p, (p[0] + STUB, p[1]), (p[0] + STUB, level), (q[0] - STUB, level), (q[0] - STUB, q[1]), q)
    return route if blocks.clear(route[1:-1], free) else None


def _channel(p: tuple[float, float], q: tuple[float, float], blocks: Blocks, free: frozenset[str]) -> Points | None:
    """Over or under what is in the way: the nearest level on which the whole route is free."""
    left, right = p[0] + STUB, q[0] - STUB
    if right <= left:
        return None
    levels = {p[1], q[1]}
    for level in (p[1], q[1]):
        for _ in range(8):
            box = blocks.hit(left, level - 4, right, level + 4, free)
            if box is None:
                break
            levels |= {box[2] - CLEARANCE, box[4] + CLEARANCE}
            level = box[4] + CLEARANCE
    middle = (p[1] + q[1]) / 2
    for level in sorted(levels, key=lambda y: abs(y - middle)):
        route = (p, (left, p[1]), (left, level), (right, level), (right, q[1]), q)
        if blocks.clear(route, free):
            return _straightened(route)
    return None


def _straightened(points: Points) -> Points:
    kept = [points[0]]
    for i in range(1, len(points) - 1):
        (ax, ay), (bx, by), (cx, cy) = kept[-1], points[i], points[i + 1]
        if not ((ax == bx == cx) or (ay == by == cy) or (ax, ay) == (bx, by)):
            kept.append(points[i])
    return (*kept, points[-1])


def through(start: End, end: End, bends: Sequence[tuple[float, float]]) -> Points:
    """The route over points that a person chose, of level and upright parts; it turns back as little as it can."""
    at = (start.x, start.y) if start.side == "bottom" else (start.x + start.gap, start.y)
    way = (0, 1) if start.side == "bottom" else (1, 0)
    points = [at]
    for bend in bends:
        corners, way = _to_bend(points[-1], way, bend)
        points += corners
    points += _to_end(points[-1], way, (end.x - end.gap, end.y))
    return _without_needless(points)


def _without_needless(points: Sequence[tuple[float, float]]) -> Points:
    """Points that lie between their neighbours on one straight part left out; where it turns back, they stay."""
    kept = [points[0]]
    for i in range(1, len(points) - 1):
        (ax, ay), (bx, by), (cx, cy) = kept[-1], points[i], points[i + 1]
        level = ay == by == cy and min(ax, cx) <= bx <= max(ax, cx)
        upright = ax == bx == cx and min(ay, cy) <= by <= max(ay, cy)
        if not level and not upright and (ax, ay) != (bx, by):
            kept.append(points[i])
    return (*kept, points[-1])


Way = tuple[int, int]


def _sign(value: float) -> int:
    return 1 if value >= 0 else -1


def _to_bend(at: tuple[float, float], way: Way, bend: tuple[float, float]) -> tuple[list[tuple[float, float]], Way]:
    """Corners up to a bend, and the direction in which the line gets there."""
    (x, y), (bx, by) = at, bend
    if way[0]:
        if (bx - x) * way[0] >= 0:
            return ([(bx, y), bend], (0, _sign(by - y))) if abs(by - y) > 0.5 else ([bend], way)
        out = x + way[0] * STUB
        return [(out, y), (out, by), bend], (_sign(bx - out), 0)
    if (by - y) * way[1] >= 0:
        return ([(x, by), bend], (_sign(bx - x), 0)) if abs(bx - x) > 0.5 else ([bend], way)
    return [(bx, y), bend], (0, _sign(by - y))


def _to_end(at: tuple[float, float], way: Way, end: tuple[float, float]) -> list[tuple[float, float]]:
    """Corners from the last bend to the arrow head, which points to the right."""
    (x, y), (ex, ey) = at, end
    before = ex - STUB
    if way[1] and (ey - y) * way[1] >= 0 and before >= x:
        return [(x, ey), end]
    if way == (1, 0) and abs(ey - y) <= 0.5 and ex >= x:
        return [end]
    if way[0] and (before - x) * way[0] < 0:
        out = x + way[0] * STUB
        middle = (y + ey) / 2 if abs(ey - y) > BELOW else max(y, ey) + BELOW
        return [(out, y), (out, middle), (before, middle), (before, ey), end]
    if way == (-1, 0) and abs(ey - y) <= 0.5:
        return [(x, y + BELOW), (before, y + BELOW), (before, ey), end]
    return [(before, y), (before, ey), end]


def self_loop(start: End, end: End, bottom: float) -> Points:
    """From a card's right port around below it to its own left port."""
    p, q = (start.x + start.gap, start.y), (end.x - end.gap, end.y)
    level = bottom + 24
    return (p, (p[0] + STUB, p[1]), (p[0] + STUB, level), (q[0] - STUB, level), (q[0] - STUB, q[1]), q)


# ------------------------------------------------------------------------------------------------ paths


def rounded(points: Points, cut: float = 0.0) -> QPainterPath:
    """The line with rounded corners; ``cut`` units are left out at its end."""
    shown = list(points)
    if cut and len(shown) > 1:
        (ax, ay), (bx, by) = shown[-2], shown[-1]
        length = math.hypot(bx - ax, by - ay) or 1.0
        shown[-1] = (bx - (bx - ax) / length * cut, by - (by - ay) / length * cut)
    path = QPainterPath(QPointF(*shown[0]))
    for (ax, ay), (bx, by), (cx, cy) in zip(shown, shown[1:], shown[2:], strict=False):
        before, after = math.hypot(bx - ax, by - ay), math.hypot(cx - bx, cy - by)
        bend = min(RADIUS, before / 2, after / 2)
        if bend:
            path.lineTo(bx - (bx - ax) / before * bend, by - (by - ay) / before * bend)
            path.quadTo(bx, by, bx + (cx - bx) / after * bend, by + (cy - by) / after * bend)
    path.lineTo(*shown[-1])
    return path


def polyline(points: Points) -> QPainterPath:
    """The line without rounding."""
    path = QPainterPath(QPointF(*points[0]))
    for x, y in points[1:]:
        path.lineTo(x, y)
    return path


def reaching(points: Points, by: float) -> Points:
    """The line longer by so much at both ends: where no ports and heads are drawn it goes up to the cards."""
    return (_beyond(points[1], points[0], by), *points[1:-1], _beyond(points[-2], points[-1], by))


def _beyond(start: tuple[float, float], end: tuple[float, float], by: float) -> tuple[float, float]:
    dx, dy = end[0] - start[0], end[1] - start[1]
    part = by / (math.hypot(dx, dy) or 1.0)
    return end[0] + dx * part, end[1] + dy * part


def head(points: Points) -> QPainterPath:
    """The arrow head at the end of a line."""
    (ax, ay), (bx, by) = points[-2], points[-1]
    turn = QTransform().translate(bx, by).rotate(math.degrees(math.atan2(by - ay, bx - ax)))
    return turn.map(HEAD)


def outline(line: QPainterPath, width: float, dash: tuple[float, ...] = (), *, square: bool = False) -> QPainterPath:
    """What a pen of this width covers: lets one filled path hold a line and its head."""
    stroker = QPainterPathStroker()
    stroker.setWidth(width)
    stroker.setCurveThreshold(0.1)
    if dash:
        stroker.setDashPattern([d / width for d in dash])
        stroker.setCapStyle(Qt.PenCapStyle.SquareCap if square else Qt.PenCapStyle.RoundCap)
    made = stroker.createStroke(line)
    made.setFillRule(Qt.FillRule.WindingFill)
    return made


def distance(points: Points, x: float, y: float) -> float:
    """How far a point is from a line."""
    best = math.inf
    for (ax, ay), (bx, by) in itertools.pairwise(points):
        dx, dy = bx - ax, by - ay
        length = dx * dx + dy * dy
        t = max(0.0, min(1.0, ((x - ax) * dx + (y - ay) * dy) / length)) if length else 0.0
        best = min(best, math.hypot(x - ax - t * dx, y - ay - t * dy))
    return best


def label_spot(points: Points, width: float, taken: float = 0.0) -> tuple[float, float]:
    """The middle of a label of this width: on the longest level part, else on the longest part.

    ``taken``: length at the start of the first part that something else covers. Where the part is shorter than the
    label it stands above the line, so that ends and heads are seen."""
    best, spot = -math.inf, points[0]
    fits = False
    for i, ((ax, ay), (bx, by)) in enumerate(itertools.pairwise(points)):
        length = abs(bx - ax) + abs(by - ay)
        room = length - (taken if i == 0 else 0)
        level = abs(by - ay) < 0.5
        score = room + (10000 if level and room >= width * 0.75 else 0)
        if score > best:
            shift = taken / 2 / length if i == 0 and length else 0.0
            best, spot = score, (ax + (bx - ax) * (0.5 + shift), ay + (by - ay) * (0.5 + shift))
            fits = not level or room >= width * 0.95
    return spot if fits else (spot[0], spot[1] - LABEL_ABOVE)


def spots_on(points: Points) -> Iterator[tuple[float, float]]:
    """Middles of a label on the straight parts of a line, longest part first."""
    for (ax, ay), (bx, by) in _longest_first(points):
        for part in (0.5, 0.75, 0.25):
            yield ax + (bx - ax) * part, ay + (by - ay) * part


def spots_beside(points: Points, width: float, height: float) -> Iterator[tuple[float, float]]:
    """Middles of a label of this size beside the straight parts of a line, longest part first."""
    for (ax, ay), (bx, by) in _longest_first(points):
        x, y = (ax + bx) / 2, (ay + by) / 2
        if abs(by - ay) >= 0.5:
            yield from ((x + width / 2 + 6, y), (x - width / 2 - 6, y))
            continue
        near, far = height / 2 + CLEAR, height / 2 + 38
        yield from ((x, y - near), (x, y + near), (x, y - far), (x + width / 2, y - far), (x, y + far))


def _longest_first(points: Points) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    return sorted(itertools.pairwise(points), key=lambda p: -abs(p[1][0] - p[0][0]) - abs(p[1][1] - p[0][1]))


def crosses(points: Points, left: float, top: float, right: float, bottom: float) -> bool:
    """Whether a line of level and upright parts runs through a rectangle."""
    return any(
        min(ax, bx) < right and max(ax, bx) > left and min(ay, by) < bottom and max(ay, by) > top
        for (ax, ay), (bx, by) in itertools.pairwise(points)
    )


def pill_spot(points: Points, width: float) -> tuple[float, float]:
    """The middle of a message pill: on the first straight part after the source that has room."""
    parts = list(itertools.pairwise(points))
    for (ax, ay), (bx, by) in parts:
        if abs(bx - ax) + abs(by - ay) >= width + 8:
            return (ax + bx) / 2, (ay + by) / 2
    (ax, ay), (bx, by) = max(parts, key=lambda part: abs(part[1][0] - part[0][0]) + abs(part[1][1] - part[0][1]))
    return (ax + bx) / 2, (ay + by) / 2
