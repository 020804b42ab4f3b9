"""A row of joined buttons of which one is on."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPainterPath, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.buttons import focus_ring

_PAD, _NARROW, _LEAST = 21, 9, 24
"""Around the words: usually, and where room is short; and the least that is left of them."""


class SegmentedControl(QWidget):
    """Choices side by side. Arrow keys move; ``value`` may be None when several items differ ("mixed"). Where room is
    short the segments come closer, then their words are cut and the tooltip says all of them."""

    edited = Signal(object)
    """The new value, after the user chose it."""

    def __init__(
        self,
        theme: Theme,
        choices: Sequence[tuple[str, str]],
        *,
        small: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._choices = tuple(choices)
        self._value: object = None
        self._hover = -1
        self._height = 20 if small else 24
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setMouseTracking(True)
        theme.changed.connect(self.updateGeometry)

    @property
    def value(self) -> object:
        """The chosen value."""
        return self._value

    def show_value(self, value: object) -> None:
        """Shows a value; emits nothing."""
        if value != self._value:
            self._value = value
            text = next((t for v, t in self._choices if v == value), "")
            self.setAccessibleDescription(text)
            self.update()

    def sizeHint(self) -> QSize:
        return QSize(sum(self._texts()) + _PAD * len(self._choices) + 2, self._theme.length(self._height) + 2)

    def minimumSizeHint(self) -> QSize:
        least = sum(min(text, _LEAST) for text in self._texts()) + _NARROW * len(self._choices)
        return QSize(least + 2, self.sizeHint().height())

    def resizeEvent(self, _event: QResizeEvent) -> None:
        narrow = self.width() < sum(self._texts()) + _NARROW * len(self._choices) + 2
        self.setToolTip(" · ".join(text for _, text in self._choices) if narrow else "")

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.LeftButton:
            self._choose(self._at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hover = self._at(event.position().x())
        if hover != self._hover:
            self._hover = hover
            self.update()

    def leaveEvent(self, event: object) -> None:
        self._hover = -1
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        step = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}.get(Qt.Key(event.key()), 0)
        if not step:
            super().keyPressEvent(event)
            return
        at = next((i for i, (v, _) in enumerate(self._choices) if v == self._value), 0)
        self._choose(max(0, min(len(self._choices) - 1, at + step)))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        outline = QPainterPath()
        outline.addRoundedRect(frame, 5, 5)
        painter.fillPath(outline, self._theme.color("surface"))
        painter.setClipPath(outline)
        for i, rect in enumerate(self._rects()):
            self._paint_segment(painter, i, rect)
        painter.setClipping(False)
        painter.setPen(QPen(self._theme.color("ctl"), 1))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(outline)
        if self.hasFocus():
            focus_ring(painter, self._theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), 5)

    def _paint_segment(self, painter: QPainter, index: int, rect: QRect) -> None:
        value, text = self._choices[index]
        on = value == self._value
        if on:
            painter.fillRect(rect, self._theme.color("soft"))
        elif index == self._hover and self.isEnabled():
            painter.fillRect(rect, self._theme.color("hover"))
        if index:
            painter.fillRect(QRect(rect.left(), rect.top(), 1, rect.height()), self._theme.color("border"))
        font = self._theme.font("section" if on else "body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color("off" if not self.isEnabled() else "accent" if on else "text2"))
        text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width() - _NARROW + 4)
        x = rect.left() + (rect.width() - metrics.horizontalAdvance(text)) // 2
        painter.drawText(x, rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2, text)

    def _choose(self, index: int) -> None:
        value = self._choices[index][0]
        if value != self._value:
            self.show_value(value)
            self.edited.emit(value)

    def _texts(self) -> list[int]:
        """Widths of the words."""
        metrics = QFontMetrics(self._theme.font("section"))
        return [metrics.horizontalAdvance(text) for _, text in self._choices]

    def _widths(self) -> list[int]:
        texts, room = self._texts(), self.width() - 2
        pad = min(_PAD, max(_NARROW, (room - sum(texts)) // max(1, len(texts))))
        over = sum(texts) + pad * len(texts) - room
        while over > 0 and max(texts, default=0) > _LEAST:  # the longest gives first
            texts[texts.index(max(texts))] -= 1
            over -= 1
        return [text + pad for text in texts]

    def _rects(self) -> list[QRect]:
        rects, x = [], 1
        for width in self._widths():
            rects.append(QRect(x, 1, width, self.height() - 2))
            x += width
        return rects

    def _at(self, x: float) -> int:
        rects = self._rects()
        return next((i for i, r in enumerate(rects) if x < r.right() + 1), len(rects) - 1)
