"""The picture of checkpoints: a strip while it is low, a tree when there is room."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline import glyphs
from studio.ui.timeline.plan import Plan, Spot, Track
from studio.ui.widgets.labels import chip_width, paint_chip

TREE_FROM = 180
"""From this height on the tree is drawn."""
_DASHES: tuple[tuple[float, ...], ...] = ((), (6, 3), (2, 3), (8, 3, 2, 3))
_HIT = 14


@dataclass(frozen=True, slots=True)
class Measures:
    """Where columns and rows are. ``label`` is the baseline of the column labels."""

    left: int
    pitch: int
    top: int
    row: int
    label: int


STRIP = Measures(96, 124, 34, 36, 18)
TREE = Measures(150, 88, 64, 76, 17)


class TimelineView(QAbstractScrollArea):
    """Hit-testing and keys on a :class:`Plan`."""

    picked = Signal(str)
    """The user selected a checkpoint."""
    restore_requested = Signal(str)
    fork_requested = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.plan = Plan()
        self.here: str | None = None
        self.selected: str | None = None
        self._branch: str | None = None
        self._going_on = False
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Checkpoints"))
        self.viewport().setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        theme.changed.connect(self.viewport().update)

    @property
    def measures(self) -> Measures:
        """The measures for the height that there is."""
        return TREE if self.is_tree else STRIP

    @property
    def is_tree(self) -> bool:
        """Whether branches have rows with names at the left."""
        return self.height() >= TREE_FROM

    def show_plan(self, plan: Plan, here: str | None, selected: str | None, branch: str | None, going_on: bool) -> None:
        """Shows a plan. ``going_on``: the run stands at ``here`` and can go on from it."""
        grown = plan.columns > self.plan.columns
        moved = here != self.here
        self.plan, self.here, self.selected = plan, here, selected
        self._branch, self._going_on = branch, going_on
        self._fit()
        spot = plan.by_id.get(here or "")
        if spot is not None and (grown or moved):
            self.reveal(spot)
        self.viewport().update()

    def center(self, spot: Spot) -> QPointF:
        """The middle of a mark in the viewport."""
        m = self.measures
        x = m.left + spot.column * m.pitch - self.horizontalScrollBar().value()
        return QPointF(x, m.top + spot.row * m.row - self.verticalScrollBar().value())

    def spot_at(self, point: QPointF) -> Spot | None:
        """The mark under a point."""
        m = self.measures
        column = round((point.x() + self.horizontalScrollBar().value() - m.left) / m.pitch)
        for spot in self.plan.by_column.get(column, ()):
            at = self.center(spot)
            if abs(at.x() - point.x()) <= _HIT and abs(at.y() - point.y()) <= _HIT:
                return spot
        return None

    def reveal(self, spot: Spot) -> None:
        """Scrolls so that a mark can be seen."""
        m = self.measures
        across, down = self.horizontalScrollBar(), self.verticalScrollBar()
        x, y = m.left + spot.column * m.pitch, m.top + spot.row * m.row
        width, height = self.viewport().width(), self.viewport().height()
        if x + 150 > across.value() + width:
            across.setValue(x + 150 - width)
        elif x - m.left < across.value():
            across.setValue(x - m.left - m.pitch)
        if y + 24 > down.value() + height:
            down.setValue(y + 24 - height)
        elif y - m.top < down.value():
            down.setValue(y - m.top)

    def pick(self, checkpoint: str) -> None:
        """Selects a checkpoint as the user does."""
        spot = self.plan.by_id.get(checkpoint)
        if spot is not None:
            self.selected = checkpoint
            self.reveal(spot)
            self.viewport().update()
            self.picked.emit(checkpoint)

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 60)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is not None and event.button() == Qt.MouseButton.LeftButton:
            self.pick(spot.checkpoint)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if spot is not None:
            self.restore_requested.emit(spot.checkpoint)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self.spot_at(event.position()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            spot = self.spot_at(QPointF(event.pos()))
            text = self.words(spot) if spot is not None else ""
            QToolTip.showText(event.globalPos(), text, self.viewport())
            return True
        return super().viewportEvent(event)

    def words(self, spot: Spot) -> str:
        """A checkpoint in words."""
        track = self.plan.tracks[spot.row]
        text = tr("Run {number}, {branch}, {label}").format(number=track.number, branch=track.name, label=spot.label)
        if spot.glyph == "broken":
            text += ", " + tr("cannot be restored")
        return text + (f" · {spot.name}" if spot.name else "")

    def keyPressEvent(self, event: QKeyEvent) -> None:
        spot = self.plan.by_id.get(self.selected or self.here or "")
        if spot is None and self.plan.spots:
            spot = self.plan.spots[-1]
        key = event.key()
        if spot is None:
            super().keyPressEvent(event)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            (self.fork_requested if shift else self.restore_requested).emit(spot.checkpoint)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            found = self._neighbour(spot, Qt.Key(key)) if self.selected else spot
            if found is not None:
                self.pick(found.checkpoint)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), self._theme.color("window"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        first, last = self._columns(event.rect().left(), event.rect().right())
        if self.is_tree:
            self._paint_columns(painter, first, last)
            self._paint_capsules(painter)
        self._paint_labels(painter, first, last)
        spots = [s for c in range(first - 1, last + 2) for s in self.plan.by_column.get(c, ())]
        for spot in spots:
            self._paint_link(painter, spot)
        if self._going_on:
            self._paint_next(painter)
        for spot in spots:
            self._paint_spot(painter, spot)
        self._paint_names(painter)

    def _neighbour(self, spot: Spot, key: Qt.Key) -> Spot | None:
        if key == Qt.Key.Key_Left:
            return self.plan.by_id.get(spot.parent or "")
        if key == Qt.Key.Key_Right:
            children = [s for s in self.plan.spots if s.parent == spot.checkpoint]
            return self.plan.next_in_chain(spot) or (children[0] if children else None)
        step = -1 if key == Qt.Key.Key_Up else 1
        same = sorted(self.plan.by_column.get(spot.column, ()), key=lambda s: s.row * step)
        return next((s for s in same if (s.row - spot.row) * step > 0), None)

    def wheelEvent(self, event: QWheelEvent) -> None:
        across = self.horizontalScrollBar()
        turned = event.angleDelta()
        if not self.is_tree and across.maximum() and not turned.x():
            across.setValue(across.value() - turned.y())
        else:
            super().wheelEvent(event)

    def _fit(self) -> None:
        off, needed = Qt.ScrollBarPolicy.ScrollBarAlwaysOff, Qt.ScrollBarPolicy.ScrollBarAsNeeded
        self.setHorizontalScrollBarPolicy(needed if self.is_tree else off)
        m, viewport = self.measures, self.viewport()
        width = m.left + max(0, self.plan.columns - 1) * m.pitch + 230
        height = m.top + max(0, len(self.plan.tracks) - 1) * m.row + (44 if self.is_tree else 24)
        self.horizontalScrollBar().setRange(0, max(0, width - viewport.width()))
        self.horizontalScrollBar().setPageStep(viewport.width())
        self.horizontalScrollBar().setSingleStep(m.pitch // 2)
        self.verticalScrollBar().setRange(0, max(0, height - viewport.height()))
        self.verticalScrollBar().setPageStep(viewport.height())
        self.verticalScrollBar().setSingleStep(m.row)

    def _columns(self, left: int, right: int) -> tuple[int, int]:
        m, scrolled = self.measures, self.horizontalScrollBar().value()
        return max(0, (left + scrolled - m.left) // m.pitch), (right + scrolled - m.left) // m.pitch + 1

    def _look(self, spot: Spot) -> tuple[str, tuple[float, ...]]:
        """Colour token and dashes of a branch: the shown one, the selected one, the others."""
        track = self.plan.tracks[spot.row]
        chosen = self.plan.by_id.get(self.selected or "")
        if chosen is not None and chosen.row == spot.row and self.is_tree and track.branch != self._branch:
            return "accent", ()
        if track.branch == self._branch:
            return "text2", ()
        others = [t.row for t in self.plan.tracks if t.branch != self._branch]
        return "muted", _DASHES[others.index(spot.row) % len(_DASHES)]

    def _paint_columns(self, painter: QPainter, first: int, last: int) -> None:
        m, scrolled = self.measures, self.horizontalScrollBar().value()
        for column in range(first, min(last + 1, self.plan.columns)):
            x = m.left + column * m.pitch - scrolled
            painter.fillRect(x, 26, 1, self.viewport().height() - 36, self._theme.color("line"))

    def _paint_capsules(self, painter: QPainter) -> None:
        chosen = self.plan.by_id.get(self.selected or "")
        for track in self.plan.tracks:
            mine = chosen is not None and chosen.row == track.row
            if track.first < 0 or not (mine or track.branch == self._branch):
                continue
            m = self.measures
            x = m.left + track.first * m.pitch - self.horizontalScrollBar().value()
            y = m.top + track.row * m.row - self.verticalScrollBar().value()
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("soft" if mine and track.branch != self._branch else "hover"))
            painter.drawRoundedRect(QRectF(x - 20, y - 20, (track.last - track.first) * m.pitch + 40, 40), 20, 20)

    def _paint_labels(self, painter: QPainter, first: int, last: int) -> None:
        m, scrolled = self.measures, self.horizontalScrollBar().value()
        if self.verticalScrollBar().value():
            painter.fillRect(0, 0, self.viewport().width(), m.label + 6, self._theme.color("window"))
        here = self.plan.by_id.get(self.here or "")
        for column in range(first, min(last + 1, self.plan.columns + 1)):
            text = self.plan.labels.get(column, "")
            mine = here is not None and here.column == column and not self.is_tree
            if mine and here is not None:
                text = tr("{label} · you are here").format(label=here.label)
            font = self._theme.font("small-strong" if mine else "small")
            painter.setFont(font)
            painter.setPen(self._theme.color("wait_t" if mine else "muted"))
            width = QFontMetrics(font).horizontalAdvance(text)
            painter.drawText(QPoint(m.left + column * m.pitch - scrolled - width // 2, m.label), text)

    def _paint_link(self, painter: QPainter, spot: Spot) -> None:
        parent = self.plan.by_id.get(spot.parent or "")
        if parent is None:
            return
        token, dashes = self._look(spot)
        made = glyphs.pen(self._theme, token, 1.75)
        if dashes:
            made.setDashPattern([d / 1.75 for d in dashes])
        painter.setPen(made)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        a, b = self.center(parent), self.center(spot)
        if parent.row == spot.row:
            painter.drawLine(a, b)
        else:
            step = 30 if self.is_tree else 34
            painter.drawPath(glyphs.branch_path(a.x(), a.y(), b.x(), b.y(), a.x() + step))

    def _paint_next(self, painter: QPainter) -> None:
        here = self.plan.by_id.get(self.here or "")
        if here is None or self.plan.next_in_chain(here) is not None:
            return
        made = glyphs.pen(self._theme, "wait", 1.75)
        made.setDashPattern([4 / 1.75, 4 / 1.75])
        painter.setPen(made)
        at = self.center(here)
        painter.drawLine(at, QPointF(at.x() + self.measures.pitch, at.y()))

    def _paint_spot(self, painter: QPainter, spot: Spot) -> None:
        at = self.center(spot)
        token, _ = self._look(spot)
        filled = spot.splits or bool(spot.name)
        if spot.checkpoint == self.here:
            token, filled = "wait", True
        if spot.checkpoint == self.selected:
            glyphs.draw_selected(painter, self._theme, at.x(), at.y(), focused=self.hasFocus())
            filled = True
        if spot.checkpoint == self.here:
            glyphs.draw_here(painter, self._theme, at.x(), at.y())
        glyphs.draw_glyph(painter, self._theme, at.x(), at.y(), spot.glyph, token, filled=filled)
        self._paint_flags(painter, spot, at)

    def _paint_flags(self, painter: QPainter, spot: Spot, at: QPointF) -> None:
        flags = [(spot.name, "pin", "accent", 18.0)] if spot.name else []
        if spot.checkpoint == self.here and self.is_tree:
            flags.append((tr("you are here"), "pause", "wait", 18.0 + 21 * len(flags)))
        if spot.glyph == "broken" and self.is_tree:
            flags.append((tr("cannot be restored"), "lock", "fail", -35.0))
        for text, icon, tone, down in flags:
            width = chip_width(self._theme, text, icon)
            x = at.x() + 22 - width if spot.splits and tone == "accent" else at.x() - width / 2
            top = at.y() + (down if self.is_tree else 13)
            paint_chip(painter, self._theme, QRectF(x, top, width, 18), text, icon, tone)

    def _paint_names(self, painter: QPainter) -> None:
        current = next((t.number for t in self.plan.tracks if t.branch == self._branch), None)
        for track in self.plan.tracks:
            name = (
                track.name if track.number == current else tr("run {n} {name}").format(n=track.number, name=track.name)
            )
            if self.is_tree:
                self._paint_tree_name(painter, track, name)
            elif track.first >= 0:
                self._paint_strip_name(painter, track, name)
            goes_on = self._going_on and track.branch == self._branch
            if track.last >= 0 and track.ending and not goes_on and (self.is_tree or track.branch != self._branch):
                self._paint_ending(painter, track)

    def _paint_tree_name(self, painter: QPainter, track: Track, name: str) -> None:
        y = self.measures.top + track.row * self.measures.row - self.verticalScrollBar().value()
        painter.fillRect(QRectF(0, y - 20, 128, 44), self._theme.color("window"))
        for text, font, token, dy in ((name, "section", "text", 4), (track.note or track.ending, "small", "muted", 20)):
            painter.setFont(self._theme.font(font))
            painter.setPen(self._theme.color(token))
            shown = QFontMetrics(painter.font()).elidedText(text, Qt.TextElideMode.ElideRight, 114)
            painter.drawText(QPointF(16, y + dy), shown)

    def _paint_strip_name(self, painter: QPainter, track: Track, name: str) -> None:
        first = self.plan.at(track.first, track.row)
        if first is None:
            return
        at = self.center(first)
        font = self._theme.font("small-strong")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color("text"))
        parent = self.plan.by_id.get(first.parent or "")
        if parent is None:
            shown = metrics.elidedText(name, Qt.TextElideMode.ElideLeft, self.measures.left - 24)
            width = metrics.horizontalAdvance(shown)
            x = max(8.0, at.x() - 15 - width)
            if at.x() - 15 - width < 8:
                painter.fillRect(QRectF(0, at.y() - 9, width + 16, 18), self._theme.color("window"))
            painter.drawText(QPointF(x, at.y() + 4), shown)
        else:
            painter.drawText(QPointF(self.center(parent).x() + 48, at.y() - 6), name)

    def _paint_ending(self, painter: QPainter, track: Track) -> None:
        last = self.plan.at(track.last, track.row)
        if last is None:
            return
        at = self.center(last)
        painter.setFont(self._theme.font("small"))
        painter.setPen(self._theme.color("wait_t" if track.waiting else "muted"))
        painter.drawText(QPointF(at.x() + 20 + (4 if self.is_tree else 0), at.y() + 4), track.ending)
