"""Every mention of a node's id outside the node itself, with another id."""

from __future__ import annotations

from typing import Any

from studio.document.edits import Edit, SetFields, SetPlaces, SetWorkflow
from studio.document.ids import script_key, script_owner
from studio.document.model import UnknownEdge, Workflow


def renamed_mentions(workflow: Workflow, old: str, new: str) -> list[Edit]:
    """Edits for edges, groups, start, outputs, offline script and place."""

    def swapped(value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(swapped(item) for item in value)
        return new if value == old else value

    edits: list[Edit] = []
    for edge in workflow.edges:
        if isinstance(edge, UnknownEdge):
            continue
        values: dict[str, Any] = {}
        for name in ("source", "target", "default", "targets", "sources"):
            before = getattr(edge, name, None)
            if before is not None and swapped(before) != before:
                values[name] = swapped(before)
        cases = getattr(edge, "cases", ())
        if any(case.target == old for case in cases):
            values["cases"] = tuple(case.model_copy(update={"target": swapped(case.target)}) for case in cases)
        selection = getattr(edge, "selection", None)
        if selection and old in selection:
            values["selection"] = {swapped(target): condition for target, condition in selection.items()}
        if values:
            edits.append(SetFields("edges", edge.id, values))
    for group in workflow.groups:
        if old in group.members:
            edits.append(SetFields("groups", group.id, {"members": swapped(group.members)}))
    edits += _workflow_mentions(workflow, old, new, swapped)
    return edits


def _workflow_mentions(workflow: Workflow, old: str, new: str, swapped: Any) -> list[Edit]:
    values = {
        name: swapped(before)
        for name in ("start", "outputs", "intermediate")
        if swapped(before := getattr(workflow, name)) != before
    }
    if any(script_owner(key) == old for key in workflow.offline.nodes):
        nodes = {
            script_key(key, new) if script_owner(key) == old else key: script
            for key, script in workflow.offline.nodes.items()
        }
        values["offline"] = workflow.offline.model_copy(update={"nodes": nodes})
    edits: list[Edit] = [SetWorkflow(values)] if values else []
    place = workflow.places.get(old)
    return [*edits, SetPlaces({old: None, new: place})] if place is not None else edits
