"""What a form edits: items of the document, read as one value per field and written as one undo step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from studio.bridge.workspace import Workspace
from studio.document.edits import Batch, Edit, SetFields, SetWorkflow
from studio.document.lines import name_of
from studio.document.lookup import by_id
from studio.document.problems import Problem
from studio.ui.text import tr


@dataclass(frozen=True, slots=True)
class Mixed:
    """The value of a field that differs between the selected items."""


MIXED = Mixed()


def value_at(item: Any, path: str) -> Any:
    """The value of a field; ``path`` may lead into an object: ``tool_loop.max_iterations``."""
    for name in path.split("."):
        item = getattr(item, name)
    return item


def changed_at(item: Any, path: str, value: object) -> tuple[str, object]:
    """The field of the item that changes, and its new value: an object with another value at the rest of the path."""
    first, _, rest = path.partition(".")
    if not rest:
        return first, value
    inner = getattr(item, first)
    name, new = changed_at(inner, rest, value)
    return first, inner.model_copy(update={name: new})


_defaults: dict[tuple[type[Any], str], object] = {}
"""Of each class and path: making a default copies it, and a page asks for a hundred."""


def default_at(model: type[Any], path: str) -> object:
    """The default of a field; see :func:`value_at`."""
    if (model, path) not in _defaults:
        first, _, rest = path.partition(".")
        default = model.model_fields[first].get_default(call_default_factory=True)
        _defaults[model, path] = value_at(default, rest) if rest else default
    return _defaults[model, path]


class Target(Protocol):
    """Something with fields."""

    def read(self, field: str) -> object:
        """The value of a field, or :data:`MIXED`. Raises ``KeyError`` when the item is gone."""

    def write(self, field: str, value: object) -> None:
        """Changes a field; edits of one field in a row become one undo step."""

    def default(self, field: str) -> object:
        """The value of a field that nobody changed."""

    def problems(self) -> Sequence[Problem]:
        """The problems of this."""

    def step_text(self, field: str) -> str:
        """How the undo menu calls a change of a field."""


class Items:
    """Nodes, edges, notes or groups with these ids."""

    def __init__(self, workspace: Workspace, where: str, ids: Sequence[str]) -> None:
        self.workspace, self.where, self.ids = workspace, where, tuple(ids)
        self._there: object = None
        """The items of the document that the following are about: everything can be selected at once."""
        self._items: list[object] = []
        self._values: dict[str, object] = {}

    def items(self) -> list[object]:
        """The items as they are now. Raises ``KeyError`` when one is gone."""
        there = getattr(self.workspace.document.workflow, self.where)
        if there is not self._there:
            found = by_id(there)
            self._items, self._values = [found[i] for i in self.ids], {}
            self._there = there
        return self._items

    @property
    def kind(self) -> str:
        """The kind of all items; "" if they differ."""
        kinds = {str(getattr(item, "kind", "")) for item in self.items()}
        return kinds.pop() if len(kinds) == 1 else ""

    def read(self, field: str) -> object:
        items = self.items()
        if field not in self._values:
            first = value_at(items[0], field)
            alike = all(value_at(item, field) == first for item in items)
            self._values[field] = first if alike else MIXED
        return self._values[field]

    def write(self, field: str, value: object) -> None:
        if self.read(field) == value:
            return
        changes = [changed_at(item, field, value) for item in self.items()]
        edits: list[Edit] = [SetFields(self.where, i, {c[0]: c[1]}) for i, c in zip(self.ids, changes, strict=True)]
        edit = edits[0] if len(edits) == 1 else Batch(tuple(edits))
        self.workspace.document.execute(edit, self.step_text(field), f"{','.join(self.ids)}.{field}")

    def default(self, field: str) -> object:
        return default_at(type(self.items()[0]), field)

    def problems(self) -> Sequence[Problem]:
        there = self.workspace.problems.by_place
        return [p for i in self.ids for p in there.get(i, ())]

    def step_text(self, field: str) -> str:
        word = field.rpartition(".")[2].replace("_", " ")
        if len(self.ids) > 1:
            return tr("Change {field} of {count} items").format(field=word, count=len(self.ids))
        return tr("Change {field} of {name}").format(
            field=word, name=name_of(self.workspace.document.workflow, self.ids[0])
        )


class WorkflowFields:
    """The fields of the workflow itself."""

    kind = "workflow"

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def read(self, field: str) -> object:
        return getattr(self.workspace.document.workflow, field)

    def write(self, field: str, value: object) -> None:
        if self.read(field) != value:
            self.workspace.document.execute(SetWorkflow({field: value}), self.step_text(field), f"workflow.{field}")

    def default(self, field: str) -> object:
        return type(self.workspace.document.workflow).model_fields[field].get_default(call_default_factory=True)

    def problems(self) -> Sequence[Problem]:
        return self.workspace.problems.at("")

    def step_text(self, field: str) -> str:
        return tr("Change {field} of the workflow").format(field=field.replace("_", " "))
