"""Edits: data that turns one document into the next, with an inverse and a change set.

Primitive edits are below; what a gesture or form does is usually a :class:`Batch` made by a function of
``studio.document.commands``. For every edit: apply, then apply the inverse, gives an equal document.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from studio.document.changes import ChangeSet
from studio.document.draft import ADDED, CHANGED, REMOVED, Draft
from studio.document.model import Place, Workflow


@dataclass(frozen=True, slots=True)
class Applied:
    """The new document, the edit that undoes it, and what changed."""

    workflow: Workflow
    inverse: Edit
    changes: ChangeSet


class Edit(Protocol):
    """Something that can be applied to a document.

    Raises ``KeyError`` for an id that is not there, or one that is taken: a bug of the caller.
    """

    def apply(self, workflow: Workflow) -> Applied: ...


def _index(items: Sequence[Any], item_id: str) -> int:
    for i, item in enumerate(items):
        if item.id == item_id:
            return i
    raise KeyError(item_id)


def _inserted(items: tuple[Any, ...], item: Any, index: int | None) -> tuple[Any, ...]:
    if any(i.id == item.id for i in items):
        raise KeyError(f"{item.id} is taken")
    at = len(items) if index is None else index
    return (*items[:at], item, *items[at:])


def _changes(names: Mapping[str, str], where: str, item_id: str) -> ChangeSet:
    values: dict[str, Any] = {names[where]: frozenset({item_id})}
    return ChangeSet(**values)


@dataclass(frozen=True, slots=True)
class Insert:
    """Puts an item into ``nodes``, ``edges``, ``notes`` or ``groups`` at an index (None: the end)."""

    where: str
    item: Any
    index: int | None = None

    def apply(self, workflow: Workflow) -> Applied:
        items = _inserted(getattr(workflow, self.where), self.item, self.index)
        return Applied(
            workflow.model_copy(update={self.where: items}),
            Remove(self.where, self.item.id),
            _changes(ADDED, self.where, self.item.id),
        )


@dataclass(frozen=True, slots=True)
class Remove:
    """Takes an item out of ``nodes``, ``edges``, ``notes`` or ``groups``. Its place stays until :class:`SetPlaces`."""

    where: str
    item_id: str

    def apply(self, workflow: Workflow) -> Applied:
        items = getattr(workflow, self.where)
        at = _index(items, self.item_id)
        return Applied(
            workflow.model_copy(update={self.where: (*items[:at], *items[at + 1 :])}),
            Insert(self.where, items[at], at),
            _changes(REMOVED, self.where, self.item_id),
        )


@dataclass(frozen=True, slots=True)
class SetFields:
    """Replaces fields of one item of ``nodes``, ``edges``, ``notes`` or ``groups``; values fit the model already."""

    where: str
    item_id: str
    values: Mapping[str, Any]

    def apply(self, workflow: Workflow) -> Applied:
        items = getattr(workflow, self.where)
        at = _index(items, self.item_id)
        before = {name: getattr(items[at], name) for name in self.values}
        item = items[at].model_copy(update=dict(self.values))
        return Applied(
            workflow.model_copy(update={self.where: (*items[:at], item, *items[at + 1 :])}),
            SetFields(self.where, self.item_id, before),
            _changes(CHANGED, self.where, self.item_id),
        )


@dataclass(frozen=True, slots=True)
class SetWorkflow:
    """Replaces fields of the workflow itself: ``name``, ``start``, ``outputs``, ``tools``, ``offline`` ..."""

    values: Mapping[str, Any]

    def apply(self, workflow: Workflow) -> Applied:
        before = {name: getattr(workflow, name) for name in self.values}
        return Applied(
            workflow.model_copy(update=dict(self.values)),
            SetWorkflow(before),
            ChangeSet(workflow=frozenset(self.values)),
        )


@dataclass(frozen=True, slots=True)
class SetPlaces:
    """Moves and resizes; None removes the place."""

    places: Mapping[str, Place | None] = field(default_factory=dict)

    def apply(self, workflow: Workflow) -> Applied:
        before = {i: workflow.places.get(i) for i in self.places}
        places = {**workflow.places, **{i: p for i, p in self.places.items() if p is not None}}
        for i, place in self.places.items():
            if place is None:
                places.pop(i, None)
        return Applied(
            workflow.model_copy(update={"places": places}), SetPlaces(before), ChangeSet(placed=frozenset(self.places))
        )


@dataclass(frozen=True, slots=True)
class ReplaceAll:
    """The whole document at once: load, recover, restore a version."""

    workflow: Workflow

    def apply(self, workflow: Workflow) -> Applied:
        return Applied(self.workflow, ReplaceAll(workflow), ChangeSet(everything=True))


@dataclass(frozen=True, slots=True)
class Batch:
    """Several edits as one step."""

    edits: tuple[Edit, ...]

    def apply(self, workflow: Workflow) -> Applied:
        draft = Draft(workflow)
        inverse = self.on(draft)
        return Applied(draft.workflow(), inverse, draft.changes())

    def on(self, draft: Draft) -> Batch:
        """Applies the edits to one draft; gives what takes them back."""
        return Batch(tuple(reversed([_on(edit, draft) for edit in self.edits])))


def _on(edit: Edit, draft: Draft) -> Edit:
    """Applies an edit to a draft; gives its inverse."""
    match edit:
        case Insert():
            draft.insert(edit.where, edit.item, edit.index)
            return Remove(edit.where, edit.item.id)
        case Remove():
            return Insert(edit.where, *draft.remove(edit.where, edit.item_id))
        case SetFields():
            return SetFields(edit.where, edit.item_id, draft.set_fields(edit.where, edit.item_id, edit.values))
        case SetPlaces():
            return SetPlaces(draft.set_places(edit.places))
        case Batch():
            return edit.on(draft)
    done = edit.apply(draft.workflow())
    draft.replace(done.workflow, done.changes)
    return done.inverse
