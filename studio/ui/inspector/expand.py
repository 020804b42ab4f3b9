"""A text field in a window of its own: more room for prompts and code, the same text in both."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Literal

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractButton, QDialog, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.paint.numbers import count_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, focus_ring
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.field import Field
from studio.ui.widgets.highlight import FieldHighlighter
from studio.ui.widgets.long_text import LongText
from studio.ui.widgets.positions import type_over
from studio.ui.widgets.style import sheet
from studio.ui.widgets.text_fields import LONG, TextBox

Language = Literal["", "python", "json"]
_UNLIMITED = 10_000


class ExpandButton(QAbstractButton):
    """Opens the window."""

    def __init__(self, theme: Theme, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedSize(16, 16)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setToolTip(tr("Open in a window"))
        self.setAccessibleName(tr("Open {title} in a window").format(title=title))
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        token = "text" if self.underMouse() else "muted"
        painter.drawPixmap(2, 2, self._theme.pixmap("maximize-2", 11, token, self.devicePixelRatioF()))
        if self.hasFocus():
            focus_ring(painter, self._theme, self.rect().toRectF(), 4)


class ExpandedText(QDialog):
    """Follows the field while it is open; what is typed is typed in the field."""

    def __init__(self, theme: Theme, field: TextBox, title: str, language: Language, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setObjectName("expanded_text")
        self.setWindowTitle(title)
        self.setStyleSheet(sheet(theme))
        self.resize(760, 560)
        self._field = field
        self.editor = LongText(theme) if len(field.value) > LONG else self._make_editor(theme, language)
        self.editor.setAccessibleName(title)
        self.editor.show_value(field.value)
        self.editor.set_read_only(field.locked)
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 12, 12, 12)
        column.addWidget(self.editor)
        self.editor.edited.connect(self._on_editor_edited)
        self.editor.undo_requested.connect(field.undo_requested)
        self.editor.redo_requested.connect(field.redo_requested)
        field.textChanged.connect(self._on_field_changed)
        field.destroyed.connect(self.close)
        self.editor.setFocus()

    def sizeHint(self) -> QSize:
        return QSize(760, 560)

    def shows(self, field: TextBox) -> bool:
        """Whether it is the window of this field."""
        return self._field is field

    def _make_editor(self, theme: Theme, language: Language) -> TextBox:
        editor = CodeEditor(theme, language, lines=3) if language else TextBox(theme, lines=3, line_height=18)
        if not language:
            FieldHighlighter(editor.document(), theme, brackets=True)
        editor.setMinimumHeight(0)
        editor.setMaximumHeight(_UNLIMITED)
        editor.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        editor.fills = True
        completion = self._field.completion
        editor.completion = completion.copy_for(editor) if completion is not None else None
        return editor

    def _on_editor_edited(self, text: object) -> None:
        type_into(self._field, str(text))

    def _on_field_changed(self) -> None:
        if self._field.value != self.editor.value:
            self.editor.show_value(self._field.value)


def type_into(field: TextBox, text: str) -> None:
    """Replaces what differs, as if it were typed: the field tells of it and can undo it."""
    now = field.toPlainText()
    if field.excerpts and max(len(text), len(now)) > LONG:
        if text != now:
            field.replace(text)
    elif text != now:
        type_over(field.document(), now, text)


def add_expand(theme: Theme, field: Field, editor: TextBox, title: str, language: Language = "") -> ExpandButton:
    """Gives a field the button."""
    button = ExpandButton(theme, title, field)
    open_all = partial(_open, theme, editor, title, language)
    button.clicked.connect(lambda: open_all(0, 0))
    field.add_button(button)
    editor.excerpts = True
    editor.whole_requested.connect(open_all)
    editor.excerpted.connect(partial(_tell_excerpt, field, editor, open_all))
    return button


def _open(theme: Theme, editor: TextBox, title: str, language: Language, first: int, last: int) -> None:
    """Shows all of the text; of a long one with a stretch selected, in the window that it has already."""
    opened = next((w for w in editor.window().findChildren(ExpandedText) if w.shows(editor)), None)
    if opened is None:
        opened = ExpandedText(theme, editor, title, language, editor.window())
        opened.show()
    if last > first and isinstance(opened.editor, LongText):
        opened.editor.select(first, last)
    opened.raise_()


def _tell_excerpt(field: Field, editor: TextBox, open_all: Callable[[int, int], None], excerpted: bool) -> None:
    """Below the beginning of a long text: how long it is, and the way to all of it."""
    link = field.findChild(Button, "whole_text")
    if link is None:
        link = Button(field.theme, "", kind="link", parent=field)
        link.setObjectName("whole_text")
        link.clicked.connect(lambda: open_all(0, 0))
        layout = field.layout()
        assert layout is not None
        layout.addWidget(link)
        layout.setAlignment(link, Qt.AlignmentFlag.AlignLeft)
    words = tr("The beginning of {count} characters: open all…").format(count=count_text(len(editor.value)))
    link.setText(words)
    link.setAccessibleName(words)
    link.setVisible(excerpted)
