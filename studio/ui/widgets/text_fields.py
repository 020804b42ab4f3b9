"""Text fields that edit a document while one types: the cursor stays, and Ctrl+Z undoes typing first.

``edited`` is emitted for every change that the user makes; ``show_value`` never emits. When a field has no typing left
to undo it emits ``undo_requested``: the document's undo comes next.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
    QPalette,
    QTextBlockFormat,
    QTextCursor,
    QTextOption,
)
from PySide6.QtWidgets import QLineEdit, QSizePolicy, QTextEdit, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.completion import Completion
from studio.ui.widgets.polish import repolish

MAX_LINES = 12
"""A text box grows to this many lines, then it scrolls."""


class LineField(QLineEdit):
    """One line of text."""

    edited = Signal(object)
    left = Signal()
    """The field lost the focus."""
    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(
        self, theme: Theme, placeholder: str = "", *, mono: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setPlaceholderText(placeholder)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if mono:
            self.setFont(theme.font("code-small"))
        self.completion: Completion | None = None
        self.textEdited.connect(self._on_text_edited)
        self.editingFinished.connect(self.left)

    def minimumSizeHint(self) -> QSize:
        return QSize(40, self.sizeHint().height())

    def show_value(self, value: object) -> None:
        """Shows a value; keeps the cursor where it is as far as it can."""
        text = "" if value is None else str(value)
        if text == self.text():
            return
        at = self.cursorPosition()
        self.setText(text)
        self.setCursorPosition(min(at, len(text)))

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""
        repolish(self, "bad", bad)

    def focusNextPrevChild(self, following: bool) -> bool:
        if following and self.completion is not None and self.completion.takes_tab():
            return True
        return super().focusNextPrevChild(following)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion is not None and self.completion.takes(event):
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            if self.isUndoAvailable():
                self.undo()
                self.edited.emit(self.text())
            else:
                self.undo_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Redo):
            if self.isRedoAvailable():
                self.redo()
                self.edited.emit(self.text())
            else:
                self.redo_requested.emit()
        else:
            super().keyPressEvent(event)

    def _on_text_edited(self, text: str) -> None:
        self.edited.emit(text)
        if self.completion is not None and self.hasFocus():
            self.completion.look()


class TextBox(QTextEdit):
    """Several lines of plain text that grow to :data:`MAX_LINES`; a document's block format gives the line height."""

    edited = Signal(object)
    left = Signal()
    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(
        self,
        theme: Theme,
        placeholder: str = "",
        *,
        lines: int = 3,
        line_height: int = 17,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme, self._lines, self._unscaled = theme, lines, line_height
        self._showing = False
        self._known = ""
        """The text as it was shown or told last: Qt says that the text changed when fonts and colours do."""
        self._placeholder = ""
        self.max_lines = MAX_LINES
        self.fills = False
        """It has the height that its layout gives, not that of its text."""
        self.completion: Completion | None = None
        self.setAcceptRichText(False)
        self.setPlaceholderText(placeholder)
        self.setTabChangesFocus(True)
        self.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().setDocumentMargin(3)
        self._format_blocks()
        theme.changed.connect(self._on_theme_changed)
        self.textChanged.connect(self._on_text_changed)
        self.document().documentLayout().documentSizeChanged.connect(self._on_document_size_changed)
        self._fit()

    def setPlaceholderText(self, text: str) -> None:
        """Qt draws a placeholder in the first line only and cuts off what wraps: it is drawn here."""
        self._placeholder = text
        self.viewport().update()

    def placeholderText(self) -> str:
        return self._placeholder

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._placeholder and self.document().isEmpty():
            painter = QPainter(self.viewport())
            painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
            edge = round(self.document().documentMargin())
            box = self.viewport().rect().adjusted(edge, edge, -edge, -edge)
            painter.drawText(box, Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap, self._placeholder)

    @property
    def value(self) -> str:
        """The text."""
        return self.toPlainText()

    def show_value(self, value: object) -> None:
        """Shows a text. Only what differs is replaced, so the cursor and the scroll position stay."""
        text = "" if value is None else str(value)
        now = self.toPlainText()
        if text == now:
            self._known = now
            return
        start, end_now, end_text = changed_span(now, text)
        at = self.textCursor().position()
        if at >= end_now and at > start:
            at += end_text - end_now
        self._showing = True
        cursor = QTextCursor(self.document())
        cursor.setPosition(start)
        cursor.setPosition(end_now, QTextCursor.MoveMode.KeepAnchor)
        cursor.insertText(text[start:end_text])
        self.document().clearUndoRedoStacks()
        mine = self.textCursor()
        mine.setPosition(max(0, min(at, len(text))))
        self.setTextCursor(mine)
        self._showing = False
        self._known = self.toPlainText()
        self._fit()

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""
        repolish(self, "bad", bad)

    def set_read_only(self, read_only: bool) -> None:
        """Shows text that cannot be changed; it can still be copied."""
        self.setReadOnly(read_only)
        repolish(self, "read", read_only)

    def focusNextPrevChild(self, following: bool) -> bool:
        if following and self.completion is not None and self.completion.takes_tab():
            return True
        return super().focusNextPrevChild(following)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion is not None and self.completion.takes(event):
            return
        if event.matches(QKeySequence.StandardKey.Undo):
            if self.document().isUndoAvailable():
                self.undo()
            else:
                self.undo_requested.emit()
        elif event.matches(QKeySequence.StandardKey.Redo):
            if self.document().isRedoAvailable():
                self.redo()
            else:
                self.redo_requested.emit()
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: object) -> None:
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.left.emit()

    @property
    def _line_height(self) -> int:
        return self._theme.length(self._unscaled)

    def _on_theme_changed(self) -> None:
        self._showing = True
        self._format_blocks()
        self._showing = False
        self._fit()

    def _format_blocks(self) -> None:
        block = QTextBlockFormat()
        block.setLineHeight(self._line_height, QTextBlockFormat.LineHeightTypes.FixedHeight.value)
        cursor = QTextCursor(self.document())
        cursor.select(QTextCursor.SelectionType.Document)
        cursor.mergeBlockFormat(block)
        self.document().clearUndoRedoStacks()

    def _on_text_changed(self) -> None:
        text = self.toPlainText()
        if not self._showing and text != self._known:
            self._known = text
            self.edited.emit(text)
            if self.completion is not None and self.hasFocus():
                self.completion.look()

    def _on_document_size_changed(self, _size: object) -> None:
        self._fit()

    def _fit(self) -> None:
        if self.fills:
            return
        # The size of a document is only known when all of it is laid out: long texts are not asked.
        lines = self.document().blockCount()
        if lines < self.max_lines:
            lines = round(self.document().size().height() - 6) // self._line_height
        shown = max(self._lines, min(self.max_lines, lines))
        height = shown * self._line_height + 6 + 10
        if height != self.height() or self.minimumHeight() != height:
            self.setFixedHeight(height)


def changed_span(old: str, new: str) -> tuple[int, int, int]:
    """The part that differs: start, its end in ``old``, its end in ``new``."""
    most = min(len(old), len(new))
    start = _longest(most, lambda low, high: old[low:high] == new[low:high])
    at, to = len(old), len(new)
    tail = _longest(most - start, lambda low, high: old[at - high : at - low] == new[to - high : to - low])
    return start, at - tail, to - tail


def _longest(most: int, alike: Callable[[int, int], bool]) -> int:
    """How far two texts are alike, in halves: comparing slices is a hundred times faster than characters."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if alike(low, middle):
            low = middle
        else:
            high = middle - 1
    return low
