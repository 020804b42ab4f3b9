"""Forms from schemas: which field for which schema, and the object that holds several."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.requests.list_value import LISTED, ListValue
from studio.ui.requests.values import (
    LONG,
    MISSING,
    ChoicesValue,
    ChoiceValue,
    DateValue,
    FlagValue,
    JsonValue,
    NumberValue,
    TextValue,
    ValueField,
    Wrong,
)
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.field import Field

_DEEPEST = 3


def title_of(name: str, schema: Mapping[str, Any]) -> str:
    """ "pages_at_most" -> "Pages at most", unless the schema has a title."""
    title = schema.get("title")
    return title if isinstance(title, str) and title else name.replace("_", " ").strip().capitalize()


def choices_of(schema: Mapping[str, Any]) -> list[tuple[object, str]]:
    """The values of an enum with their texts."""
    values = schema.get("enum")
    if not isinstance(values, list):
        options = schema.get("oneOf")
        if isinstance(options, list) and options and all(isinstance(o, Mapping) and "const" in o for o in options):
            return [(o["const"], str(o.get("title", o["const"]))) for o in options]
        return []
    return [(v, v if isinstance(v, str) else str(v)) for v in values]


def make_value(theme: Theme, schema: Mapping[str, Any], *, title: str = "", depth: int = 0) -> ValueField:
    """The field for a schema; unknown schemas are written as JSON."""
    default = schema.get("default", MISSING)
    choices = choices_of(schema)
    if choices:
        return ChoiceValue(theme, choices, default)
    match schema.get("type"):
        case "boolean":
            return FlagValue(theme, title, default)
        case "integer":
            return NumberValue(theme, schema, whole=True)
        case "number":
            return NumberValue(theme, schema, whole=False)
        case "string" if schema.get("format") == "date":
            return DateValue(theme, schema)
        case "string":
            most = schema.get("maxLength")
            long = schema.get("format") == "textarea" or (isinstance(most, int) and most > LONG)
            return TextValue(theme, schema, long=long)
        case "array":
            items = schema.get("items")
            inner = choices_of(items) if isinstance(items, Mapping) else []
            if inner:
                least = schema.get("minItems", 0)
                return ChoicesValue(theme, inner, default, least if isinstance(least, int) else 0)
            if isinstance(items, Mapping) and items.get("type") in LISTED:
                return ListValue(theme, schema)
        case "object" if isinstance(schema.get("properties"), Mapping) and depth < _DEEPEST:
            return ObjectValue(theme, schema, depth=depth)
    return JsonValue(theme, schema)


def with_defaults(schema: Mapping[str, Any], begun: object) -> Mapping[str, Any]:
    """The schema with what a person has begun as its defaults, at any depth."""
    if begun is None:
        return schema
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not isinstance(begun, Mapping):
        return {**schema, "default": begun}
    filled = {
        name: with_defaults(inner, begun.get(name)) if isinstance(inner, Mapping) else inner
        for name, inner in properties.items()
    }
    return {**schema, "properties": filled}


class ObjectValue(ValueField):
    """The fields of an object, one below the other; narrow ones in pairs. Errors show when a field is left."""

    def __init__(self, theme: Theme, schema: Mapping[str, Any], *, depth: int = 0) -> None:
        super().__init__()
        self._theme, self._depth = theme, depth
        required = schema.get("required")
        self._required = frozenset(required if isinstance(required, list) else ())
        self.fields: dict[str, ValueField] = {}
        self._frames: dict[str, Field] = {}
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(0)
        properties: Mapping[str, Any] = schema.get("properties", {})
        for name, inner in properties.items():
            self._make(name, inner if isinstance(inner, Mapping) else {})
        self._place(list(properties))

    def value(self) -> object:
        """The object without what was left out. Raises :class:`Wrong` for the first field that is wrong."""
        made: dict[str, object] = {}
        for name, field in self.fields.items():
            value = field.value()
            if value is MISSING:
                if name in self._required:
                    return MISSING
                continue
            made[name] = value
        return made

    def show_errors(self) -> None:
        """Shows every error now, also of required fields that are empty."""
        for name in self.fields:
            self._check(name, leaving=False)

    def error(self, name: str) -> str:
        """The error that is shown at a field."""
        return self._frames[name].problem if name in self._frames else ""

    def focus_first(self) -> None:
        for field in self.fields.values():
            field.focus_first()
            return

    def _make(self, name: str, schema: Mapping[str, Any]) -> None:
        title = title_of(name, schema)
        field = make_value(self._theme, schema, title=title, depth=self._depth + 1)
        self.fields[name] = field
        field.changed.connect(self._on_changed)
        if isinstance(field, ObjectValue):
            card = QFrame()
            inside = QVBoxLayout(card)
            inside.setContentsMargins(8, 0, 0, 0)
            inside.addWidget(field)
        hint = schema.get("description", "")
        shown: QWidget = field
        frame = Field(
            self._theme,
            title if not isinstance(field, FlagValue) else "",
            shown,
            hint=hint if isinstance(hint, str) else "",
            required=name in self._required and not isinstance(field, FlagValue),
            resettable=False,
        )
        self._frames[name] = frame
        field.left.connect(lambda n=name: self._check(n, leaving=True))

    def _place(self, names: Sequence[str]) -> None:
        at = 0
        while at < len(names):
            pair = names[at : at + 2]
            if len(pair) == 2 and all(self.fields[n].narrow for n in pair):
                row = QHBoxLayout()
                row.setContentsMargins(0, 0, 0, 0)
                row.setSpacing(0)
                for name, margins in zip(pair, ((11, 9, 4, 0), (4, 9, 11, 0)), strict=True):
                    layout = self._frames[name].layout()
                    assert layout is not None
                    layout.setContentsMargins(*margins)
                    row.addWidget(self._frames[name], 1, Qt.AlignmentFlag.AlignTop)
                self._column.addLayout(row)
                at += 2
            else:
                self._column.addWidget(self._frames[names[at]])
                at += 1

    def _on_changed(self) -> None:
        for name, frame in self._frames.items():
            if frame.problem:
                self._check(name, leaving=True)
        self.changed.emit()

    def _check(self, name: str, *, leaving: bool) -> None:
        frame = self._frames[name]
        try:
            value = self.fields[name].value()
        except Wrong as wrong:
            frame.set_problem("error", str(wrong))
            return
        missing = value is MISSING and name in self._required and not leaving
        frame.set_problem("error", tr("This is needed.") if missing else "")
