"""The picture of checkpoints: a strip while it is low, a tree when there is room."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QHelpEvent,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.timeline.measures import STRIP, TREE, Measures
from studio.ui.timeline.name_editor import NameEditor
from studio.ui.timeline.painting import TimelinePainter
from studio.ui.timeline.plan import Plan, Spot, Track

TREE_FROM = 180
"""From this height on the tree is drawn."""
_HIT = 14


class TimelineView(QAbstractScrollArea):
    """Hit-testing and keys on a :class:`Plan`."""

    picked = Signal(str)
    """The user selected a checkpoint."""
    restore_requested = Signal(str)
    fork_requested = Signal(str)
    branch_requested = Signal(str)
    """The user clicked on the name of a branch."""
    named = Signal(str, str)
    """A checkpoint and its new name."""
    branch_named = Signal(str, str)
    tagged = Signal(str, str)
    """A checkpoint and its tags, as they were typed."""
    pin_requested = Signal(str)
    compare_requested = Signal(str, str)
    """Two checkpoints."""
    find_requested = Signal(int)
    """0: the search is opened; 1, -1: the next or previous one that is found."""
    menu_requested = Signal(object, object, QPoint)
    """The :class:`Spot` or None, the :class:`Track` or None, and the place on the screen."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.plan = Plan()
        self.here: str | None = None
        self.selected: str | None = None
        self.branch: str | None = None
        self.going_on = False
        self.found: frozenset[str] | None = None
        """What a search finds; None: nothing is looked for."""
        self.compared: str | None = None
        """The checkpoint that is marked to be compared."""
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
        moved = (here, branch) != (self.here, self.branch)
        grown = (plan.columns, len(plan.tracks)) != (self.plan.columns, len(self.plan.tracks))
        self.plan, self.here, self.selected = plan, here, selected
        self.branch, self.going_on = branch, going_on
        self._fit()
        if grown or moved:
            self.reveal_shown()
        self.viewport().update()

    def column_x(self, column: int) -> int:
        """Where a column is in the viewport."""
        m = self.measures
        return m.left + column * m.pitch - self.horizontalScrollBar().value()

    def row_y(self, row: int) -> int:
        """Where the line of a row is in the viewport."""
        m = self.measures
        return m.top + row * m.row - self.verticalScrollBar().value()

    def center(self, spot: Spot) -> QPointF:
        """The middle of a mark in the viewport."""
        shift = self.measures.shift if spot.between else 0
        return QPointF(self.column_x(spot.column) + shift, self.row_y(spot.row))

    def spot_at(self, point: QPointF) -> Spot | None:
        """The mark under a point."""
        if point.y() < self.measures.band:
            return None
        column = int(point.x() - self.column_x(0)) // self.measures.pitch
        for spot in (*self.plan.by_column.get(column, ()), *self.plan.by_column.get(column + 1, ())):
            at = self.center(spot)
            if abs(at.x() - point.x()) <= _HIT and abs(at.y() - point.y()) <= _HIT:
                return spot
        return None

    def name_rect(self, track: Track) -> QRectF:
        """Where the name of a branch stands; empty if it has no place."""
        m, y = self.measures, self.row_y(track.row)
        first = self.plan.at(track.first, track.row)
        if self.is_tree:
            return QRectF(0, y - 20, 128, 44)
        if first is None:
            return QRectF()
        at, parent = self.center(first), self.plan.by_id.get(first.parent or "")
        if parent is None:
            return QRectF(0, y - 10, max(at.x() - 14, m.left - 14), 20)
        start = at.x() + 16 if first.between else self.center(parent).x() + 48
        return QRectF(start, y - 20, m.pitch - 64, 17)

    def track_at(self, point: QPointF) -> Track | None:
        """The branch whose name is under a point."""
        if point.y() < self.measures.band or self.spot_at(point) is not None:
            return None
        return next((t for t in self.plan.tracks if self.name_rect(t).contains(point)), None)

    def edit_name(self, checkpoint: str) -> None:
        """Opens a field for the name of a checkpoint."""
        spot = self.plan.by_id.get(checkpoint)
        if spot is not None:
            self.reveal(spot)
            at = self.center(spot).toPoint()
            place = QRect(at.x() - 75, at.y() + 12, 150, 24)
            NameEditor(self.viewport(), place, spot.name, lambda name: self.named.emit(checkpoint, name))

    def edit_tags(self, checkpoint: str) -> None:
        """Opens a field for the tags of a checkpoint, with spaces between them."""
        spot = self.plan.by_id.get(checkpoint)
        if spot is not None:
            self.reveal(spot)
            at = self.center(spot).toPoint()
            place = QRect(at.x() - 75, at.y() + 12, 150, 24)
            editor = NameEditor(
                self.viewport(), place, " ".join(spot.tags), lambda text: self.tagged.emit(checkpoint, text)
            )
            editor.setAccessibleName(tr("Tags"))
            editor.setPlaceholderText(tr("Tags, with spaces between"))

    def edit_branch_name(self, branch: str) -> None:
        """Opens a field for the name of a branch."""
        track = next((t for t in self.plan.tracks if t.branch == branch), None)
        if track is not None:
            self._reveal_row(track.row)
            place = self.name_rect(track).toRect()
            NameEditor(self.viewport(), place, track.name, lambda name: self.branch_named.emit(branch, name))

    def reveal_shown(self) -> None:
        """Scrolls so that the row of the shown branch is whole, and the moment that is shown can be seen."""
        spot = self.plan.by_id.get(self.here or "")
        track = next((t for t in self.plan.tracks if t.branch == self.branch), None)
        if track is not None:
            self._reveal_row(track.row)
        if spot is not None:
            self.reveal(spot)

    def reveal(self, spot: Spot) -> None:
        """Scrolls so that a mark can be seen, its row whole."""
        m, across, width = self.measures, self.horizontalScrollBar(), self.viewport().width()
        x = m.left + spot.column * m.pitch
        if x + 150 > across.value() + width:
            across.setValue(x + 150 - width)
        elif x - m.left < across.value():
            across.setValue(x - m.left - m.pitch)
        self._reveal_row(spot.row)

    def _reveal_row(self, row: int) -> None:
        m, down = self.measures, self.verticalScrollBar()
        if self.row_y(row) - m.above < m.band:
            down.setValue(row * m.row)
        elif self.row_y(row) + m.below > self.viewport().height():
            down.setValue(m.rows_hidden(row + 1, self.viewport().height()) * m.row)

    def pick(self, checkpoint: str) -> None:
        """Selects a checkpoint as the user does."""
        spot = self.plan.by_id.get(checkpoint)
        if spot is not None:
            self.selected = checkpoint
            self.reveal(spot)
            self.viewport().update()
            self.picked.emit(checkpoint)

    def mark_compared(self, checkpoint: str) -> None:
        """Marks a checkpoint to be compared; the second one that is marked is compared with the first."""
        first, self.compared = self.compared, None if self.compared else checkpoint
        self.viewport().update()
        if first is not None and first != checkpoint and first in self.plan.by_id:
            self.compare_requested.emit(first, checkpoint)

    def step_found(self, by: int) -> None:
        """Selects the next or previous checkpoint that is found, around the end."""
        places = [s.checkpoint for s in self.plan.spots if self.found and s.checkpoint in self.found]
        if places:
            at = places.index(self.selected) if self.selected in places else -1 if by > 0 else 0
            self.pick(places[(at + by) % len(places)])

    def minimumSizeHint(self) -> QSize:
        return QSize(200, 60)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()
        self.reveal_shown()

    def scrollContentsBy(self, dx: int, dy: int) -> None:
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        if event.button() != Qt.MouseButton.LeftButton:
            return
        track = self.track_at(event.position())
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if spot is not None and shift and self.selected in self.plan.by_id and self.selected != spot.checkpoint:
            self.compare_requested.emit(self.selected, spot.checkpoint)
        elif spot is not None:
            self.pick(spot.checkpoint)
        elif track is not None:
            self.branch_requested.emit(track.branch)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        spot = self.spot_at(event.position())
        track = self.track_at(event.position())
        if spot is not None:
            self.restore_requested.emit(spot.checkpoint)
        elif track is not None:
            self.edit_branch_name(track.branch)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            spot = self.plan.by_id.get(self.selected or self.here or "")
            at = self.viewport().mapToGlobal(self.center(spot).toPoint()) if spot is not None else event.globalPos()
            track = self.plan.tracks[spot.row] if spot is not None else None
        else:
            point = QPointF(self.viewport().mapFromGlobal(event.globalPos()))
            spot, at = self.spot_at(point), event.globalPos()
            track = self.plan.tracks[spot.row] if spot is not None else self.track_at(point)
        if spot is not None:
            self.pick(spot.checkpoint)
        if track is not None:
            self.menu_requested.emit(spot, track, at)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        over = self.spot_at(event.position()) is not None or self.track_at(event.position()) is not None
        self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            spot, track = self.spot_at(QPointF(event.pos())), self.track_at(QPointF(event.pos()))
            text = self.words(spot) if spot is not None else self.branch_words(track) if track is not None else ""
            QToolTip.showText(event.globalPos(), tip(text), self.viewport())
            return True
        return super().viewportEvent(event)

    def words(self, spot: Spot) -> str:
        """A checkpoint in words."""
        track = self.plan.tracks[spot.row]
        text = tr("Run {number}, {branch}, {label}").format(number=track.number, branch=track.name, label=spot.label)
        if spot.glyph == "broken":
            text += ", " + tr("cannot be restored")
        text += f" · {spot.title}" if spot.title else ""
        text += ", " + tr("pinned") if spot.pinned else ""
        return text + (f"\n{spot.note}" if spot.note else "")

    def branch_words(self, track: Track) -> str:
        """A branch in words, and what a click on its name does."""
        parts = [tr("Run {number}, {branch}").format(number=track.number, branch=track.name), track.note, track.ending]
        return ", ".join(p for p in parts if p) + "\n" + tr("Click shows it, double-click renames it")

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
        elif key == Qt.Key.Key_Space:
            self.mark_compared(spot.checkpoint)
        elif key == Qt.Key.Key_F3 or event.matches(QKeySequence.StandardKey.Find):
            back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            self.find_requested.emit(0 if key != Qt.Key.Key_F3 else -1 if back else 1)
        elif key == Qt.Key.Key_F2:
            self.edit_name(spot.checkpoint)
        elif key == Qt.Key.Key_P and not event.modifiers():
            self.pin_requested.emit(spot.checkpoint)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right, Qt.Key.Key_Up, Qt.Key.Key_Down):
            found = self._neighbour(spot, Qt.Key(key)) if self.selected else spot
            if found is not None:
                self.pick(found.checkpoint)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        TimelinePainter(painter, self._theme, self, self.viewport().rect()).paint(event.rect())

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
        self.horizontalScrollBar().setRange(0, max(0, width - viewport.width()))
        self.horizontalScrollBar().setPageStep(viewport.width())
        self.horizontalScrollBar().setSingleStep(m.pitch // 2)
        self.verticalScrollBar().setRange(0, m.rows_hidden(len(self.plan.tracks), viewport.height()) * m.row)
        self.verticalScrollBar().setPageStep(viewport.height())
        self.verticalScrollBar().setSingleStep(m.row)
