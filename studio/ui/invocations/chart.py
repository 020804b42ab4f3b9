"""The picture: bars along the time, zoomed in X; rows scroll, and their parents stay at the top."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QHelpEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QToolTip, QWidget

from studio.bridge.run_views import InvocationView
from studio.ui.invocations.plan import Plan, Row, ticks
from studio.ui.paint.numbers import seconds_text
from studio.ui.text import tip, tr
from studio.ui.theme import Theme

ROW, RULER, NAMES = 24, 24, 190
_CLOSEST = 0.0005
"""Seconds per pixel at the highest zoom."""
_STEP = 1.25
_TONES = {"failed": "fail", "running": "run", "queued": "run", "waiting": "wait", "stopped": "muted"}


class InvocationChart(QAbstractScrollArea):
    """Ctrl and wheel, + and - zoom around the pointer or the chosen bar; 0 fits all; arrows move; F8 and Shift+F8 go
    to the next and previous error; Enter chooses."""

    picked = Signal(str)
    """The user selected an invocation."""
    activated = Signal(str)
    """The user wants to see more of it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.plan = Plan()
        self.chosen: InvocationView | None = None
        self.scale = 0.0
        """Pixels per second; 0: all of the run fits."""
        self.left = 0.0
        """Seconds at the left edge."""
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Invocations along the time"))
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMouseTracking(True)
        self.horizontalScrollBar().valueChanged.connect(self._on_horizontal_value_changed)
        theme.changed.connect(self.viewport().update)

    # ------------------------------------------------------------------------------------------------- measures

    @property
    def row_height(self) -> int:
        """Of one row, in pixels."""
        return self._theme.length(ROW)

    @property
    def _ruler(self) -> int:
        return self._theme.length(RULER)

    @property
    def _room(self) -> float:
        return max(50.0, self.viewport().width() - NAMES - 12.0)

    @property
    def pixels_per_second(self) -> float:
        """The zoom as it is."""
        return self.scale or self._room / max(self.plan.end, _CLOSEST)

    def x_of(self, moment: float) -> float:
        """Where a moment is."""
        return NAMES + (moment - self.left) * self.pixels_per_second

    def moment_of(self, x: float) -> float:
        """The moment at a place."""
        return self.left + (x - NAMES) / self.pixels_per_second

    def zoom(self, factor: float, around: float | None = None) -> None:
        """Zooms in (above 1) or out; the moment at pixel ``around`` keeps its place."""
        if around is None:
            shown = self.chosen is not None and 0 <= self.x_of(self.chosen.started) - NAMES <= self._room
            around = self.x_of(self.chosen.started) if shown and self.chosen is not None else NAMES + self._room / 2
        moment = self.moment_of(around)
        least = self._room / max(self.plan.end, _CLOSEST)
        scale = min(max(self.pixels_per_second * factor, least), 1 / _CLOSEST)
        self.scale = 0.0 if scale <= least else scale
        self.left = 0.0 if not self.scale else max(0.0, moment - (around - NAMES) / self.scale)
        self._set_bars()

    def fit(self) -> None:
        """Shows the whole run."""
        self.scale, self.left = 0.0, 0.0
        self._set_bars()

    def refresh(self) -> None:
        """The plan has grown."""
        self._set_bars()

    def _set_bars(self) -> None:
        vertical, horizontal = self.verticalScrollBar(), self.horizontalScrollBar()
        height = self.viewport().height() - self._ruler
        vertical.setRange(0, max(0, len(self.plan.rows) * self.row_height - height))
        vertical.setPageStep(max(1, height))
        vertical.setSingleStep(self.row_height)
        whole = self.plan.end * self.pixels_per_second
        horizontal.blockSignals(True)
        horizontal.setRange(0, max(0, round(whole - self._room)))
        horizontal.setPageStep(round(self._room))
        horizontal.setValue(round(self.left * self.pixels_per_second))
        horizontal.blockSignals(False)
        self.viewport().update()

    # ------------------------------------------------------------------------------------------------- choosing

    def choose(self, view: InvocationView | None, *, reveal: bool = True) -> None:
        """Selects an invocation and brings it into view."""
        self.chosen = view
        if view is not None:
            self.setAccessibleDescription(self.words(view))
            if reveal:
                self._reveal(view)
            self.picked.emit(view.invocation)
        self.viewport().update()

    def words(self, view: InvocationView) -> str:
        """An invocation in words."""
        row = self.plan.row_of(view)
        end = view.ended if view.ended is not None else self.plan.end
        parts = [
            row.name if row is not None else view.node, tr("superstep {number}").format(number=view.superstep),
            tr(view.status), seconds_text(max(0.0, end - view.started)),
        ]  # fmt: skip
        return ", ".join(parts) + (f"\n{view.error}" if view.error else "")

    def next_error(self, by: int) -> bool:
        """Goes to the next or previous error; False if there is none."""
        found = self.plan.next_error(self.chosen, by)
        if found is not None:
            self.choose(found)
        return found is not None

    def _reveal(self, view: InvocationView) -> None:
        row = self.plan.row_of(view)
        if row is None:
            return
        top = self.plan.place_of(row) * self.row_height
        bar, height = self.verticalScrollBar(), self.viewport().height() - self._ruler
        above = row.depth * self.row_height
        if top < bar.value() + above:
            bar.setValue(top - above)
        elif top + self.row_height > bar.value() + height:
            bar.setValue(top + self.row_height - height)
        x = self.x_of(view.started) - NAMES
        if not 0 <= x <= self._room - 20:
            self.left = max(0.0, view.started - self._room / 3 / self.pixels_per_second)
            self._set_bars()

    def hit(self, place: QPoint) -> InvocationView | None:
        """The invocation at a place."""
        at = self._row_at(place)
        if at is None or place.x() < NAMES:
            return None
        return self.plan.at(at, self.moment_of(place.x()), 4 / self.pixels_per_second)

    def _row_at(self, place: QPoint) -> Row | None:
        y = place.y() - self._ruler
        if y < 0:
            return None
        pinned = self.pinned()
        if y < len(pinned) * self.row_height:
            return pinned[y // self.row_height]
        index = (y + self.verticalScrollBar().value()) // self.row_height
        return self.plan.rows[index] if index < len(self.plan.rows) else None

    def pinned(self) -> list[Row]:
        """The parents that stay at the top."""
        offset = self.verticalScrollBar().value()
        top = offset // self.row_height
        found = self.plan.pinned(top)
        while True:  # what the pinned rows cover may be of another parent
            below = self.plan.pinned(min(top + len(found), len(self.plan.rows) - 1)) if self.plan.rows else []
            visible = [
                row
                for row in below
                if self.plan.place_of(row) * self.row_height < offset + len(found) * self.row_height
            ]
            if len(visible) <= len(found):
                return visible if len(visible) < len(found) else found
            found = visible

    # ------------------------------------------------------------------------------------------------- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        theme = self._theme
        painter.fillRect(event.rect(), theme.color("window"))
        height, offset = self.row_height, self.verticalScrollBar().value()
        first = offset // height
        last = min(len(self.plan.rows), (offset + self.viewport().height()) // height + 1)
        for at in range(first, last):
            self._paint_row(painter, self.plan.rows[at], self._ruler + at * height - offset, pinned=False)
        for at, row in enumerate(self.pinned()):
            self._paint_row(painter, row, self._ruler + at * height, pinned=True)
        self._paint_ruler(painter)

    def _paint_row(self, painter: QPainter, row: Row, top: int, *, pinned: bool) -> None:
        theme, width, height = self._theme, self.viewport().width(), self.row_height
        painter.fillRect(0, top, width, height, theme.color("alt" if pinned else "window"))
        self._paint_bars(painter, row, top)
        painter.fillRect(0, top, NAMES - 6, height, theme.color("alt" if pinned else "window"))
        painter.fillRect(0, top + height - 1, width, 1, theme.color("line"))
        painter.setFont(theme.font("body"))
        painter.setPen(theme.color("text"))
        metrics = painter.fontMetrics()
        room = NAMES - 24 - 14 * row.depth
        name = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, room)
        painter.drawText(12 + 14 * row.depth, top + (height + metrics.ascent() - metrics.descent()) // 2, name)

    def _paint_bars(self, painter: QPainter, row: Row, top: int) -> None:
        """Bars that fall on one pixel are painted once; one that failed always."""
        theme, scale = self._theme, self.pixels_per_second
        start, end = self.moment_of(NAMES), self.moment_of(self.viewport().width())
        painted = -1.0
        for view in self.plan.visible(row, start, end):
            x = NAMES + (view.started - self.left) * scale
            stop = view.ended if view.ended is not None else self.plan.end
            right = max(x + 2.0, NAMES + (stop - self.left) * scale)
            failed, chosen = view.status == "failed", view is self.chosen
            if right < painted + 1.0 and not failed and not chosen:
                continue
            painted = right
            tone = theme.color(_TONES.get(view.status, "done"))
            rect = QRectF(max(x, NAMES - 4.0), top + 5, right - max(x, NAMES - 4.0), self.row_height - 11)
            painter.fillRect(rect, tone)
            if chosen:
                painter.setPen(QPen(theme.color("accent"), 2))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(rect.adjusted(-2, -2, 2, 2))

    def _paint_ruler(self, painter: QPainter) -> None:
        theme, width, height = self._theme, self.viewport().width(), self._ruler
        painter.fillRect(0, 0, width, height, theme.color("window"))
        painter.fillRect(0, height - 1, width, 1, theme.color("border"))
        painter.setFont(theme.font("small", tabular=True))
        painter.setPen(theme.color("muted"))
        metrics = painter.fontMetrics()
        base = (height + metrics.ascent() - metrics.descent()) // 2
        end = self.moment_of(width)
        for moment in ticks(self.left, end, max(1, round(self._room / 90))):
            x = self.x_of(moment)
            painter.fillRect(QRectF(x, height - 6, 1, 5), theme.color("border"))
            painter.drawText(QPointF(x + 4, base), f"{moment:g} s")
        painter.fillRect(0, 0, NAMES - 6, height - 1, theme.color("window"))
        count = sum(len(row.bars) for row in self.plan.rows)
        painter.drawText(12, base, tr("{count} invocations").format(count=count))

    # --------------------------------------------------------------------------------------------------- events

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._set_bars()

    def wheelEvent(self, event: QWheelEvent) -> None:
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.zoom(_STEP ** (event.angleDelta().y() / 120), event.position().x())
            event.accept()
        elif event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            bar = self.horizontalScrollBar()
            bar.setValue(bar.value() - (event.angleDelta().y() or event.angleDelta().x()))
        else:
            super().wheelEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            found = self.hit(event.position().toPoint())
            if found is not None:
                self.choose(found, reveal=False)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        found = self.hit(event.position().toPoint())
        if found is not None:
            self.activated.emit(found.invocation)

    def viewportEvent(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            found = self.hit(event.pos())
            QToolTip.showText(event.globalPos(), tip(self.words(found)) if found is not None else "", self)
            return True
        return super().viewportEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key, back = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(_STEP)
        elif key == Qt.Key.Key_Minus:
            self.zoom(1 / _STEP)
        elif key == Qt.Key.Key_0:
            self.fit()
        elif key == Qt.Key.Key_F8:
            self.next_error(-1 if back else 1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._other_row(1 if key == Qt.Key.Key_Down else -1)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.chosen is not None:
            self.activated.emit(self.chosen.invocation)
        else:
            super().keyPressEvent(event)

    def _step(self, by: int) -> None:
        """To the next invocation of the same node."""
        row = self.plan.row_of(self.chosen) if self.chosen is not None else None
        if row is None:
            self._other_row(by)
            return
        at = next(i for i, view in enumerate(row.bars) if view is self.chosen) + by
        if 0 <= at < len(row.bars):
            self.choose(row.bars[at])

    def _other_row(self, by: int) -> None:
        """To the invocation of the next row that is nearest in time."""
        rows = self.plan.rows
        if not rows:
            return
        if self.chosen is None:
            self.choose(rows[0].bars[0])
            return
        row = self.plan.row_of(self.chosen)
        at = (self.plan.place_of(row) if row is not None else 0) + by
        if 0 <= at < len(rows):
            started = self.chosen.started
            self.choose(min(rows[at].bars, key=lambda view: abs(view.started - started)))

    def _on_horizontal_value_changed(self, value: int) -> None:
        self.left = value / self.pixels_per_second
        self.viewport().update()
