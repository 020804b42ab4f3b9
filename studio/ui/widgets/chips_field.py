"""A field that holds chips: tools, choices, sources. Chips can be taken out and, where order matters, moved."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.buttons import focus_ring
from studio.ui.widgets.labels import chip_font

_GAP, _EDGE = 4, 5


class ChipsField(QWidget):
    """``offer`` gives what can be added now as (value, text); picked from a menu."""

    edited = Signal(object)
    """The new values, a tuple of strings."""
    more_requested = Signal()
    """The last entry of the menu, when it has one."""

    def __init__(
        self,
        theme: Theme,
        offer: Callable[[], Sequence[tuple[str, str]]],
        add_text: str,
        *,
        icon: str = "",
        more: str = "",
        label_of: Callable[[str], str] = str,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._offer, self._add_text, self._icon, self._more = theme, offer, add_text, icon, more
        self._label_of = label_of
        self._values: tuple[str, ...] = ()
        self._labels: tuple[str, ...] = ()
        self._current = -1
        self._rects: list[QRect] = []
        self._add_rect = QRect()
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)

    @property
    def _chip_height(self) -> int:
        return self._theme.length(20)

    @property
    def values(self) -> tuple[str, ...]:
        """The chips, in order."""
        return self._values

    @property
    def labels(self) -> tuple[str, ...]:
        """What the chips say."""
        return self._labels

    def show_value(self, value: object) -> None:
        """Shows a tuple of strings; None is "mixed" and shown as empty."""
        values = tuple(str(v) for v in value) if isinstance(value, tuple | list) else ()
        labels = tuple(map(self._label_of, values))
        if (values, labels) != (self._values, self._labels):
            self._values, self._labels = values, labels
            self._current = min(self._current, len(values) - 1)
            self._arrange()
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(200, self.heightForWidth(max(self.width(), 200)))

    def heightForWidth(self, width: int) -> int:
        return self._layout(width)[2]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        at = event.position().toPoint()
        for i, rect in enumerate(self._rects):
            if rect.contains(at):
                self._current = i
                if at.x() > rect.right() - 18:
                    self._remove(i)
                self.update()
                return
        self.open_menu()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and self._values:
            step = -1 if key == Qt.Key.Key_Left else 1
            if event.modifiers() & Qt.KeyboardModifier.AltModifier:
                self._move(step)
            else:
                self._current = max(0, min(len(self._values) - 1, self._current + step))
            self.update()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace) and 0 <= self._current < len(self._values):
            self._remove(self._current)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Space, Qt.Key.Key_Down):
            self.open_menu()
        else:
            super().keyPressEvent(event)

    def open_menu(self) -> None:
        """Shows what can be added."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for value, text in self._offer():
            if value not in self._values:
                menu.addAction(text).setData(value)
        if self._more:
            if menu.actions():
                menu.addSeparator()
            menu.addAction(self._more).setData(None)
        if not menu.actions():
            menu.deleteLater()
            return
        menu.triggered.connect(self._on_menu_triggered)
        menu.popup(self.mapToGlobal(QPoint(self._add_rect.left(), self.height())))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(self._theme.color("ctl"), 1))
        painter.setBrush(self._theme.color("surface" if self.isEnabled() else "alt"))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5), 5, 5)
        if self.hasFocus():
            focus_ring(painter, self._theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), 6)
        for i, rect in enumerate(self._rects):
            self._paint_one(painter, i, rect)
        painter.setFont(self._theme.font("body"))
        painter.setPen(self._theme.color("muted"))
        metrics = QFontMetrics(self._theme.font("body"))
        baseline = self._add_rect.top() + (self._chip_height + metrics.ascent() - metrics.descent()) // 2
        if self.isEnabled():
            painter.drawText(QPoint(self._add_rect.left() + 3, baseline), self._add_text)

    def _paint_one(self, painter: QPainter, index: int, rect: QRect) -> None:
        ratio = self.devicePixelRatioF()
        current = index == self._current and self.hasFocus()
        painter.setPen(QPen(self._theme.color("accent"), 1) if current else Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("sunken"))
        painter.drawRoundedRect(QRectF(rect).adjusted(0.5, 0.5, -0.5, -0.5) if current else QRectF(rect), 4, 4)
        x = rect.left() + 7
        if self._icon:
            painter.drawPixmap(
                QPoint(x, rect.top() + (rect.height() - 12) // 2), self._theme.pixmap(self._icon, 12, "text2", ratio)
            )
            x += 17
        font = chip_font(self._theme)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color("text2"))
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        room = rect.right() - 18 - x
        painter.drawText(
            QPoint(x, baseline),
            metrics.elidedText(self._labels[index], Qt.TextElideMode.ElideRight, room),
        )
        painter.drawPixmap(
            QPoint(rect.right() - 15, rect.top() + (rect.height() - 10) // 2),
            self._theme.pixmap("x", 10, "text2", ratio),
        )

    def _layout(self, width: int) -> tuple[list[QRect], QRect, int]:
        metrics = QFontMetrics(chip_font(self._theme))
        extra = 7 + (17 if self._icon else 0) + 5 + 18
        x, y = _EDGE + 1, _EDGE
        rects: list[QRect] = []
        for label in self._labels:
            wide = min(metrics.horizontalAdvance(label) + extra, width - 2 * _EDGE - 2)
            if x > _EDGE + 1 and x + wide > width - _EDGE:
                x, y = _EDGE + 1, y + self._chip_height + _GAP
            rects.append(QRect(x, y, wide, self._chip_height))
            x += wide + _GAP
        add = QFontMetrics(self._theme.font("body")).horizontalAdvance(self._add_text) + 8
        if x > _EDGE + 1 and x + add > width - _EDGE:
            x, y = _EDGE + 1, y + self._chip_height + _GAP
        return rects, QRect(x, y, add, self._chip_height), y + self._chip_height + _EDGE

    def _arrange(self) -> None:
        self._rects, self._add_rect, _ = self._layout(self.width())

    def _remove(self, index: int) -> None:
        self._emit((*self._values[:index], *self._values[index + 1 :]))

    def _move(self, step: int) -> None:
        to = self._current + step
        if 0 <= self._current < len(self._values) and 0 <= to < len(self._values):
            values = list(self._values)
            values[self._current], values[to] = values[to], values[self._current]
            self._current = to
            self._emit(tuple(values))

    def _emit(self, values: tuple[str, ...]) -> None:
        self.show_value(values)
        self.edited.emit(values)

    def _on_menu_triggered(self, action: object) -> None:
        value = action.data()  # type: ignore[attr-defined]
        if value is None:
            self.more_requested.emit()
        else:
            self._emit((*self._values, str(value)))
