"""Cards of the declared types and of the keys of shared state."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from studio.bridge.workspace import Workspace
from studio.document.edits import Edit, SetWorkflow
from studio.document.model import StateDecl, TypeDecl, Workflow
from studio.document.types import type_names
from studio.ui.inspector import builder
from studio.ui.inspector.declared import Card, Cards, Declared
from studio.ui.inspector.form import Refused
from studio.ui.inspector.schema_editor import SchemaEditor
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.field import Field


def changing(where: str) -> Callable[..., Edit]:
    """The edit that changes one item of a list of the workflow."""

    def change(workflow: Workflow, index: int, **values: Any) -> Edit:
        items = getattr(workflow, where)
        item = items[index].model_copy(update=values)
        return SetWorkflow({where: (*items[:index], item, *items[index + 1 :])})

    return change


def removing(where: str) -> Callable[[Workflow, int], Edit]:
    """The edit that takes one item out of a list of the workflow."""

    def remove(workflow: Workflow, index: int) -> Edit:
        items = getattr(workflow, where)
        return SetWorkflow({where: (*items[:index], *items[index + 1 :])})

    return remove


def json_value(text: str) -> object:
    """A first value as typed: JSON, or a text as it is; empty is none."""
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except ValueError:
        if text.lstrip()[:1] in "{[":
            raise Refused(tr("This is not JSON yet.")) from None
        return text


def value_text(value: object) -> str:
    """A value as one types it: a text without quotes unless it would read as something else."""
    if value is None:
        return ""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, ensure_ascii=False)


class TypeCard(Card):
    """Name and fields of a record."""

    def __init__(self, theme: Theme, target: Declared, remove: Callable[[int], None]) -> None:
        super().__init__(theme, target, remove)
        hint = tr("Rename with references (Shift+F2) changes everything that mentions it.")
        self.add(builder.line(self.form, "name", tr("Name"), mono=True, marked=False, hint=hint))
        editor = SchemaEditor(theme, none={"type": "object", "properties": {}})
        field = Field(theme, tr("Fields"), editor, resettable=False)
        self.form.bind("json_schema", field, marked=False)
        self.add(field)

    def summary(self) -> str:
        properties = self.target.item.json_schema.get("properties")
        return ", ".join(properties) if isinstance(properties, dict) else ""


class StateCard(Card):
    """Key, type and first value."""

    def __init__(self, theme: Theme, target: Declared, remove: Callable[[int], None]) -> None:
        super().__init__(theme, target, remove)
        hint = tr("Rename with references (Shift+F2) changes everything that mentions it.")
        self.add(builder.line(self.form, "key", tr("Key"), mono=True, marked=False, hint=hint))
        names = [(n, n) for n in type_names(target.workspace.document.workflow)]
        self.add(builder.choice(self.form, "type", tr("Type"), names, free="text"))
        hint = tr("At run time: what is read before anything is written. JSON, or a text. Default: none.")
        self.add(builder.line(self.form, "initial", tr("First value"), hint=hint, typed=json_value, shown=value_text))

    def summary(self) -> str:
        item = self.target.item
        return item.type if item.initial is None else f"{item.type} = {value_text(item.initial)[:20]}"


def _free(taken: Sequence[str], wanted: str) -> str:
    return next(n for n in (wanted, *(f"{wanted}_{i}" for i in range(2, len(taken) + 3))) if n not in taken)


class TypeCards(Cards):
    """The declared types."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, workspace, "types", TypeCard, changing("types"), removing("types"), tr("type"))
        add = Button(theme, tr("Add type"), "own:plus", small=True)
        add.clicked.connect(self.add)
        self.buttons.addWidget(add)
        self.buttons.addStretch(1)

    def add(self) -> None:
        """A new type with one field."""
        types = self.workspace.document.workflow.types
        name = _free([t.name for t in types], "Record")
        schema: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        made = TypeDecl(name=name, json_schema=schema)
        self.execute(SetWorkflow({"types": (*types, made)}), tr("Add type {name}").format(name=name))


class StateCards(Cards):
    """The keys of shared state."""

    def __init__(self, theme: Theme, workspace: Workspace) -> None:
        super().__init__(theme, workspace, "state", StateCard, changing("state"), removing("state"), tr("state key"))
        add = Button(theme, tr("Add key"), "own:plus", small=True)
        add.clicked.connect(self.add)
        self.buttons.addWidget(add)
        self.buttons.addStretch(1)

    def add(self) -> None:
        """A new key for a text."""
        state = self.workspace.document.workflow.state
        key = _free([s.key for s in state], "key")
        edit = SetWorkflow({"state": (*state, StateDecl(key=key))})
        self.execute(edit, tr("Add state key {name}").format(name=key))
