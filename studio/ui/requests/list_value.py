"""A list of texts or numbers in a form: one entry a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout

from studio.ui.requests.values import MISSING, ValueField, Wrong
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Label
from studio.ui.widgets.sources import counted
from studio.ui.widgets.text_fields import TextBox

LISTED = ("string", "integer", "number")
"""Types of entries that can stand in a line."""


class ListValue(ValueField):
    """Entries, one a line; empty lines are none. A JSON list is taken, too: for entries with line breaks, and for [].

    ``schema`` is that of the list; its items are of a type in :data:`LISTED`.
    """

    def __init__(self, theme: Theme, schema: Mapping[str, Any]) -> None:
        super().__init__()
        self._schema = schema
        self._type = schema["items"]["type"]
        self.editor = TextBox(theme, lines=3)
        if isinstance(schema.get("default"), list):
            self.editor.show_value(_shown(schema["default"]))
        self.editor.edited.connect(self.changed)
        self.editor.left.connect(self.left)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.editor)
        words = tr("One text a line.") if self._type == "string" else tr("One number a line.")
        note = Label(theme, words, "small", "muted")
        note.setAlignment(Qt.AlignmentFlag.AlignLeft)
        column.addWidget(note)
        self.setFocusProxy(self.editor)

    def value(self) -> object:
        text = self.editor.value.strip()
        if not text:
            return MISSING
        entries = _json_list(text)
        if entries is None:
            entries = [self._entry(line.strip()) for line in text.splitlines() if line.strip()]
        least, most = self._schema.get("minItems"), self._schema.get("maxItems")
        if isinstance(least, int) and len(entries) < least:
            raise Wrong(counted(least, tr("Enter at least 1 line."), tr("Enter at least {count} lines.")))
        if isinstance(most, int) and len(entries) > most:
            raise Wrong(counted(most, tr("Enter at most 1 line."), tr("Enter at most {count} lines.")))
        return entries

    def set_bad(self, bad: bool) -> None:
        self.editor.set_bad(bad)

    def _entry(self, line: str) -> object:
        if self._type == "string":
            return line
        try:
            return int(line) if self._type == "integer" else float(line.replace(",", "."))
        except ValueError:
            words = (
                tr("“{line}” is not a whole number.") if self._type == "integer" else tr("“{line}” is not a number.")
            )
            raise Wrong(words.format(line=line)) from None


def _json_list(text: str) -> list[object] | None:
    if not text.startswith("["):
        return None
    try:
        found = json.loads(text)
    except ValueError:
        return None  # a line that begins with a bracket, as a source does
    return found if isinstance(found, list) else None


def _shown(entries: list[object]) -> str:
    lines = [str(entry) for entry in entries]
    plain = lines and all(line.strip() == line and line and "\n" not in line for line in lines)
    return "\n".join(lines) if plain and not lines[0].startswith("[") else json.dumps(entries, ensure_ascii=False)
