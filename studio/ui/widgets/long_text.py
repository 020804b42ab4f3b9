"""All of a long text in a window: Qt lays out only the lines that are seen, so megabytes open at once."""

from __future__ import annotations

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextCursor, QTextOption
from PySide6.QtWidgets import QPlainTextEdit, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.polish import repolish
from studio.ui.widgets.positions import type_over
from studio.ui.widgets.wrapping import wrap_mode


class LongText(QPlainTextEdit):
    """Says and shows what a ``TextBox`` does, without colours."""

    edited = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._showing = False
        self.setFont(theme.font("code-small"))
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.textChanged.connect(self._on_text_changed)

    @property
    def value(self) -> str:
        """The text."""
        return self.toPlainText()

    def show_value(self, value: object) -> None:
        """Shows a text; only what differs is replaced."""
        text, now = str(value or ""), self.toPlainText()
        if text == now:
            return
        self._showing = True
        self.setWordWrapMode(wrap_mode(text))
        if now:
            type_over(self.document(), now, text)
            self.document().clearUndoRedoStacks()
        else:
            self.setPlainText(text)
        self._showing = False

    def insertFromMimeData(self, source: QMimeData) -> None:
        if wrap_mode(source.text()) is not self.wordWrapMode():
            self.setWordWrapMode(wrap_mode(source.text() + self.toPlainText()))
        super().insertFromMimeData(source)

    def set_read_only(self, read_only: bool) -> None:
        """Shows text that cannot be changed; it can still be copied."""
        self.setReadOnly(read_only)
        repolish(self, "read", read_only)

    def select(self, first: int, last: int) -> None:
        """Selects a stretch, in positions of Qt, and brings it into view."""
        cursor = self.textCursor()
        cursor.setPosition(first)
        cursor.setPosition(last, QTextCursor.MoveMode.KeepAnchor)
        self.setTextCursor(cursor)
        self.centerCursor()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Undo) and not self.document().isUndoAvailable():
            self.undo_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Redo) and not self.document().isRedoAvailable():
            self.redo_requested.emit()
        else:
            super().keyPressEvent(event)

    def _on_text_changed(self) -> None:
        if not self._showing:
            self.edited.emit(self.toPlainText())
