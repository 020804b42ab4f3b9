"""A tool-bar button for an action: icon, text, key hint; primary, bordered or plain."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QAction, QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QWidget

from studio.ui.theme import Theme

Variant = Literal["primary", "bordered", "plain"]


class ActionButton(QAbstractButton):
    """Follows its action's text, icon, tooltip and state. ``texts`` are all texts it may have: the width fits each of
    them, so the tool bar keeps its width when the state of the run changes."""

    def __init__(
        self,
        theme: Theme,
        action: QAction,
        icon: str,
        variant: Variant = "plain",
        texts: tuple[str, ...] = (),
        keys: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._action, self._icon = theme, action, icon
        self._variant, self._texts, self._keys = variant, texts, keys
        self._compact = False
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.clicked.connect(action.trigger)
        action.changed.connect(self._on_action_changed)
        theme.changed.connect(self._on_theme_changed)
        self._on_action_changed()

    def set_keys(self, keys: str) -> None:
        """Another key hint."""
        if keys != self._keys:
            self._keys = keys
            self.updateGeometry()
            self.update()

    def set_compact(self, compact: bool) -> None:
        """In a narrow window: no key hint, and only the icon unless this is the primary button."""
        if compact != self._compact:
            self._compact = compact
            self.updateGeometry()
            self.update()

    @property
    def _icon_only(self) -> bool:
        return not self._texts or (self._compact and bool(self._icon) and self._variant != "primary")

    @property
    def _hint(self) -> str:
        return "" if self._compact else self._keys

    def set_variant(self, variant: Variant) -> None:
        """Step is plain while editing and bordered while paused."""
        if variant != self._variant:
            self._variant = variant
            self.update()

    def sizeHint(self) -> QSize:
        height = self._theme.length(28)
        if self._icon_only:
            return QSize(height, height)
        metrics = QFontMetrics(self._font())
        width = 20 + max(metrics.horizontalAdvance(t) for t in self._texts)
        width += 21 if self._icon else 0
        if self._hint:
            width += 8 + QFontMetrics(self._theme.font("tiny")).horizontalAdvance(self._hint)
        return QSize(width, height)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_ground(painter)
        token = self._ink()
        icon = self._theme.pixmap(self._icon, 16, token, self.devicePixelRatioF()) if self._icon else None
        if self._icon_only:
            if icon is not None:
                painter.drawPixmap(QPoint((self.width() - 16) // 2, (self.height() - 16) // 2), icon)
            return
        self._paint_content(painter, token)

    def _paint_content(self, painter: QPainter, token: str) -> None:
        metrics = QFontMetrics(self._font())
        text = self.text()
        small = QFontMetrics(self._theme.font("tiny"))
        width = metrics.horizontalAdvance(text) + (21 if self._icon else 0)
        width += 8 + small.horizontalAdvance(self._hint) if self._hint else 0
        x = (self.width() - width) // 2
        if self._icon:
            icon = self._theme.pixmap(self._icon, 16, token, self.devicePixelRatioF())
            painter.drawPixmap(QPoint(x, (self.height() - 16) // 2), icon)
            x += 21
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        painter.setFont(self._font())
        painter.setPen(self._theme.color(token))
        painter.drawText(QPoint(x, baseline), text)
        if self._hint:
            painter.setFont(self._theme.font("tiny"))
            ink = QColor(self._theme.color(token))
            ink.setAlphaF(0.75)
            painter.setPen(ink)
            painter.drawText(QPoint(x + metrics.horizontalAdvance(text) + 8, baseline), self._hint)

    def _paint_ground(self, painter: QPainter) -> None:
        enabled = self.isEnabled()
        hovered = self.underMouse() and enabled
        if self._variant == "primary":
            fill = QColor(self._theme.color("accent_fill" if enabled else "sunken"))
            if enabled and self.isDown():
                fill = fill.darker(115)
            elif hovered:
                fill = fill.lighter(110)
            self._round(painter, fill, None)
        elif self._variant == "bordered":
            ground = "sel" if self.isDown() else "hover" if hovered else "surface"
            self._round(painter, self._theme.color(ground), self._theme.color("border"))
        elif self.isDown():
            self._round(painter, self._theme.color("sel"), None)
        elif hovered:
            self._round(painter, self._theme.color("hover"), None)
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(self._theme.color("text" if self._variant == "primary" else "accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 5, 5)

    def _round(self, painter: QPainter, fill: QColor, border: QColor | None) -> None:
        painter.setBrush(fill)
        painter.setPen(QPen(border, 1) if border is not None else Qt.PenStyle.NoPen)
        inset = 0.5 if border is not None else 0.0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 5, 5)

    def _ink(self) -> str:
        if not self.isEnabled():
            return "off"
        return "on_accent" if self._variant == "primary" else "text"

    def _font(self) -> QFont:
        return self._theme.font("section" if self._variant == "primary" else "strong")

    def _on_action_changed(self) -> None:
        self.setEnabled(self._action.isEnabled())
        self.setToolTip(self._action.toolTip())
        text = self._action.iconText()
        self.setText(text if text in self._texts or not self._texts else self._texts[0])
        self.setAccessibleName(text)
        self.update()

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()
