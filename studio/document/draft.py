"""A document while many edits are applied to it: each part is copied once, not once per edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from studio.document.changes import ChangeSet
from studio.document.model import Place, Workflow

CHANGED = {"nodes": "nodes_changed", "edges": "edges_changed", "notes": "notes", "groups": "groups"}
ADDED = {"nodes": "nodes_added", "edges": "edges_added", "notes": "notes", "groups": "groups"}
REMOVED = {"nodes": "nodes_removed", "edges": "edges_removed", "notes": "notes", "groups": "groups"}
"""By collection of the document, the field of the change set."""
_SETS = tuple(f.name for f in fields(ChangeSet) if f.name != "everything")


class _Items:
    """One collection as a list, with its ids beside it."""

    def __init__(self, items: tuple[Any, ...]) -> None:
        self.items = list(items)
        self._ids = [item.id for item in items]
        self._taken = set(self._ids)
        self._near = 0
        """Where the last item was found: edits mostly go through a document in its order."""

    def at(self, item_id: str) -> int:
        """Where an item is. Raises ``KeyError`` if it is not there."""
        for at in (self._near, self._near + 1):
            if at < len(self._ids) and self._ids[at] == item_id:
                break
        else:
            if item_id not in self._taken:
                raise KeyError(item_id)
            at = self._ids.index(item_id)
        self._near = at
        return at

    def insert(self, item: Any, index: int | None) -> None:
        """Puts an item in. Raises ``KeyError`` if its id is taken."""
        if item.id in self._taken:
            raise KeyError(f"{item.id} is taken")
        at = len(self.items) if index is None else index
        self.items.insert(at, item)
        self._ids.insert(at, item.id)
        self._taken.add(item.id)

    def pop(self, item_id: str) -> tuple[Any, int]:
        """Takes an item out; gives it and where it was."""
        at = self.at(item_id)
        del self._ids[at]
        self._taken.discard(item_id)
        return self.items.pop(at), at


class Draft:
    """Changes of a document that become a new one with :meth:`workflow`; the old one stays as it is."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._lists: dict[str, _Items] = {}
        self._places: dict[str, Place] | None = None
        self._changed: dict[str, set[str]] = {name: set() for name in _SETS}
        self._everything = False

    def _open(self, where: str) -> _Items:
        found = self._lists.get(where)
        if found is None:
            found = self._lists[where] = _Items(getattr(self._workflow, where))
        return found

    def insert(self, where: str, item: Any, index: int | None) -> None:
        """Puts an item into a collection at an index (None: the end)."""
        self._open(where).insert(item, index)
        self._changed[ADDED[where]].add(item.id)

    def remove(self, where: str, item_id: str) -> tuple[Any, int]:
        """Takes an item out of a collection; gives it and where it was."""
        taken = self._open(where).pop(item_id)
        self._changed[REMOVED[where]].add(item_id)
        return taken

    def set_fields(self, where: str, item_id: str, values: Mapping[str, Any]) -> dict[str, Any]:
        """Replaces fields of an item; gives the values before."""
        found = self._open(where)
        at = found.at(item_id)
        item = found.items[at]
        before = {name: getattr(item, name) for name in values}
        found.items[at] = item.model_copy(update=dict(values))
        self._changed[CHANGED[where]].add(item_id)
        return before

    def set_places(self, places: Mapping[str, Place | None]) -> dict[str, Place | None]:
        """Moves, or takes places away (None); gives the places before."""
        if self._places is None:
            self._places = dict(self._workflow.places)
        now = self._places
        before = {i: now.get(i) for i in places}
        now.update({i: place for i, place in places.items() if place is not None})
        for i, place in places.items():
            if place is None:
                now.pop(i, None)
        self._changed["placed"].update(places)
        return before

    def replace(self, workflow: Workflow, changes: ChangeSet) -> None:
        """Goes on with another document, which an edit of another kind made of this one."""
        self._workflow, self._lists, self._places = workflow, {}, None
        for name in _SETS:
            self._changed[name] |= getattr(changes, name)
        self._everything = self._everything or changes.everything

    def workflow(self) -> Workflow:
        """The document as it is by now."""
        values: dict[str, Any] = {where: tuple(found.items) for where, found in self._lists.items()}
        if self._places is not None:
            values["places"], self._places = self._places, None
        if values:
            self._workflow = self._workflow.model_copy(update=values)
        return self._workflow

    def changes(self) -> ChangeSet:
        """What was changed so far."""
        named: dict[str, Any] = {name: frozenset(ids) for name, ids in self._changed.items()}
        return ChangeSet(**named, everything=self._everything)
