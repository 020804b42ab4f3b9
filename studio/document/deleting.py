"""Deleting, with everything that hangs on what is deleted; the inverse brings all of it back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from studio.document.edits import Batch, Edit, Remove, SetFields, SetPlaces, SetWorkflow
from studio.document.ids import script_owner
from studio.document.lines import default_id, into_id, leg_id
from studio.document.model import (
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    HandoffEdge,
    SwitchEdge,
    UnknownEdge,
    Workflow,
)


def delete_items(workflow: Workflow, ids: Iterable[str]) -> Edit:
    """Takes out nodes, edges, switches, fan-outs, notes, groups, cases and single lines (ids of ``lines``).

    Edges, cases and barrier sources that hang on a deleted node go too, so do its mentions as start, output, group
    member and offline script, and its place. Ids that are not there are passed over.
    """
    gone = frozenset(ids)
    nodes = frozenset(n.id for n in workflow.nodes) & gone
    edits: list[Edit] = []
    removed = set(nodes)
    for edge in workflow.edges:
        edit = _edge_edit(edge, gone, nodes)
        if edit is not None:
            edits.append(edit)
            removed |= {edge.id} if isinstance(edit, Remove) else set()
    for where, items in (("notes", workflow.notes), ("groups", workflow.groups)):
        edits += [Remove(where, i.id) for i in items if i.id in gone]
        removed |= {i.id for i in items if i.id in gone}
    edits += [Remove("nodes", n.id) for n in workflow.nodes if n.id in nodes]
    edits += _mentions(workflow, nodes, gone)
    places = {i: None for i in removed if i in workflow.places}
    if places:
        edits.append(SetPlaces(places))
    return Batch(tuple(edits))


def _edge_edit(edge: Edge, gone: frozenset[str], nodes: frozenset[str]) -> Edit | None:
    if edge.id in gone:
        return Remove("edges", edge.id)
    match edge:
        case DirectEdge() | HandoffEdge():
            return Remove("edges", edge.id) if {edge.source, edge.target} & nodes else None
        case SwitchEdge():
            return _switch_edit(edge, gone, nodes)
        case FanOutEdge():
            return _fan_out_edit(edge, gone, nodes)
        case FanInEdge():
            return _fan_in_edit(edge, gone, nodes)
        case UnknownEdge():
            return None


def _switch_edit(edge: SwitchEdge, gone: frozenset[str], nodes: frozenset[str]) -> Edit | None:
    no_source = edge.source in nodes or into_id(edge.id) in gone
    no_default = edge.default in nodes or default_id(edge.id) in gone
    values = {
        "source": None if no_source else edge.source,
        "cases": tuple(c for c in edge.cases if c.target not in nodes and c.id not in gone),
        "default": None if no_default else edge.default,
    }
    return _changed(edge, values)


def _fan_out_edit(edge: FanOutEdge, gone: frozenset[str], nodes: frozenset[str]) -> Edit | None:
    targets = tuple(t for t in edge.targets if t not in nodes and leg_id(edge.id, t) not in gone)
    selection = edge.selection
    if selection is not None and len(targets) < len(edge.targets):
        selection = {t: c for t, c in selection.items() if t in targets} or None
    no_source = edge.source in nodes or into_id(edge.id) in gone
    return _changed(edge, {"source": None if no_source else edge.source, "targets": targets, "selection": selection})


def _fan_in_edit(edge: FanInEdge, gone: frozenset[str], nodes: frozenset[str]) -> Edit | None:
    sources = tuple(s for s in edge.sources if s not in nodes and leg_id(edge.id, s) not in gone)
    if edge.target in nodes or (edge.sources and not sources):
        return Remove("edges", edge.id)
    return _changed(edge, {"sources": sources})


def _changed(edge: Edge, values: Mapping[str, object]) -> Edit | None:
    differing = {name: value for name, value in values.items() if getattr(edge, name) != value}
    return SetFields("edges", edge.id, differing) if differing else None


def _mentions(workflow: Workflow, nodes: frozenset[str], gone: frozenset[str]) -> list[Edit]:
    """What the workflow itself, its groups and the offline script say about deleted nodes."""
    values: dict[str, object] = {}
    if workflow.start in nodes:
        values["start"] = None
    for name in ("outputs", "intermediate"):
        named = getattr(workflow, name)
        if isinstance(named, tuple) and nodes & set(named):
            values[name] = tuple(n for n in named if n not in nodes) or None
    kept = {k: v for k, v in workflow.offline.nodes.items() if script_owner(k) not in nodes}
    if len(kept) < len(workflow.offline.nodes):
        values["offline"] = workflow.offline.model_copy(update={"nodes": kept})
    edits: list[Edit] = [SetWorkflow(values)] if values else []
    for group in workflow.groups:
        if group.id not in gone and gone & set(group.members):
            members = tuple(m for m in group.members if m not in gone)
            edits.append(SetFields("groups", group.id, {"members": members}))
    return edits
