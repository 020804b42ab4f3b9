"""Edits of the workflow inside an embedded sub-workflow, as edits of the document around it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from studio.document.bends import apply_tidily
from studio.document.changes import ChangeSet
from studio.document.edits import Applied, Edit, SetFields
from studio.document.lookup import by_id
from studio.document.model import SubWorkflowNode, Workflow


def embedded_in(workflow: Workflow, node_id: str) -> Workflow | None:
    """The workflow inside a node; None if the node is gone, is linked to a file, or holds none."""
    node = workflow.node(node_id)
    return node.embedded if isinstance(node, SubWorkflowNode) and not node.path else None


@dataclass(frozen=True, slots=True)
class EditInside:
    """An edit of the workflow inside a node. Raises ``KeyError`` if nothing is embedded there."""

    node_id: str
    edit: Edit

    def apply(self, workflow: Workflow) -> Applied:
        inner = embedded_in(workflow, self.node_id)
        if inner is None:
            raise KeyError(self.node_id)
        done = apply_tidily(self.edit, inner)
        put = SetFields("nodes", self.node_id, {"embedded": done.workflow}).apply(workflow)
        return Applied(put.workflow, EditInside(self.node_id, done.inverse), put.changes)


_SETS = (
    ("nodes", "nodes_added", "nodes_removed", "nodes_changed"),
    ("edges", "edges_added", "edges_removed", "edges_changed"),
    ("notes", "notes", "notes", "notes"),
    ("groups", "groups", "groups", "groups"),
)
_PARTS = frozenset({"nodes", "edges", "notes", "groups", "places"})


def changes_between(before: Workflow, after: Workflow) -> ChangeSet:
    """What differs between two states of one document. Parts that both share are not looked into."""
    if before.id != after.id:
        return ChangeSet(everything=True)
    found: dict[str, Any] = {}
    for where, added, removed, changed in _SETS:
        old, new = getattr(before, where), getattr(after, where)
        if old is new:
            continue
        a, b = by_id(old), by_id(new)
        other = {i for i in a.keys() & b.keys() if a[i] is not b[i] and a[i] != b[i]}
        for name, ids in ((added, b.keys() - a.keys()), (removed, a.keys() - b.keys()), (changed, other)):
            found[name] = found.get(name, frozenset()) | ids
    if before.places is not after.places:
        ids = before.places.keys() | after.places.keys()
        found["placed"] = frozenset(i for i in ids if before.places.get(i) != after.places.get(i))
    found["workflow"] = frozenset(
        name for name in Workflow.model_fields if name not in _PARTS and _differ(before, after, name)
    )
    return ChangeSet(**found)


def _differ(before: Workflow, after: Workflow, name: str) -> bool:
    old: Any = getattr(before, name)
    new: Any = getattr(after, name)
    return old is not new and bool(old != new)
