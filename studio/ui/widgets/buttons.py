"""Buttons, check boxes, radio buttons and combo boxes as the design draws them."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QEvent, QPoint, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetrics,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QCheckBox, QComboBox, QListView, QPushButton, QRadioButton, QWidget

from studio.ui.theme import Theme

Kind = Literal["plain", "framed", "primary", "link"]


def tick_path(x: float, y: float, size: float) -> QPainterPath:
    """The tick of a checked box, on a square of ``size``."""
    unit = size / 16
    path = QPainterPath(QPointF(x + 3.2 * unit, y + 8.4 * unit))
    path.lineTo(x + 6.4 * unit, y + 11.6 * unit)
    path.lineTo(x + 12.8 * unit, y + 4.6 * unit)
    return path


def focus_ring(painter: QPainter, theme: Theme, rect: QRectF, radius: float) -> None:
    """The visible focus: 1 px accent on the border and 1 px outside."""
    painter.setPen(QPen(theme.color("accent"), 2))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect, radius, radius)


class Button(QPushButton):
    """A button with an icon, a text and an optional key hint; a disabled one says why in its tooltip."""

    def __init__(
        self,
        theme: Theme,
        text: str = "",
        icon: str = "",
        kind: Kind = "framed",
        *,
        small: bool = False,
        keys: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(text, parent)
        self._theme, self._icon_name, self.kind, self._small, self._keys = theme, icon, kind, small, keys
        self.at_left = False
        """Whether the content stands at the left of a button that is wider than it needs."""
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setAccessibleName(text)
        theme.changed.connect(self.updateGeometry)

    def set_icon_name(self, icon: str) -> None:
        """Another icon."""
        self._icon_name = icon
        self.update()

    def sizeHint(self) -> QSize:
        height = self._theme.length(24 if self._small else 28)
        if self.kind == "link":
            return QSize(self._text_width() + 2, self._theme.length(20))
        pad = 8 if self._small else 10
        if not self.text():
            return QSize(height + 4 if not self._small else 30, height)
        width = 2 * pad + self._text_width() + (21 if self._icon_name else 0)
        if self._keys:
            width += 8 + QFontMetrics(self._theme.font("tiny")).horizontalAdvance(self._keys)
        return QSize(width + 2, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        token = self._token()
        painter.setOpacity(0.55 if self.kind == "primary" and not self.isEnabled() else 1.0)
        metrics = QFontMetrics(self._font())
        content = self._text_width() + (21 if self._icon_name and self.text() else 15 if self._icon_name else 0)
        keys_width = QFontMetrics(self._theme.font("tiny")).horizontalAdvance(self._keys) + 8 if self._keys else 0
        x = 9 if self.at_left else (self.width() - content - keys_width) // 2
        if self._icon_name:
            ratio = self.devicePixelRatioF()
            painter.drawPixmap(
                QPoint(x, (self.height() - 15) // 2), self._theme.pixmap(self._icon_name, 15, token, ratio)
            )
            x += 21
        painter.setFont(self._font())
        painter.setPen(self._theme.color(token))
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        room = self.width() - x - keys_width - (8 if self.at_left else 0)
        painter.drawText(QPoint(x, baseline), metrics.elidedText(self._said(), Qt.TextElideMode.ElideRight, room))
        if self._keys:
            painter.setFont(self._theme.font("tiny"))
            painter.setOpacity(painter.opacity() * 0.72)
            painter.drawText(QPoint(x + self._text_width() + 8, baseline), self._keys)

    def _font(self) -> QFont:
        return self._theme.font("section") if self.kind == "primary" else self._theme.font("strong")

    def _said(self) -> str:
        """The text without the marks of access keys; ``&&`` stands for &."""
        return self.text().replace("&&", "\0").replace("&", "").replace("\0", "&")

    def _text_width(self) -> int:
        return QFontMetrics(self._font()).horizontalAdvance(self._said())

    def _token(self) -> str:
        if self.kind == "primary":
            return "on_accent"
        if not self.isEnabled():
            return "off"
        if self.kind == "link" or self.isChecked():
            return "accent"
        return "text"

    def _paint_ground(self, painter: QPainter) -> None:
        rect = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        hovered = self.underMouse() and self.isEnabled()
        if self.kind == "primary":
            fill = QColor(self._theme.color("accent_fill"))
            if not self.isEnabled():
                fill.setAlphaF(0.5)
            elif self.isDown():
                fill = fill.darker(112)
            elif hovered:
                fill = fill.lighter(108)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(fill)
            painter.drawRoundedRect(QRectF(self.rect()), 5, 5)
        elif self.kind == "framed":
            painter.setPen(QPen(self._theme.color("border"), 1))
            ground = "sel" if self.isChecked() else "hover" if hovered or self.isDown() else "surface"
            painter.setBrush(self._theme.color(ground))
            painter.drawRoundedRect(rect, 5, 5)
        elif self.kind == "plain" and (hovered or self.isDown() or self.isChecked()):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("sel" if self.isChecked() else "hover"))
            painter.drawRoundedRect(QRectF(self.rect()), 5, 5)
        if self.hasFocus():
            focus_ring(painter, self._theme, QRectF(self.rect()).adjusted(1, 1, -1, -1), 5)


class CheckBox(QCheckBox):
    """A check box of 14 px; the text may be empty when it stands beside its own title."""

    def __init__(self, theme: Theme, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme
        self.setMinimumHeight(24 if text else 18)
        self.setAccessibleName(text)

    def sizeHint(self) -> QSize:
        width = QFontMetrics(self._theme.font("body")).horizontalAdvance(self.text())
        return QSize(14 + (7 + width if self.text() else 0) + 4, self._theme.length(24 if self.text() else 18))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_box(painter, self._theme, 1, (self.height() - 14) / 2, self.checkState(), self.isEnabled())
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            focus_ring(painter, self._theme, QRectF(1, (self.height() - 14) / 2, 14, 14), 3)
        _paint_beside(painter, self._theme, self)


def paint_box(painter: QPainter, theme: Theme, x: float, y: float, state: Qt.CheckState, enabled: bool = True) -> None:
    """The 14 px box of a check box."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    on = state != Qt.CheckState.Unchecked
    rect = QRectF(x + 0.5, y + 0.5, 13, 13)
    painter.setPen(QPen(theme.color("accent_fill" if on else "ctl"), 1))
    painter.setBrush(theme.color("accent_fill" if on else "surface"))
    painter.setOpacity(1.0 if enabled else 0.5)
    painter.drawRoundedRect(rect, 3, 3)
    if state == Qt.CheckState.Checked:
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(_mark_pen(theme))
        painter.drawPath(tick_path(x + 1.5, y + 1.5, 11))
    elif state == Qt.CheckState.PartiallyChecked:
        painter.setPen(_mark_pen(theme))
        painter.drawLine(QPointF(x + 4, y + 7), QPointF(x + 10, y + 7))
    painter.setOpacity(1.0)


def _mark_pen(theme: Theme) -> QPen:
    pen = QPen(theme.color("on_accent"), 1.5)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen


def _paint_beside(painter: QPainter, theme: Theme, widget: QCheckBox | QRadioButton) -> None:
    font = theme.font("body")
    metrics = QFontMetrics(font)
    painter.setFont(font)
    painter.setPen(theme.color("text" if widget.isEnabled() else "off"))
    baseline = (widget.height() + metrics.ascent() - metrics.descent()) // 2
    painter.drawText(QPoint(22, baseline), widget.text())


class RadioButton(QRadioButton):
    """A radio button of 14 px."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self._theme = theme

    def sizeHint(self) -> QSize:
        width = QFontMetrics(self._theme.font("body")).horizontalAdvance(self.text())
        return QSize(26 + width, self._theme.length(24))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        top = (self.height() - 14) / 2
        painter.setBrush(self._theme.color("surface"))
        if self.isChecked():
            painter.setPen(QPen(self._theme.color("accent_fill"), 4.5))
            painter.drawEllipse(QRectF(3.25, top + 2.25, 9.5, 9.5))
        else:
            painter.setPen(QPen(self._theme.color("ctl"), 1))
            painter.drawEllipse(QRectF(1.5, top + 0.5, 13, 13))
        if self.hasFocus():
            focus_ring(painter, self._theme, QRectF(0, top - 1, 16, 16), 8)
        _paint_beside(painter, self._theme, self)


_MEASURED = 100
"""So many texts of a combo box say how wide it wants to be."""


class ComboBox(QComboBox):
    """A combo box drawn like a field. The wheel scrolls the page, never the value, unless the box has the focus."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, small: bool = False) -> None:
        super().__init__(parent)
        self._theme, self._small = theme, small
        self.dot = ""
        """Colour token of a dot before the text, or none."""
        self.bad = False
        view = QListView(self)
        view.setObjectName("popup")
        view.setUniformItemSizes(True)  # else a list of thousands is measured row by row when it is filled
        self.setView(view)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setMinimumContentsLength(6)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self._theme.font("body"))
        looked_at = range(min(self.count(), _MEASURED))
        widest = max((metrics.horizontalAdvance(self.itemText(i)) for i in looked_at), default=40)
        return QSize(min(widest, 200) + 44, self._theme.length(26 if self._small else 30))

    def minimumSizeHint(self) -> QSize:
        return QSize(56, self.sizeHint().height())

    def make_editable(self, placeholder: str) -> None:
        """Lets the user type a value that is not in the list."""
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        line = self.lineEdit()
        assert line is not None
        line.setProperty("bare", True)
        line.setPlaceholderText(placeholder)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place_line()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.StyleChange:  # another theme: Qt has put the field back over the dot
            self._place_line()

    def _place_line(self) -> None:
        line = self.lineEdit() if self.isEditable() else None
        if line is not None:
            left = 26 if self.dot else 7
            line.setGeometry(left, (self.height() - 20) // 2, self.width() - left - 26, 20)

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        frame = QRectF(self.rect()).adjusted(1.5, 1.5, -1.5, -1.5)
        painter.setPen(QPen(self._theme.color("ctl" if self.isEnabled() else "border"), 1))
        painter.setBrush(self._theme.color("surface" if self.isEnabled() else "alt"))
        painter.drawRoundedRect(frame, 5, 5)
        if self.hasFocus() or self.bad:
            painter.setPen(QPen(self._theme.color("fail" if self.bad else "accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 6, 6)
        x, right = 9, self.width() - 25
        if self.dot:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color(self.dot))
            painter.drawEllipse(QPointF(15, self.height() / 2), 2.3, 2.3)
            x = 28
        ratio = self.devicePixelRatioF()
        chevron = self._theme.pixmap("chevron-down", 14, "text2" if self.isEnabled() else "off", ratio)
        painter.drawPixmap(QPoint(self.width() - 23, (self.height() - 14) // 2), chevron)
        if not self.isEditable():
            self._paint_text(painter, x, right)

    def _paint_text(self, painter: QPainter, x: int, right: int) -> None:
        font = self._theme.font("body")
        metrics = QFontMetrics(font)
        text, token = self.currentText(), "text"
        if not text:
            text, token = self.placeholderText(), "muted"
        painter.setFont(font)
        painter.setPen(self._theme.color(token if self.isEnabled() else "off"))
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(QPoint(x, baseline), metrics.elidedText(text, Qt.TextElideMode.ElideRight, right - x))
