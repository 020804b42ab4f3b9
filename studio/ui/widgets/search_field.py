"""A small field to filter a list, with a magnifier and a cross to clear it."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme


class SearchField(QLineEdit):
    """Esc clears it."""

    def __init__(self, theme: Theme, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("small", True)
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.addAction(QAction(theme.icon("own:search", "muted"), "", self), QLineEdit.ActionPosition.LeadingPosition)
        self._clear = QAction(theme.icon("x", "muted"), tr("Clear"), self)
        self._clear.triggered.connect(self.clear)
        self.addAction(self._clear, QLineEdit.ActionPosition.TrailingPosition)
        self._clear.setVisible(False)
        self.textChanged.connect(self._on_text_changed)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        else:
            super().keyPressEvent(event)

    def _on_text_changed(self, text: str) -> None:
        self._clear.setVisible(bool(text))
