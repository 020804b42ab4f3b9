"""The chooser of the model that agents use."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme


class ProfileButton(QAbstractButton):
    """Shows the chosen model profile; its menu has the others and the way to their settings."""

    chosen = Signal(str)
    settings_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._names: tuple[str, ...] = ()
        self._current = ""
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self._menu = QMenu(self)
        self._menu.aboutToShow.connect(self._on_menu_about_to_show)
        self.setObjectName("profile_button")
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(tr("Model that agents use"))
        self.clicked.connect(self.show_menu)
        theme.changed.connect(self._on_theme_changed)

    def set_profiles(self, names: Sequence[str], current: str) -> None:
        """The names to choose from, and the one in use."""
        self._names, self._current = tuple(names), current
        self.setText(current)
        self.setAccessibleName(tr("Model: {name}").format(name=current))
        self.updateGeometry()
        self.update()

    def show_menu(self) -> None:
        """Opens the list of profiles."""
        self._menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))

    def sizeHint(self) -> QSize:
        width = QFontMetrics(self._theme.font("strong")).horizontalAdvance(self._current)
        return QSize(min(width + 61, 240), self._theme.length(28))

    def minimumSizeHint(self) -> QSize:
        return QSize(min(self.sizeHint().width(), self._theme.length(110)), self._theme.length(28))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focus = self.hasFocus()
        painter.setPen(QPen(self._theme.color("accent" if focus else "border"), 2 if focus else 1))
        painter.setBrush(self._theme.color("hover" if self.underMouse() or self.isDown() else "surface"))
        inset = 1.0 if focus else 0.5
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(inset, inset, -inset, -inset), 5, 5)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(self._theme.color("done"))
        middle = self.height() / 2
        painter.drawEllipse(QRectF(15, middle - 2.5, 5, 5))
        metrics = QFontMetrics(self._theme.font("strong"))
        text = metrics.elidedText(self._current, Qt.TextElideMode.ElideRight, self.width() - 58)
        painter.setFont(self._theme.font("strong"))
        painter.setPen(self._theme.color("text"))
        painter.drawText(QPoint(31, (self.height() + metrics.ascent() - metrics.descent()) // 2), text)
        arrow = self._theme.pixmap("chevron-down", 13, "text2", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(self.width() - 22, round(middle - 6.5)), arrow)

    def _on_menu_about_to_show(self) -> None:
        self._menu.clear()
        for name in self._names:
            action = self._menu.addAction(name.replace("&", "&&"))
            action.setCheckable(True)
            action.setChecked(name == self._current)
            action.setData(name)
            action.triggered.connect(self._on_action_triggered)
        self._menu.addSeparator()
        self._menu.addAction(tr("Model providers…")).triggered.connect(self.settings_requested)

    def _on_action_triggered(self) -> None:
        sender = self.sender()
        name = sender.data() if isinstance(sender, QAction) else None
        if isinstance(name, str) and name != self._current:
            self.chosen.emit(name)

    def _on_theme_changed(self) -> None:
        self.updateGeometry()
        self.update()
