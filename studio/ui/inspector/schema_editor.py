"""Edits a JSON Schema of an object as a list of fields, or as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.document.schema_fields import FieldType, SchemaField, fields_of_schema, schema_of_fields
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, CheckBox, ComboBox
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

TYPES: tuple[tuple[FieldType, str], ...] = (
    ("text", "text"),
    ("integer", "whole number"),
    ("number", "number"),
    ("boolean", "yes or no"),
    ("choice", "choice"),
    ("texts", "list of texts"),
    ("numbers", "list of numbers"),
    ("object", "fields"),
    ("objects", "list of fields"),
    ("other", "as in JSON"),
)
_NESTED = ("object", "objects")
DEEPEST = 4
"""Fields inside fields are offered so deep."""


class FieldRow(QWidget):
    """One field: name, type, whether it must be there; below, what it means, its options, its own fields."""

    edited = Signal()
    remove_requested = Signal(object)

    def __init__(self, theme: Theme, depth: int) -> None:
        super().__init__()
        self._theme, self._depth = theme, depth
        self._field = SchemaField("")
        self.inner: FieldList | None = None
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(2)
        self.name = LineField(theme, tr("name"), mono=True)
        self.name.setAccessibleName(tr("Name of the field"))
        self.type = ComboBox(theme)
        for kind, words in TYPES:
            if depth < DEEPEST or kind not in _NESTED:
                self.type.addItem(tr(words), kind)
        self.type.setAccessibleName(tr("Type of the field"))
        self.required = CheckBox(theme, "")
        self.required.setToolTip(tr("The field must be there"))
        self.required.setAccessibleName(tr("The field must be there"))
        remove = Button(theme, "", "x", "plain", small=True)
        remove.setToolTip(tr("Remove this field"))
        remove.setAccessibleName(tr("Remove this field"))
        remove.clicked.connect(lambda: self.remove_requested.emit(self))
        top = QHBoxLayout()
        top.setSpacing(4)
        top.addWidget(self.name, 5)
        top.addWidget(self.type, 5)
        top.addWidget(self.required)
        top.addWidget(remove)
        self._column.addLayout(top)
        self.options = LineField(theme, tr("Choices, with commas between"))
        self.options.setAccessibleName(tr("Choices"))
        self.description = LineField(theme, tr("What it means, for the model"))
        self.description.setAccessibleName(tr("What the field means"))
        self._column.addWidget(self.options)
        self._column.addWidget(self.description)
        for line in (self.name, self.options, self.description):
            line.edited.connect(self._on_edited)
        self.type.activated.connect(self._on_type_activated)
        self.required.clicked.connect(self._on_edited)

    @property
    def field(self) -> SchemaField:
        """The field as the row shows it."""
        options = tuple(o.strip() for o in self.options.text().split(",") if o.strip())
        return replace(
            self._field,
            name=self.name.text().strip(),
            type=self.type.currentData(),
            required=self.required.isChecked(),
            description=self.description.text(),
            options=options,
            fields=self.inner.fields if self.inner is not None else (),
        )

    def show_field(self, field: SchemaField) -> None:
        """Shows a field; emits nothing. Text that means the same stays as it is typed."""
        now = self.field
        self._field = field
        if now.name != field.name:
            self.name.show_value(field.name)
        self.type.setCurrentIndex(max(0, self.type.findData(field.type)))
        self.required.setChecked(field.required)
        if now.description != field.description:
            self.description.show_value(field.description)
        if now.options != field.options:
            self.options.show_value(", ".join(field.options))
        self._show_parts(field)

    def _show_parts(self, field: SchemaField) -> None:
        self.options.setVisible(field.type == "choice")
        self.description.setEnabled(field.type != "other")
        nested = field.type in _NESTED
        if nested and self.inner is None:
            self.inner = FieldList(self._theme, self._depth + 1)
            self.inner.edited.connect(self._on_edited)
            self._column.addWidget(self.inner)
        if self.inner is not None:
            self.inner.setVisible(nested)
            self.inner.show_fields(field.fields if nested else ())

    def _on_type_activated(self, _index: int) -> None:
        self._show_parts(self.field)
        self.edited.emit()

    def _on_edited(self, _value: object = None) -> None:
        self.edited.emit()


class FieldList(QWidget):
    """Rows, and *Add field*; fields inside a field are indented by a line."""

    edited = Signal()

    def __init__(self, theme: Theme, depth: int = 0) -> None:
        super().__init__()
        self._theme, self._depth = theme, depth
        self.rows: list[FieldRow] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(10 if depth else 0, 0, 0, 0)
        column.setSpacing(6)
        self._list = QVBoxLayout()
        self._list.setSpacing(6)
        column.addLayout(self._list)
        add = Button(theme, tr("Add field"), "own:plus", "plain", small=True)
        add.clicked.connect(self.add)
        row = QHBoxLayout()
        row.addWidget(add)
        row.addStretch(1)
        column.addLayout(row)

    @property
    def fields(self) -> tuple[SchemaField, ...]:
        """The fields as they are shown."""
        return tuple(row.field for row in self.rows)

    def show_fields(self, fields: Sequence[SchemaField]) -> None:
        """Shows fields; rows are kept, so that the cursor stays."""
        while len(self.rows) > len(fields):
            self._drop(self.rows[-1])
        while len(self.rows) < len(fields):
            self._append()
        for row, field in zip(self.rows, fields, strict=True):
            row.show_field(field)

    def add(self) -> None:
        """A new field with a free name at the end."""
        taken = {field.name for field in self.fields}
        names = ("field", *(f"field_{n}" for n in range(2, len(taken) + 3)))
        row = self._append()
        row.show_field(SchemaField(next(n for n in names if n not in taken)))
        row.name.setFocus()
        row.name.selectAll()
        self.edited.emit()

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._depth:
            QPainter(self).fillRect(2, 2, 2, self.height() - 4, self._theme.color("border"))

    def _append(self) -> FieldRow:
        row = FieldRow(self._theme, self._depth)
        row.edited.connect(self.edited)
        row.remove_requested.connect(self._on_row_remove_requested)
        self.rows.append(row)
        self._list.addWidget(row)
        row.show()  # at once: a new row takes the focus
        return row

    def _drop(self, row: FieldRow) -> None:
        self.rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()

    def _on_row_remove_requested(self, row: FieldRow) -> None:
        self._drop(row)
        self.edited.emit()


class SchemaEditor(QWidget):
    """``edited`` gives the new schema; without a field it is None, where ``none`` is the value of nothing."""

    edited = Signal(object)
    undo_requested = Signal()
    redo_requested = Signal()

    def __init__(self, theme: Theme, *, none: object = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._none = none
        self._schema: dict[str, Any] = {}
        self.mode = SegmentedControl(theme, (("fields", tr("Fields")), ("json", tr("JSON"))), small=True)
        self.mode.setAccessibleName(tr("How the schema is edited"))
        self.mode.show_value("fields")
        self.list = FieldList(theme)
        self.json = CodeEditor(
            theme, "json", '{"type": "object", "properties": {"score": {"type": "integer"}}}', lines=4
        )
        self.json.setAccessibleName(tr("JSON Schema"))
        self._said = Prose(theme, "", "small", "muted", 15)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(6)
        top = QHBoxLayout()
        top.addWidget(self.mode)
        top.addStretch(1)
        column.addLayout(top)
        column.addWidget(self.list)
        column.addWidget(self.json)
        column.addWidget(self._said)
        self.mode.edited.connect(self._on_mode_edited)
        self.list.edited.connect(self._on_list_edited)
        self.json.edited.connect(self._on_json_edited)
        self.json.undo_requested.connect(self.undo_requested)
        self.json.redo_requested.connect(self.redo_requested)
        self.setFocusProxy(self.mode)
        self._show_mode()

    def show_value(self, value: object) -> None:
        """Shows a schema; emits nothing."""
        self._schema = dict(value) if isinstance(value, dict) else {}
        fields = fields_of_schema(self._schema) if self._schema else ()
        if fields is None:
            self.mode.show_value("json")
        elif self.list.fields != fields:
            self.list.show_fields(fields)
        if not self.json.hasFocus() or self._typed() != self._schema:
            self.json.show_value(json.dumps(self._schema, indent=2, ensure_ascii=False) if self._schema else "")
        self._show_mode()

    def set_bad(self, bad: bool) -> None:
        """Draws the outline of an error."""
        self.json.set_bad(bad)

    def _typed(self) -> object:
        try:
            return json.loads(self.json.value or "{}")
        except ValueError:
            return None

    def _show_mode(self) -> None:
        listable = not self._schema or fields_of_schema(self._schema) is not None
        as_json = self.mode.value == "json"
        self.list.setVisible(not as_json)
        self.json.setVisible(as_json)
        self._said.set_text("" if listable else tr("This schema says more than a list of fields can."))
        self._said.setVisible(not listable)

    def _on_mode_edited(self, mode: object) -> None:
        if mode == "fields" and self._schema and fields_of_schema(self._schema) is None:
            self.mode.show_value("json")
        self._show_mode()

    def _on_list_edited(self) -> None:
        fields = self.list.fields
        made: object = schema_of_fields(fields, self._schema) if fields else self._none
        if made != (self._schema or self._none):
            self._schema = dict(made) if isinstance(made, dict) else {}
            self.edited.emit(made)

    def _on_json_edited(self, _text: object) -> None:
        typed = self._typed()
        if not isinstance(typed, dict):
            self._said.set_text(tr("This is not the JSON of an object yet; it is taken when it is."))
            self._said.show()
            return
        self._schema = typed
        fields = fields_of_schema(typed) if typed else ()
        if fields is not None:
            self.list.show_fields(fields)
        self._show_mode()
        self.edited.emit(typed or self._none)
