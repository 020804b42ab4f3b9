"""A small code editor: monospaced, highlighted, four spaces for Tab, the indent of the line above."""

from __future__ import annotations

from typing import Literal

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.highlight import CodeHighlighter
from studio.ui.widgets.polish import repolish
from studio.ui.widgets.positions import until
from studio.ui.widgets.text_fields import TextBox


class CodeEditor(TextBox):
    """Code inside a form. Tab indents; Esc then Tab leaves the field."""

    def __init__(
        self,
        theme: Theme,
        language: Literal["python", "json"] = "python",
        placeholder: str = "",
        *,
        lines: int = 5,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(theme, placeholder, lines=lines, line_height=18, parent=parent)
        self._language = language
        self._leaving = False
        self.setTabChangesFocus(False)
        repolish(self, "code", True)
        self._highlighter = CodeHighlighter(self.document(), theme, language)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion is not None and self.completion.takes(event):
            return
        key, leaving = event.key(), self._leaving
        self._leaving = key == Qt.Key.Key_Escape
        plain = event.modifiers() == Qt.KeyboardModifier.NoModifier
        if key == Qt.Key.Key_Tab and plain and not self.isReadOnly():
            if leaving:
                self.focusNextChild()
            else:
                self._indent()
        elif key == Qt.Key.Key_Backtab and not self.isReadOnly():
            self._unindent()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and plain and not self.isReadOnly():
            self._break_line()
        else:
            super().keyPressEvent(event)

    def _indent(self) -> None:
        cursor = self.textCursor()
        if cursor.hasSelection():
            self._each_line(cursor, 1)
        else:
            cursor.insertText(" " * (4 - cursor.positionInBlock() % 4))

    def _unindent(self) -> None:
        self._each_line(self.textCursor(), -1)

    def _each_line(self, cursor: QTextCursor, step: int) -> None:
        block = self.document().findBlock(cursor.selectionStart())
        last = self.document().findBlock(cursor.selectionEnd()).blockNumber()
        cursor.beginEditBlock()
        while block.isValid() and block.blockNumber() <= last:
            line = QTextCursor(block)
            if step > 0:
                line.insertText("    ")
            else:
                spaces = min(4, len(block.text()) - len(block.text().lstrip(" ")))
                line.movePosition(QTextCursor.MoveOperation.Right, QTextCursor.MoveMode.KeepAnchor, spaces)
                line.removeSelectedText()
            block = block.next()
        cursor.endEditBlock()

    def _break_line(self) -> None:
        cursor = self.textCursor()
        line = until(cursor.block().text(), cursor.positionInBlock())
        indent = line[: len(line) - len(line.lstrip(" "))]
        if line.rstrip().endswith((":", "{", "[", "(")):
            indent += "    "
        cursor.insertText("\n" + indent)
        self.ensureCursorVisible()
