"""The input of the next run, with what was entered before."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QSizePolicy, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme

KEPT = 20
"""How many earlier inputs are offered."""


class InputField(QLineEdit):
    """Enter runs; Down or the arrow at its end offers earlier inputs."""

    submitted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._history: list[str] = []
        self.setObjectName("run_input")
        self.setPlaceholderText(tr("Input for the run"))
        self.setAccessibleName(tr("Input for the run"))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setMaximumWidth(420)
        self.setMinimumWidth(140)
        self.addAction(theme.icon("own:terminal", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.setTextMargins(-8, 0, -4, 0)
        self._arrow = self.addAction(theme.icon("chevron-down", "muted"), QLineEdit.ActionPosition.TrailingPosition)
        self._arrow.setToolTip(tr("Earlier inputs (Down)"))
        self._arrow.triggered.connect(self.show_history)
        self._menu = QMenu(self)
        self._menu.installEventFilter(self)
        self.returnPressed.connect(self._on_return_pressed)

    @property
    def history(self) -> list[str]:
        """Earlier inputs, newest first."""
        return list(self._history)

    def show_text(self, text: str) -> None:
        """Shows an input from its beginning."""
        self.setText(text)
        self.setCursorPosition(0)

    def set_history(self, history: list[str]) -> None:
        """Replaces the earlier inputs; newest first."""
        self._history = list(dict.fromkeys(history))[:KEPT]
        self._arrow.setVisible(bool(self._history))

    def remember(self, text: str) -> None:
        """Puts an input first in the history."""
        if text.strip():
            self.set_history([text, *(t for t in self._history if t != text)])

    def show_history(self) -> None:
        """Opens the list of earlier inputs below the field."""
        if not self._history:
            return
        self._menu.clear()
        self._menu.setMinimumWidth(self.width())
        for text in self._history:
            shown = self.fontMetrics().elidedText(
                text.replace("\n", " "), Qt.TextElideMode.ElideRight, self.width() - 40
            )
            action = self._menu.addAction(shown.replace("&", "&&"))
            action.setData(text)
            action.triggered.connect(self._on_menu_action_triggered)
        self._menu.popup(self.mapToGlobal(QPoint(0, self.height() + 2)))

    def sizeHint(self) -> QSize:
        return QSize(180, self._theme.length(28))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Down and not event.modifiers():
            self.show_history()
            return
        super().keyPressEvent(event)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # Up on the first entry leaves the list, as in a combo box.
        if watched is self._menu and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            first = self._menu.actions()[0] if self._menu.actions() else None
            if event.key() == Qt.Key.Key_Up and self._menu.activeAction() is first:
                self._menu.close()
                return True
        return super().eventFilter(watched, event)

    def _on_menu_action_triggered(self) -> None:
        sender = self.sender()
        text = sender.data() if isinstance(sender, QAction) else None
        if isinstance(text, str):
            self.setText(text)
            self.setFocus()

    def _on_return_pressed(self) -> None:
        self.submitted.emit(self.text())
