"""Rectangles and lines of the far picture, by colour and by id. Shapes in several tables are the same objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field

from PySide6.QtCore import QLineF, QPointF, QRectF

from studio.document.lines import Line

Between = Callable[[Set[str]], Iterable[Line]]
"""The lines that start or end at some items."""
Shift = tuple[float, float]


@dataclass(slots=True)
class FarLists:
    """Everything that is drawn, by id: ``cards`` and ``strokes`` by colour token, ``notches`` by colour of the run."""

    rects: dict[str, QRectF] = field(default_factory=dict)
    cards: dict[str, dict[str, QRectF]] = field(default_factory=dict)
    notches: dict[str, dict[str, QRectF]] = field(default_factory=dict)
    lines: dict[str, QLineF] = field(default_factory=dict)
    strokes: dict[str, dict[str, QLineF]] = field(default_factory=dict)

    def put_rect(self, item_id: str, token: str, rect: QRectF, status: str | None, notch: QRectF | None) -> None:
        """Puts an item in, or in another place or colour."""
        if item_id in self.rects:
            _take_out(self.cards, item_id)
            _take_out(self.notches, item_id)
        self.rects[item_id] = rect
        self.cards.setdefault(token, {})[item_id] = rect
        if status is not None and notch is not None:
            self.notches.setdefault(status, {})[item_id] = notch

    def put_line(self, line_id: str, token: str, line: QLineF) -> None:
        """Puts a line in, or elsewhere, or in another colour."""
        if line_id in self.lines:
            _take_out(self.strokes, line_id)
        self.lines[line_id] = line
        self.strokes.setdefault(token, {})[line_id] = line

    def drop(self, item_id: str) -> None:
        """Takes an item or line out, if it is there."""
        if self.rects.pop(item_id, None) is not None:
            _take_out(self.cards, item_id)
            _take_out(self.notches, item_id)
        elif self.lines.pop(item_id, None) is not None:
            _take_out(self.strokes, item_id)

    def look_of(self, item_id: str) -> tuple[QRectF | None, str, str, Shift]:
        """Everything that decides how one item or line looks: the rectangle around it, its colours, and where a line
        rises. The rectangle is none if it is not there."""
        rect = self.rects.get(item_id)
        if rect is not None:
            return QRectF(rect), _token(self.cards, item_id), _token(self.notches, item_id), (0.0, 0.0)
        line = self.lines.get(item_id)
        if line is None:
            return None, "", "", (0.0, 0.0)
        around = QRectF(line.p1(), line.p2()).normalized()
        return around, _token(self.strokes, item_id), "", (line.dx(), line.dy())

    def only(self, ids: Set[str]) -> FarLists:
        """Some of it, in the same order; for painting: the shapes are the same objects."""
        some = FarLists()
        some.cards = {t: {i: rect for i, rect in of.items() if i in ids} for t, of in self.cards.items()}
        some.strokes = {t: {i: line for i, line in of.items() if i in ids} for t, of in self.strokes.items()}
        some.notches = {t: {i: rect for i, rect in of.items() if i in ids} for t, of in self.notches.items()}
        return some

    def box_of(self, item_id: str) -> tuple[float, float, float, float] | None:
        """Left, top, right and bottom of an item or line; None: it is not there."""
        rect, line = self.rects.get(item_id), self.lines.get(item_id)
        if rect is not None:
            return rect.left(), rect.top(), rect.right(), rect.bottom()
        if line is None:
            return None
        (x1, x2), (y1, y2) = sorted((line.x1(), line.x2())), sorted((line.y1(), line.y2()))
        return x1, y1, x2, y2

    def without(self, gone: frozenset[str] | set[str]) -> FarLists:
        """The same without some; it shares nothing that moves with this one."""
        left = FarLists(
            {i: QRectF(rect) for i, rect in self.rects.items() if i not in gone},
            lines={i: QLineF(line) for i, line in self.lines.items() if i not in gone},
        )
        left.cards = {t: {i: left.rects[i] for i in of if i in left.rects} for t, of in self.cards.items()}
        left.strokes = {t: {i: left.lines[i] for i in of if i in left.lines} for t, of in self.strokes.items()}
        left.notches = {t: {i: QRectF(r) for i, r in of.items() if i not in gone} for t, of in self.notches.items()}
        return left

    # ---- moving

    def shift(self, shifts: Mapping[str, Shift], between: Between) -> None:
        """Moves items, each by its shift, and the ends of lines with them."""
        for item_id, (dx, dy) in shifts.items():
            rect = self.rects.get(item_id)
            if rect is not None:
                rect.translate(dx, dy)
        for notches in self.notches.values():
            for item_id in notches.keys() & shifts.keys():
                notches[item_id].translate(*shifts[item_id])
        still = (0.0, 0.0)
        for joined in between(shifts.keys()):
            if joined.id not in self.lines:
                continue
            line = self.lines[joined.id]
            first, last = shifts.get(joined.source, still), shifts.get(joined.target, still)
            if first == last:
                line.translate(*first)
            else:
                line.setP1(line.p1() + QPointF(*first))
                line.setP2(line.p2() + QPointF(*last))

    def shift_alike(self, ids: frozenset[str], dx: float, dy: float, between: Between) -> None:
        """Moves these items by one shift, and the ends of lines with them."""
        if not self._are_all(ids):
            self.shift(dict.fromkeys(ids, (dx, dy)), between)
            return
        for rects in (self.rects, *self.notches.values()):
            for rect in rects.values():
                rect.translate(dx, dy)
        for line in self.lines.values():
            line.translate(dx, dy)

    def _are_all(self, ids: Set[str]) -> bool:
        return len(ids) >= len(self.rects) and self.rects.keys() <= ids

    def lifted(self, ids: frozenset[str], between: Between) -> Lifted:
        """Sorts what stays from what moves as a whole, before these are dragged."""
        if self._are_all(ids):
            return Lifted(FarLists(), self, [])
        joined = list(between(ids))
        inside = {line.id for line in joined if line.source in ids and line.target in ids}
        edges = [(self.lines[n.id], n.source in ids) for n in joined if n.id in self.lines and n.id not in inside]
        stretched = {line.id for line in joined} - inside
        kept, moving = FarLists(), FarLists()
        for token, cards in self.cards.items():
            moving.cards[token] = {i: rect for i, rect in cards.items() if i in ids}
            kept.cards[token] = {i: rect for i, rect in cards.items() if i not in ids}
        for token, notches in self.notches.items():
            moving.notches[token] = {i: rect for i, rect in notches.items() if i in ids}
            kept.notches[token] = {i: rect for i, rect in notches.items() if i not in ids}
        for token, lines in self.strokes.items():
            moving.strokes[token] = {i: line for i, line in lines.items() if i in inside}
            kept.strokes[token] = {i: n for i, n in lines.items() if i not in inside and i not in stretched}
        return Lifted(kept, moving, edges)


@dataclass(frozen=True, slots=True)
class Lifted:
    """What is painted while something is dragged: lists that stay, lists that move, lines of which one end moves (and
    whether that is the first)."""

    kept: FarLists
    moving: FarLists
    edges: list[tuple[QLineF, bool]]

    def stretched(self, shift: QPointF) -> list[QLineF]:
        """The lines of which one end moved by so much."""
        return [
            QLineF(line.p1() + shift, line.p2()) if first else QLineF(line.p1(), line.p2() + shift)
            for line, first in self.edges
        ]


def _take_out(tables: dict[str, dict[str, QRectF]] | dict[str, dict[str, QLineF]], item_id: str) -> None:
    for table in tables.values():
        if table.pop(item_id, None) is not None:
            return


def _token(tables: Mapping[str, Mapping[str, object]], item_id: str) -> str:
    return next((token for token, table in tables.items() if item_id in table), "")
