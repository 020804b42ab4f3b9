"""What differs between two documents, item by item and field by field; places apart from logic."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel

from studio.document.lines import Line, lines, name_of
from studio.document.model import SwitchEdge, Workflow

What = Literal["added", "removed", "changed", "moved"]
Part = Literal["nodes", "edges", "notes", "groups", "workflow"]
_PARTS: tuple[Part, ...] = ("nodes", "edges", "notes", "groups")
_Lines = dict[str, dict[str, Line]]
"""The lines of edge groups that have several, by group and line."""
_APART = frozenset({"id", "nodes", "edges", "notes", "groups", "places"})
_ORDERED: tuple[Part, ...] = ("nodes", "edges")
"""In which messages are delivered."""


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field before and after, as texts that can be read."""

    field: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ItemChange:
    """One node, edge group, note or group, or ("" as ``item``) a field of the workflow. ``marked``: the ids under which
    it is drawn, lines of an edge group among them; of something removed, those of the older document."""

    what: What
    part: Part
    item: str
    name: str
    fields: tuple[FieldChange, ...] = ()
    marked: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """How ``new`` differs from ``old``; changes in reading order of the new document, removed ones last."""

    old: Workflow
    new: Workflow
    changes: tuple[ItemChange, ...] = ()

    def count(self, what: What) -> int:
        """How many changes are of a kind."""
        return sum(change.what == what for change in self.changes)


def difference(old: Workflow, new: Workflow) -> Difference:
    """Compares two documents. Items are the same when part and id are."""
    return Difference(old, new, tuple(_changes(old, new)))


def _changes(old: Workflow, new: Workflow) -> Iterator[ItemChange]:
    for change in (*_fields(old, new, _APART), *_orders(old, new)):
        yield ItemChange("changed", "workflow", "", change.field, (change,))
    gone: list[ItemChange] = []
    old_lines, new_lines = _lines_of(old), _lines_of(new)
    for part in _PARTS:
        before = {item.id: item for item in getattr(old, part)}
        after = {item.id: item for item in getattr(new, part)}
        for item_id, item in after.items():
            if item_id not in before:
                marked = (item_id, *new_lines.get(item_id, ()))
                yield ItemChange("added", part, item_id, item_name(new, item), marked=marked)
            else:
                yield from _item(old, new, part, before[item_id], item, old_lines, new_lines)
        gone += [
            ItemChange("removed", part, i, item_name(old, item), marked=(i, *old_lines.get(i, ())))
            for i, item in before.items()
            if i not in after
        ]
    yield from gone


def _orders(old: Workflow, new: Workflow) -> Iterator[FieldChange]:
    """What is in both, in another order."""
    for part in _ORDERED:
        before, after = ({item.id: item for item in getattr(w, part)} for w in (old, new))
        if [i for i in before if i in after] != [i for i in after if i in before]:
            names = ["\n".join(item_name(w, i) for i in found.values()) for w, found in ((old, before), (new, after))]
            yield FieldChange(f"order_of_{part}", *names)


def _item(
    old: Workflow,
    new: Workflow,
    part: Part,
    before: BaseModel,
    after: Any,
    old_lines: _Lines,
    new_lines: _Lines,
) -> Iterator[ItemChange]:
    fields = tuple(_fields(before, after, frozenset({"id"}))) if before != after else ()
    if fields:
        before_lines, now_lines = old_lines.get(after.id, {}), new_lines.get(after.id, {})
        other = [i for i, line in now_lines.items() if before_lines.get(i) != line]
        gone = [i for i in before_lines if i not in now_lines]
        yield ItemChange("changed", part, after.id, item_name(new, after), fields, (after.id, *other, *gone))
    else:
        drawn = (after.id, *new_lines.get(after.id, ()))
        if any(old.places.get(i) != new.places.get(i) for i in drawn):
            yield ItemChange("moved", part, after.id, item_name(new, after), marked=drawn)


def _fields(before: BaseModel, after: BaseModel, apart: frozenset[str]) -> Iterator[FieldChange]:
    names = dict.fromkeys((*type(after).model_fields, *(after.model_extra or {}), *(before.model_extra or {})))
    for name in names:
        a, b = getattr(before, name, None), getattr(after, name, None)
        if name not in apart and a != b:
            yield FieldChange(name, shown(a), shown(b))


def shown(value: object) -> str:
    """A value of a field as one reads it: a text as it is, anything else as JSON, nothing as nothing."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(_plain(value), indent=1, ensure_ascii=False)


def _plain(value: object) -> object:
    if isinstance(value, BaseModel):
        return value.model_dump(mode="json", by_alias=True, exclude_defaults=True)
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return [_plain(inner) for inner in value] if isinstance(value, list | tuple) else value


def _lines_of(workflow: Workflow) -> _Lines:
    found: _Lines = {}
    for line in lines(workflow):
        if line.id != line.edge:
            found.setdefault(line.edge, {})[line.id] = line
    return found


def item_name(workflow: Workflow, item: Any) -> str:
    """What a person calls it: a name, "Planner → Writer", the first line of a note; "" for None."""
    if item is None:
        return ""
    name = getattr(item, "name", "")
    if name:
        return str(name)
    text = getattr(item, "text", "")
    if text:
        return str(text).strip().split("\n")[0][:60]
    if isinstance(item, SwitchEdge):
        return item.id
    ends = [getattr(item, "source", None) or ", ".join(name_of(workflow, s) for s in getattr(item, "sources", ()))]
    ends.append(getattr(item, "target", None))
    named = [name_of(workflow, end) for end in ends if end]
    return " → ".join(named) if len(named) == 2 else item.id
