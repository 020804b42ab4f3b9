"""Paints a plan: columns, links, marks, chips, names, and the headings in their band above everything."""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline import glyphs
from studio.ui.timeline.measures import Measures
from studio.ui.timeline.plan import Plan, Spot, Track
from studio.ui.widgets.labels import chip_width, paint_chip

_BEYOND = 60
"""Pixels beyond the view from which a line is no longer followed."""
_DIM = 0.28
"""How much is left of a mark that the search does not find."""
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3))


_NAMES = 128
"""Room for the names of branches, at the left of the tree."""


class Shown(Protocol):
    """What the painter asks a view for."""

    plan: Plan
    here: str | None
    selected: str | None
    branch: str | None
    going_on: bool
    found: frozenset[str] | None
    compared: str | None

    @property
    def measures(self) -> Measures: ...

    @property
    def is_tree(self) -> bool: ...

    def center(self, spot: Spot) -> QPointF: ...

    def row_y(self, row: int) -> int: ...

    def column_x(self, column: int) -> int: ...

    def name_rect(self, track: Track) -> QRectF: ...

    def hasFocus(self) -> bool: ...


class TimelinePainter:
    """Paints one frame of a view."""

    def __init__(self, painter: QPainter, theme: Theme, view: Shown, size: QRect) -> None:
        self._painter, self._theme, self._view, self._size = painter, theme, view, size
        self._plan, self._m = view.plan, view.measures
        first = max(0, -((view.row_y(0) - self._m.band) // self._m.row))  # a row under the band leaves no chips behind
        last = (size.height() + self._m.above - view.row_y(0)) // self._m.row + 1
        self._tracks = self._plan.tracks[first:last]
        self._in_view = range(first, last)
        self._left, self._top = view.column_x(0), view.row_y(0)
        self._through: set[tuple[float, float | None]] = set()
        """Where a fork's line goes out of view below: from above (None) or from a height in view."""

    def paint(self, area: QRect) -> None:
        """Everything that lies in ``area``."""
        painter, band = self._painter, self._m.band
        painter.fillRect(area, self._theme.color("window"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first = max(0, (area.left() - self._view.column_x(0)) // self._m.pitch - 1)
        last = (area.right() - self._view.column_x(0)) // self._m.pitch + 2
        painter.setClipRect(QRect(0, band, self._size.width(), self._size.height() - band))
        self._rows(first, last)
        painter.setClipping(False)
        painter.fillRect(0, 0, self._size.width(), band, self._theme.color("window"))
        self._headings(first, last)

    def _rows(self, first: int, last: int) -> None:
        if self._view.is_tree:
            self._columns(first, last)
            self._capsules()
        around = [s for c in range(first, last) for s in self._plan.by_column.get(c, ())]
        spots = [s for s in around if s.row in self._in_view]
        own = self._marked_rows()
        for spot in sorted(around, key=lambda s: s.row in own):  # theirs lie above those of the others
            self._link(spot)
        if self._view.going_on:
            self._next()
        for spot in spots:
            self._spot(spot)
        self._names()

    def _center(self, spot: Spot) -> QPointF:
        """The same as the view's, which looks up its measures each time."""
        shift = self._m.shift if spot.between else 0
        return QPointF(self._left + spot.column * self._m.pitch + shift, self._top + spot.row * self._m.row)

    def _marked_rows(self) -> frozenset[int]:
        """The rows that have a look of their own: of the shown branch and of the selected checkpoint."""
        chosen = self._plan.by_id.get(self._view.selected or "")
        shown = self._plan.row_of.get(self._view.branch or "", -1)
        return frozenset({shown, chosen.row if chosen is not None else -1})

    def _look(self, spot: Spot) -> tuple[str, tuple[float, ...]]:
        """Colour token and dashes of a branch: the shown one, the selected one, the others."""
        shown = self._view.branch
        track = self._plan.tracks[spot.row]
        chosen = self._plan.by_id.get(self._view.selected or "")
        if chosen is not None and chosen.row == spot.row and self._view.is_tree and track.branch != shown:
            return "accent", ()
        if track.branch == shown:
            return "text2", ()
        others = spot.row - (spot.row > self._plan.row_of.get(shown or "", len(self._plan.tracks)))
        return "muted", _DASHES[others % len(_DASHES)]

    def _columns(self, first: int, last: int) -> None:
        for column in range(first, min(last, self._plan.columns)):
            x, top = self._view.column_x(column), self._m.band
            self._painter.fillRect(x, top, 1, self._size.height() - top - 10, self._theme.color("line"))

    def _capsules(self) -> None:
        chosen = self._plan.by_id.get(self._view.selected or "")
        for track in self._tracks:
            mine = chosen is not None and chosen.row == track.row
            first = self._plan.at(track.first, track.row)
            if first is None or not (mine or track.branch == self._view.branch):
                continue
            x, y = self._center(first).x(), self._view.row_y(track.row)
            width = self._view.column_x(track.last) - x + (self._m.shift if first.between and track.length == 1 else 0)
            self._painter.setPen(Qt.PenStyle.NoPen)
            token = "soft" if mine and track.branch != self._view.branch else "hover"
            self._painter.setBrush(self._theme.color(token))
            self._painter.drawRoundedRect(QRectF(x - 20, y - 20, width + 40, 40), 20, 20)

    def _headings(self, first: int, last: int) -> None:
        here = self._plan.by_id.get(self._view.here or "")
        for column in range(first, min(last, self._plan.columns)):
            text = self._plan.labels.get(column, "")
            mine = here is not None and here.column == column and self._is_told_above(here)
            if mine:
                text = tr("{label} · you are here").format(label=text)
            font = self._theme.font("small-strong" if mine else "small")
            self._painter.setFont(font)
            self._painter.setPen(self._theme.color("wait_t" if mine else "muted"))
            width = QFontMetrics(font).horizontalAdvance(text)
            self._painter.drawText(QPoint(self._view.column_x(column) - width // 2, self._m.label), text)

    def _is_told_above(self, here: Spot) -> bool:
        """Whether the heading of the column can say "you are here" without saying anything wrong."""
        return not self._view.is_tree and not here.between and not here.own_label

    def _link(self, spot: Spot) -> None:
        parent = self._plan.by_id.get(spot.parent or "")
        if parent is None or not self._crosses(parent.row, spot.row):
            return
        token, dashes = self._look(spot)
        made = glyphs.pen(self._theme, token, 1.75)
        if dashes:
            made.setDashPattern([d / 1.75 for d in dashes])
        self._painter.setPen(made)
        self._painter.setBrush(Qt.BrushStyle.NoBrush)
        a, b = self._center(parent), self._center(spot)
        if parent.row == spot.row:
            self._painter.drawLine(a, b)
        else:
            step = self._m.leg if not spot.between else self._m.shift // 2
            self._leg(a, b, a.x() + step, once=token == "muted")

    def _leg(self, a: QPointF, b: QPointF, x: float, *, once: bool) -> None:
        """A fork's line. What is far out of view is left out, and lines that leave the view below are drawn once for
        all that lie on each other (``once``): dashes over thousands of pixels cost most of a frame."""
        top, bottom = -_BEYOND, self._size.height() + _BEYOND
        above, below = a.y() < top, b.y() > bottom
        if below:
            way = (x, None if above else a.y())
            if once and way in self._through:
                return
            self._through.add(way)
        if above and below:
            self._painter.setRenderHint(QPainter.RenderHint.Antialiasing, on=False)  # upright: nothing to smooth
            self._painter.drawLine(QPointF(x, top), QPointF(x, bottom))
            self._painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            return
        start = QPointF(x, top) if above else a
        if below:
            self._painter.drawPath(glyphs.branch_path(a.x(), a.y(), x + 12, bottom, x))
        else:
            self._painter.drawPath(glyphs.branch_path(start.x(), start.y(), b.x(), b.y(), x))

    def _crosses(self, one: int, other: int) -> bool:
        """Whether a line between two rows goes through the rows in view."""
        return min(one, other) < self._in_view.stop and max(one, other) >= self._in_view.start

    def _next(self) -> None:
        here = self._plan.by_id.get(self._view.here or "")
        if here is None or self._plan.next_in_chain(here) is not None:
            return
        made = glyphs.pen(self._theme, "wait", 1.75)
        made.setDashPattern([4 / 1.75, 4 / 1.75])
        self._painter.setPen(made)
        at = self._center(here)
        self._painter.drawLine(at, QPointF(self._view.column_x(here.column + 1), at.y()))

    def _spot(self, spot: Spot) -> None:
        view, at = self._view, self._center(spot)
        self._painter.setOpacity(1.0 if view.found is None or spot.checkpoint in view.found else _DIM)
        token, _ = self._look(spot)
        filled = spot.splits or bool(spot.title) or spot.pinned
        if spot.checkpoint == view.here:
            token, filled = "wait", True
        if spot.checkpoint == view.selected:
            glyphs.draw_selected(self._painter, self._theme, at.x(), at.y(), focused=view.hasFocus())
            filled = True
        if spot.checkpoint == view.here:
            glyphs.draw_here(self._painter, self._theme, at.x(), at.y())
        glyphs.draw_glyph(self._painter, self._theme, at.x(), at.y(), spot.glyph, token, filled=filled)
        self._words_below(spot, at)
        self._flags(spot, at)
        self._painter.setOpacity(1.0)

    def _words_below(self, spot: Spot, at: QPointF) -> None:
        """The label of a mark whose column is called otherwise, and "you are here" where the heading cannot say it."""
        here = spot.checkpoint == self._view.here and not self._view.is_tree and not self._is_told_above(spot)
        texts = [spot.own_label, tr("you are here") if here else ""]
        text = " · ".join(t for t in texts if t)
        if text:
            font = self._theme.font("small-strong" if here else "small")
            self._painter.setFont(font)
            self._painter.setPen(self._theme.color("wait_t" if here else "muted"))
            width = QFontMetrics(font).horizontalAdvance(text)
            top = -12 if self._view.is_tree else 20
            self._painter.drawText(QPointF(at.x() - width / 2, at.y() + top), text)

    def _flags(self, spot: Spot, at: QPointF) -> None:
        below = 18.0 if self._view.is_tree else 12.0
        flags: list[tuple[str, str, str, float]] = []
        if spot.title or spot.pinned:
            last = spot.glyph == "finished"
            icon = "pin" if spot.pinned else "flag" if spot.name else "tag"
            flags.append((spot.title, icon, "" if last and not spot.pinned else "accent", below))
        if spot.checkpoint == self._view.here and self._view.is_tree:
            flags.append((tr("you are here"), "pause", "wait", below + 21 * len(flags)))
        after = self._plan.next_in_chain(spot)
        if spot.glyph == "broken" and self._view.is_tree and (after is None or after.glyph != "broken"):
            flags.append((tr("cannot be restored"), "lock", "fail", -35.0))
        if spot.checkpoint == self._view.compared:
            flags.append((tr("compare"), "columns-2", "accent", -30.0))
        room = self._room(spot)
        for text, icon, tone, down in flags:
            width = min(chip_width(self._theme, text, icon), room)
            x = at.x() + 22 - width if spot.splits and tone == "accent" and text else at.x() - width / 2
            paint_chip(self._painter, self._theme, QRectF(x, at.y() + down, width, 18), text, icon, tone)

    def _has_flag(self, spot: Spot | None) -> bool:
        here = spot is not None and spot.checkpoint == self._view.here and self._view.is_tree
        return spot is not None and (here or bool(spot.title) or spot.pinned)

    def _room(self, spot: Spot) -> int:
        """How wide a chip may be beside the chips of its neighbours."""
        before = self._plan.by_id.get(spot.parent or "")
        beside = (before if before is not None and before.row == spot.row else None, self._plan.next_in_chain(spot))
        return self._m.pitch - 6 if any(map(self._has_flag, beside)) else 2 * self._m.pitch - 20

    def _names(self) -> None:
        row = self._plan.row_of.get(self._view.branch or "")
        current = self._plan.tracks[row].number if row is not None else None
        for track in self._tracks:
            name = track.name
            if track.number != current:
                name = tr("run {n} {name}").format(n=track.number, name=track.name)
            if self._view.is_tree:
                self._tree_name(track, name)
            elif track.first >= 0:
                self._strip_name(track, name)
            mine = track.branch == self._view.branch
            goes_on = self._view.going_on and mine
            if track.last >= 0 and track.ending and not goes_on and (self._view.is_tree or not mine):
                self._ending(track)

    def _tree_name(self, track: Track, name: str) -> None:
        y = self._view.row_y(track.row)
        self._painter.fillRect(QRectF(0, y - 20, _NAMES, 44), self._theme.color("window"))
        for text, font, token, dy in ((name, "section", "text", 4), (track.note or track.moment, "small", "muted", 20)):
            self._painter.setFont(self._theme.font(font))
            self._painter.setPen(self._theme.color(token))
            shown = QFontMetrics(self._painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, 114)
            self._painter.drawText(QPointF(16, y + dy), shown)

    def _strip_name(self, track: Track, name: str) -> None:
        first = self._plan.at(track.first, track.row)
        if first is None:
            return
        at, place = self._center(first), self._view.name_rect(track)
        font = self._theme.font("small-strong")
        metrics = QFontMetrics(font)
        self._painter.setFont(font)
        self._painter.setPen(self._theme.color("text"))
        if self._plan.by_id.get(first.parent or "") is not None:
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideRight, round(place.width()))
            self._painter.drawText(QPointF(place.left(), at.y() - 6), shown)
            return
        shown = metrics.elidedText(name, Qt.TextElideMode.ElideLeft, self._m.left - 24)
        width = metrics.horizontalAdvance(shown)
        x = max(8.0, at.x() - 15 - width)
        if at.x() - 15 - width < 8:
            self._painter.fillRect(QRectF(0, at.y() - 9, width + 16, 18), self._theme.color("window"))
        self._painter.drawText(QPointF(x, at.y() + 4), shown)

    def _ending(self, track: Track) -> None:
        last = self._plan.at(track.last, track.row)
        if last is not None:
            at = self._center(last)
            self._painter.setFont(self._theme.font("small"))
            self._painter.setPen(self._theme.color("wait_t" if track.waiting else "muted"))
            x = at.x() + self._m.beside(splits=last.splits) + (4 if self._view.is_tree else 0)
            if x >= (_NAMES if self._view.is_tree else self._m.left):  # else it would lie under the name
                self._painter.drawText(QPointF(x, at.y() + 4), track.ending)
