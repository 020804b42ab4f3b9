"""Fields of a form made from a JSON Schema: each gives a value, nothing yet, or an error in words."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QButtonGroup, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import CheckBox, ComboBox, RadioButton
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.labels import Label
from studio.ui.widgets.sources import counted
from studio.ui.widgets.text_fields import LineField, TextBox

FEW = 4
"""Up to this many choices are radio buttons."""
LONG = 120
"""Texts that may be longer get a box."""


class Missing:
    """The value of a field that is not filled in."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = Missing()


class Wrong(ValueError):
    """What was typed is no value; the text says what would be."""


class ValueField(QWidget):
    """One value. ``changed`` on every change by the user, ``left`` when the focus leaves it."""

    changed = Signal()
    left = Signal()
    narrow = False
    """Whether two of these fit side by side."""

    def value(self) -> object:
        """The value, or :data:`MISSING`. Raises :class:`Wrong`."""
        raise NotImplementedError

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""

    def focus_first(self) -> None:
        """Puts the focus into the first part."""
        self.setFocus()


def _column(widget: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(widget)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    return column


class TextValue(ValueField):
    """A line, or a box for long texts."""

    def __init__(self, theme: Theme, schema: Mapping[str, Any], *, long: bool) -> None:
        super().__init__()
        self._schema = schema
        self.editor: LineField | TextBox = TextBox(theme, lines=2) if long else LineField(theme)
        self.editor.show_value(schema.get("default", ""))
        self.editor.edited.connect(self.changed)
        self.editor.left.connect(self.left)
        _column(self).addWidget(self.editor)
        self.setFocusProxy(self.editor)

    def value(self) -> object:
        text = self.editor.text() if isinstance(self.editor, LineField) else self.editor.value
        if not text:
            return MISSING
        most, least = self._schema.get("maxLength"), self._schema.get("minLength")
        if isinstance(most, int) and len(text) > most:
            raise Wrong(counted(most, tr("Use at most 1 character."), tr("Use at most {count} characters.")))
        if isinstance(least, int) and len(text) < least:
            raise Wrong(counted(least, tr("Use at least 1 character."), tr("Use at least {count} characters.")))
        pattern = self._schema.get("pattern")
        if isinstance(pattern, str) and re.search(pattern, text) is None:
            raise Wrong(tr("This does not have the form {pattern}.").format(pattern=pattern))
        return text

    def set_bad(self, bad: bool) -> None:
        self.editor.set_bad(bad)


class NumberValue(ValueField):
    """A number in a range."""

    narrow = True

    def __init__(self, theme: Theme, schema: Mapping[str, Any], *, whole: bool) -> None:
        super().__init__()
        self._schema, self._whole = schema, whole
        self.editor = LineField(theme)
        if "default" in schema:
            self.editor.show_value(f"{schema['default']}")
        self.editor.edited.connect(self.changed)
        self.editor.left.connect(self.left)
        _column(self).addWidget(self.editor)
        self.setFocusProxy(self.editor)

    def value(self) -> object:
        text = self.editor.text().strip()
        if not text:
            return MISSING
        try:
            number: float = int(text) if self._whole else float(text.replace(",", "."))
        except ValueError:
            raise Wrong(self._wanted()) from None
        least, most = self._range()
        if (least is not None and number < least) or (most is not None and number > most):
            raise Wrong(self._wanted())
        return number

    def set_bad(self, bad: bool) -> None:
        self.editor.set_bad(bad)

    def _range(self) -> tuple[float | None, float | None]:
        least, most = self._schema.get("minimum"), self._schema.get("maximum")
        return (
            least if isinstance(least, int | float) else None,
            most if isinstance(most, int | float) else None,
        )

    def _wanted(self) -> str:
        word = tr("a whole number") if self._whole else tr("a number")
        least, most = self._range()
        if least is not None and most is not None:
            return tr("Enter {word} from {least} to {most}.").format(word=word, least=f"{least:g}", most=f"{most:g}")
        if least is not None:
            return tr("Enter {word} of at least {least}.").format(word=word, least=f"{least:g}")
        if most is not None:
            return tr("Enter {word} of at most {most}.").format(word=word, most=f"{most:g}")
        return tr("Enter {word}.").format(word=word)


class DateValue(ValueField):
    """A day as 2026-12-04."""

    narrow = True

    def __init__(self, theme: Theme, schema: Mapping[str, Any]) -> None:
        super().__init__()
        self.editor = LineField(theme, tr("2026-12-31"))
        self.editor.show_value(schema.get("default", ""))
        self.editor.edited.connect(self.changed)
        self.editor.left.connect(self.left)
        _column(self).addWidget(self.editor)
        self.setFocusProxy(self.editor)

    def value(self) -> object:
        text = self.editor.text().strip()
        if not text:
            return MISSING
        try:
            return date.fromisoformat(text).isoformat()
        except ValueError:
            raise Wrong(tr("Enter a day as year, month, day: 2026-12-31.")) from None

    def set_bad(self, bad: bool) -> None:
        self.editor.set_bad(bad)


class FlagValue(ValueField):
    """Yes or no: a check box in an object, two radio buttons where it is the whole answer."""

    def __init__(self, theme: Theme, title: str, default: object) -> None:
        super().__init__()
        self.box = CheckBox(theme, title)
        self.box.setChecked(default is True)
        self.box.toggled.connect(self.changed)
        _column(self).addWidget(self.box)
        self.setFocusProxy(self.box)

    def value(self) -> object:
        return self.box.isChecked()


class ChoiceValue(ValueField):
    """One of several: radio buttons up to :data:`FEW`, else a combo box. Values need not be texts."""

    def __init__(self, theme: Theme, choices: Sequence[tuple[object, str]], default: object = MISSING) -> None:
        super().__init__()
        self._choices = list(choices)
        self._group: QButtonGroup | None = None
        self._combo: ComboBox | None = None
        if len(self._choices) <= FEW:
            self._make_radios(theme, default)
        else:
            self._make_combo(theme, default)

    @property
    def radios(self) -> list[RadioButton]:
        """The radio buttons, if there are any."""
        return [b for b in self._group.buttons() if isinstance(b, RadioButton)] if self._group is not None else []

    @property
    def combo(self) -> ComboBox | None:
        """The combo box, if there is one."""
        return self._combo

    def value(self) -> object:
        index = (
            self._group.checkedId() if self._group is not None else self._combo.currentIndex() if self._combo else -1
        )
        return self._choices[index][0] if index >= 0 else MISSING

    def focus_first(self) -> None:
        widget = self.radios[0] if self.radios else self._combo
        if widget is not None:
            widget.setFocus()

    def _make_radios(self, theme: Theme, default: object) -> None:
        self._group = QButtonGroup(self)
        texts = [text for _, text in self._choices]
        short = sum(len(t) for t in texts) <= 32
        layout = QHBoxLayout(self) if short else QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(14 if short else 0)
        for i, (value, text) in enumerate(self._choices):
            button = RadioButton(theme, text)
            button.setChecked(value == default)
            self._group.addButton(button, i)
            layout.addWidget(button)
        if short:
            layout.addStretch(1)
        self._group.idClicked.connect(self._on_clicked)

    def _make_combo(self, theme: Theme, default: object) -> None:
        self._combo = ComboBox(theme)
        self._combo.setPlaceholderText(tr("Choose…"))
        self._combo.addItems([text for _, text in self._choices])
        self._combo.setCurrentIndex(next((i for i, (v, _) in enumerate(self._choices) if v == default), -1))
        self._combo.activated.connect(self._on_clicked)
        _column(self).addWidget(self._combo)
        self.setFocusProxy(self._combo)

    def _on_clicked(self, _index: int) -> None:
        self.changed.emit()
        self.left.emit()


class ChoicesValue(ValueField):
    """Any of several: check boxes in two columns."""

    def __init__(self, theme: Theme, choices: Sequence[tuple[object, str]], default: object, least: int) -> None:
        super().__init__()
        self._choices, self._least = list(choices), least
        self.boxes: list[CheckBox] = []
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(0)
        chosen = default if isinstance(default, list) else []
        for i, (value, text) in enumerate(self._choices):
            box = CheckBox(theme, text)
            box.setChecked(value in chosen)
            box.toggled.connect(self.changed)
            grid.addWidget(box, i // 2, i % 2)
            self.boxes.append(box)
        grid.setColumnStretch(0, 1)
        grid.setColumnStretch(1, 1)

    def value(self) -> object:
        chosen = [value for (value, _), box in zip(self._choices, self.boxes, strict=True) if box.isChecked()]
        if len(chosen) < self._least:
            if not chosen:
                return MISSING
            raise Wrong(tr("Choose at least {count}.").format(count=self._least))
        return chosen

    def focus_first(self) -> None:
        if self.boxes:
            self.boxes[0].setFocus()


class JsonValue(ValueField):
    """Anything else, written as JSON."""

    def __init__(self, theme: Theme, schema: Mapping[str, Any]) -> None:
        super().__init__()
        hint = json.dumps({k: v for k, v in schema.items() if k != "title"}, ensure_ascii=False)
        self.editor = CodeEditor(theme, "json", hint if len(hint) < 200 else "{}", lines=3)
        if "default" in schema:
            self.editor.show_value(json.dumps(schema["default"], ensure_ascii=False, indent=2))
        self.editor.edited.connect(self.changed)
        self.editor.left.connect(self.left)
        column = _column(self)
        column.addWidget(self.editor)
        kind = schema.get("type")
        words = tr("JSON: {kind}").format(kind=kind) if isinstance(kind, str) else tr("Any JSON value")
        note = Label(theme, words, "small", "muted")
        note.setAlignment(Qt.AlignmentFlag.AlignLeft)
        column.addWidget(note)
        self._kind = kind
        self.setFocusProxy(self.editor)

    def value(self) -> object:
        text = self.editor.value.strip()
        if not text:
            return MISSING
        try:
            value = json.loads(text)
        except ValueError as error:
            raise Wrong(tr("This is not JSON yet: {reason}.").format(reason=str(error))) from None
        wanted = {"object": dict, "array": list}.get(self._kind if isinstance(self._kind, str) else "")
        if wanted is not None and not isinstance(value, wanted):
            raise Wrong(tr("Enter a JSON {kind}.").format(kind=self._kind))
        return value

    def set_bad(self, bad: bool) -> None:
        self.editor.set_bad(bad)
