"""Makes the usual fields of a form, bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.inspector.expand import add_expand
from studio.ui.inspector.form import Form, Refused, same
from studio.ui.inspector.offers import code_offers, names_in, template_offers
from studio.ui.text import tr
from studio.ui.widgets.buttons import ComboBox
from studio.ui.widgets.chips_field import ChipsField
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.completion import Completion
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.highlight import FieldHighlighter
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField, TextBox

CAPTION_DELAY = 150
"""Milliseconds after the last key until the token estimate is new."""


class ChoiceBox(ComboBox):
    """A combo box over (value, text); ``edited`` gives the value."""

    edited = Signal(object)

    def __init__(self, form: Form, choices: Sequence[tuple[object, str]], *, free: str = "") -> None:
        super().__init__(form.theme)
        self._choices: list[tuple[object, str]] = []
        self.set_choices(choices)
        self.setPlaceholderText(tr("mixed"))
        if free:
            self.make_editable(free)
            line = self.lineEdit()
            assert line is not None
            line.textEdited.connect(self._on_text_edited)
        self.activated.connect(self._on_activated)

    def set_choices(self, choices: Sequence[tuple[object, str]]) -> None:
        """Other choices; shows none of them."""
        self._choices = list(choices)
        model = QStandardItemModel(self)
        for value, text in choices:
            item = QStandardItem(text)
            item.setData(value, Qt.ItemDataRole.UserRole)
            model.appendRow(item)
        # All at once: added one by one to the box, each would tell the view, and there may be thousands.
        # Qt deletes the model before.
        self.setModel(model)
        self.setCurrentIndex(-1)

    def follow_choices(self, choices: Sequence[tuple[object, str]]) -> None:
        """Other choices while a value is shown, which stays."""
        if choices != self._choices:
            value = self.currentData()
            self.set_choices(choices)
            self.show_value(value)

    def show_value(self, value: object) -> None:
        """Shows a value; one that is not among the choices is shown as it is."""
        index = next((i for i, (choice, _) in enumerate(self._choices) if choice == value), -1)
        line = self.lineEdit() if self.isEditable() else None
        if line is not None:
            text = "" if value is None else str(value)
            if line.text() != text:
                self.setCurrentIndex(index)
                at = line.cursorPosition()
                line.setText(text)
                line.setCursorPosition(min(at, len(text)))
            return
        if index < 0 and value is not None:
            self.addItem(str(value), value)
            self._choices.append((value, str(value)))
            index = self.count() - 1
        self.setCurrentIndex(index)

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""
        self.bad = bad
        self.update()

    def _on_text_edited(self, text: str) -> None:
        self.edited.emit(text)

    def _on_activated(self, index: int) -> None:
        self.edited.emit(self.itemData(index))


def _written(value: Any) -> object:
    return value or ""


def line(
    form: Form,
    name: str,
    title: str,
    *,
    placeholder: str = "",
    hint: str = "",
    mono: bool = False,
    marked: bool = True,
    typed: Callable[[Any], object] = same,
    shown: Callable[[Any], object] = _written,
) -> Field:
    """One line of text."""
    field = Field(form.theme, title, LineField(form.theme, placeholder, mono=mono), hint=hint)
    form.bind(name, field, typed=typed, shown=shown, marked=marked)
    return field


def optional_line(form: Form, name: str, title: str, *, placeholder: str = "", hint: str = "") -> Field:
    """One line of text; empty is None."""
    field = Field(form.theme, title, LineField(form.theme, placeholder), hint=hint)
    form.bind(name, field, typed=lambda text: text or None, shown=lambda v: v or "")
    return field


def number(
    form: Form,
    name: str,
    title: str,
    *,
    least: float,
    most: float,
    whole: bool = False,
    optional: bool = True,
    placeholder: str = "",
    hint: str = "",
) -> Field:
    """A number in a range; empty is None when ``optional``."""

    def typed(text: str) -> object:
        if not text.strip() and optional:
            return None
        try:
            value: float = int(text) if whole else float(text.replace(",", "."))
        except ValueError:
            value = least - 1
        if not least <= value <= most:
            word = tr("a whole number") if whole else tr("a number")
            raise Refused(
                tr("Enter {word} from {least} to {most}.").format(word=word, least=f"{least:g}", most=f"{most:g}")
            )
        return value

    field = Field(form.theme, title, LineField(form.theme, placeholder), hint=hint)
    form.bind(name, field, typed=typed, shown=lambda v: "" if v is None else f"{v:g}")
    return field


def text(
    form: Form,
    name: str,
    title: str,
    *,
    placeholder: str = "",
    hint: str = "",
    lines: int = 5,
    marks: Literal["", "fields", "prompt"] = "",
    caption: Callable[[str], str] | None = None,
    marked: bool = True,
    typed: Callable[[Any], object] = same,
    shown: Callable[[Any], object] = _written,
) -> Field:
    """A text box; ``marks`` highlights ``{fields}`` or placeholders; ``caption`` follows the text a little later."""
    box = TextBox(form.theme, placeholder, lines=lines)
    field = Field(form.theme, title, box, hint=hint, resettable=marked)
    add_expand(form.theme, field, box, title)
    if marks == "fields":
        box.completion = Completion(form.theme, box, template_offers(form.workflow, form.item))
    if marks:
        FieldHighlighter(box.document(), form.theme, brackets=marks == "prompt")
    if caption is not None:
        timer = QTimer(box)
        timer.setSingleShot(True)
        timer.setInterval(CAPTION_DELAY)
        timer.timeout.connect(lambda: field.set_caption(caption(box.value)))
        box.textChanged.connect(timer.start)
        form.follow(lambda: None if timer.isActive() and box.hasFocus() else field.set_caption(caption(box.value)))
    form.bind(name, field, typed=typed, shown=shown, marked=marked)
    return field


def code(
    form: Form,
    name: str,
    title: str,
    *,
    language: Literal["python", "json"] = "python",
    placeholder: str = "",
    hint: str = "",
    lines: int = 6,
    typed: Callable[[Any], object] = same,
    shown: Callable[[Any], object] = _written,
    marked: bool = False,
) -> Field:
    """Code with highlighting."""
    editor = CodeEditor(form.theme, language, placeholder, lines=lines)
    field = Field(form.theme, title, editor, hint=hint, resettable=marked)
    add_expand(form.theme, field, editor, title, language)
    if language == "python":
        names = names_in(form.workflow(), form.item, name)
        editor.completion = Completion(form.theme, editor, code_offers(form.workflow, names))
    form.bind(name, field, typed=typed, shown=shown, marked=marked)
    return field


def choice(
    form: Form,
    name: str,
    title: str,
    choices: Sequence[tuple[object, str]],
    *,
    free: str = "",
    hint: str = "",
    none_if_empty: bool = False,
    marked: bool = True,
) -> Field:
    """A combo box; with ``free`` (its placeholder) other values can be typed."""
    field = Field(form.theme, title, ChoiceBox(form, choices, free=free), hint=hint)
    form.bind(name, field, typed=(lambda v: v or None) if none_if_empty else same, marked=marked)
    return field


def segments(form: Form, name: str, title: str, choices: Sequence[tuple[str, str]], *, hint: str = "") -> Field:
    """Joined buttons."""
    field = Field(form.theme, title, SegmentedControl(form.theme, choices), hint=hint)
    form.bind(name, field)
    return field


def check(form: Form, name: str, title: str, hint: str = "") -> CheckField:
    """A check box with its explanation."""
    field = CheckField(form.theme, title, hint)
    form.bind(name, field)
    return field


def chips(
    form: Form,
    name: str,
    title: str,
    offer: Callable[[], Sequence[tuple[str, str]]],
    add: str,
    *,
    icon: str = "",
    more: str = "",
    hint: str = "",
    typed: Callable[[Any], object] = same,
    label_of: Callable[[str], str] = str,
) -> Field:
    """Chips picked from what ``offer`` gives."""
    box = ChipsField(form.theme, offer, add, icon=icon, more=more, label_of=label_of)
    field = Field(form.theme, title, box, hint=hint)
    form.bind(name, field, typed=typed)
    return field


def beside(*fields: tuple[QWidget, int]) -> QWidget:
    """Fields in one row: (field, width); width 0 takes the rest."""
    row = QWidget()
    layout = QHBoxLayout(row)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(0)
    last = len(fields) - 1
    for i, (field, width) in enumerate(fields):
        inner = field.layout()
        if inner is not None:
            margins = inner.contentsMargins()
            inner.setContentsMargins(
                margins.left() if i == 0 else 3, margins.top(), margins.right() if i == last else 3, 0
            )
        if width:
            field.setFixedWidth(width)
        layout.addWidget(field, 0 if width else 1, Qt.AlignmentFlag.AlignTop)
    return row
