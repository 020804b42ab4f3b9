"""Text fields that edit a document while one types: the cursor stays, and Ctrl+Z undoes typing first.

``edited`` is emitted for every change that the user makes; ``show_value`` never emits. When a field has no typing left
to undo it emits ``undo_requested``: the document's undo comes next.
"""

from __future__ import annotations

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
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
from studio.ui.widgets.positions import type_over, until
from studio.ui.widgets.wrapping import wrap_mode

MAX_LINES = 12
"""A text box grows to this many lines, then it scrolls."""
LONG = 20_000
"""A text of more characters is not put into a form: Qt lays out and colours all of it, 2 MB in seconds."""
EXCERPT = 4_000
"""So many characters of a long text are shown in its place."""


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
    excerpted = Signal(bool)
    """It shows the beginning of a long text now, or no longer."""
    whole_requested = Signal(int, int)
    """Somebody wants to read or edit all of a long text, with this stretch of it selected."""

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
        self.excerpts = False
        """Of a text over :data:`LONG` it shows the beginning only, which cannot be edited there."""
        self._whole: str | None = None
        self.locked = False
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

    @property
    def shows_all(self) -> bool:
        """False while it shows the beginning of a long text."""
        return self._whole is None

    def toPlainText(self) -> str:
        """All of the text, also where an excerpt of it is shown."""
        return super().toPlainText() if self._whole is None else self._whole

    def replace(self, text: str) -> None:
        """Puts another text in place of a long one, or a long one in place of another, and tells of it."""
        self.show_value(text)
        self.edited.emit(text)

    def show_value(self, value: object) -> None:
        """Shows a text. Only what differs is replaced, so the cursor and the scroll position stay."""
        text = "" if value is None else str(value)
        now = self.toPlainText()
        if text == now:
            self._known = now
            return
        if (self.excerpts and len(text) > LONG) or self._whole is not None:
            self._show_excerpt(text)
            return
        mine = self.textCursor()
        at = mine.position()
        self._showing = True
        self.setWordWrapMode(wrap_mode(text))
        start, end, moved = type_over(self.document(), now, text)
        self.document().clearUndoRedoStacks()
        if at >= end and at > start:
            at += moved
        mine.setPosition(max(0, min(at, self.document().characterCount() - 1)))
        self.setTextCursor(mine)
        self._showing = False
        self._known = self.toPlainText()
        self._fit()

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""
        repolish(self, "bad", bad)

    def set_read_only(self, read_only: bool) -> None:
        """Shows text that cannot be changed; it can still be copied."""
        self.locked = read_only
        read_only = read_only or self._whole is not None
        self.setReadOnly(read_only)
        repolish(self, "read", read_only)

    def _show_excerpt(self, text: str) -> None:
        """Shows the beginning of a long text, or all of one that is no longer long."""
        self._whole = text if len(text) > LONG else None
        self._known = text
        self._showing = True
        self.setWordWrapMode(wrap_mode(text[:EXCERPT]))
        self.setPlainText(text[:EXCERPT] + "…" if self._whole is not None else text)
        self._format_blocks()
        self._showing = False
        self.setReadOnly(self.locked or self._whole is not None)
        repolish(self, "read", self.isReadOnly())
        self._fit()
        self.excerpted.emit(self._whole is not None)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """What makes the text a long one goes to the document at once, without a layout of all of it."""
        text, cursor = source.text(), self.textCursor()
        now = self.toPlainText()
        if not self.excerpts or len(now) + len(text) <= LONG:
            if wrap_mode(text) is not self.wordWrapMode():
                self.setWordWrapMode(wrap_mode(text + now))
            super().insertFromMimeData(source)
        elif not self.isReadOnly():
            before, after = until(now, cursor.selectionStart()), now[len(until(now, cursor.selectionEnd())) :]
            self.replace(before + text.replace("\r\n", "\n") + after)

    def createMimeDataFromSelection(self) -> QMimeData:
        """Everything of an excerpt is everything of its text."""
        cursor = self.textCursor()
        if self._whole is not None and cursor.selectionEnd() - cursor.selectionStart() > EXCERPT:
            whole = QMimeData()
            whole.setText(self._whole)
            return whole
        return super().createMimeDataFromSelection()

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self._whole is not None:
            self.whole_requested.emit(0, 0)
        super().mouseDoubleClickEvent(event)

    def focusNextPrevChild(self, following: bool) -> bool:
        if following and self.completion is not None and self.completion.takes_tab():
            return True
        return super().focusNextPrevChild(following)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.completion is not None and self.completion.takes(event):
            return
        if self._whole is not None and event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.whole_requested.emit(0, 0)
        elif event.matches(QKeySequence.StandardKey.Undo):
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
