"""What gestures and forms do, as edits: functions that look at a document and return data, changing nothing.

A function that can be refused returns ``Edit | Problem``; the problem's message is for the person who tried.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from studio.document.aligning import align, distribute
from studio.document.bends import set_bends, straightened
from studio.document.bypassing import delete_and_join, take_out
from studio.document.conditions import Condition
from studio.document.connecting import DEFAULT, connect
from studio.document.copying import copy_items, duplicate, paste_items, pasted_ids
from studio.document.deleting import delete_items
from studio.document.edits import Batch, Edit, Insert, SetFields, SetPlaces, SetWorkflow
from studio.document.geometry import bounds, default_size, drawn, frame_around, frames_around, free_place
from studio.document.ids import condition_name, make_id, taken_ids, unique_name
from studio.document.layout import Flow, arrange
from studio.document.lines import line
from studio.document.model import (
    KNOWN_NODES,
    FanOutEdge,
    Group,
    JoinNode,
    Note,
    Place,
    SwitchCase,
    SwitchEdge,
    Workflow,
)
from studio.document.nesting import extract, inline
from studio.document.rewiring import change_id, drop_on_edge, insert_on_edge, reconnect, to_fan_out, to_switch
from studio.document.room import make_room
from studio.document.turning import notes_beside

__all__ = [
    "DEFAULT",
    "NEW_NAMES",
    "align",
    "arrange_items",
    "change_id",
    "connect",
    "copy_items",
    "delete_and_join",
    "delete_items",
    "distribute",
    "drop_on_edge",
    "duplicate",
    "extract",
    "inline",
    "insert_on_edge",
    "keep_places",
    "make_room",
    "move_items",
    "new_frame",
    "new_node",
    "order_cases",
    "order_sources",
    "paste_items",
    "pasted_ids",
    "reconnect",
    "rename",
    "set_bends",
    "set_collapsed",
    "set_condition",
    "set_fields",
    "set_label",
    "set_output",
    "set_start",
    "set_workflow",
    "take_out",
    "to_fan_out",
    "to_switch",
    "ungroup",
]

NEW_NAMES: Mapping[str, str] = {
    "agent": "Agent",
    "runner": "Conversation runner",
    "function": "Function",
    "human_input": "Human input",
    "template": "Template",
    "sub_workflow": "Sub-workflow",
    "join": "Join",
    "switch": "Switch",
    "fan_out": "Fan-out",
    "note": "Note",
    "pass": "Pass",
    "output": "Output",
    "end": "End",
}
"""The name of something new, by kind; it gets a number if it is taken."""


def new_node(workflow: Workflow, kind: str, name: str | None = None, place: Place | None = None) -> tuple[Edit, str]:
    """Something new of a kind of :data:`NEW_NAMES` or ``KNOWN_NODES``, and its id.

    ``switch`` and ``fan_out`` make a rhombus and a bar without lines, ``note`` a note. Without a place it is put where
    it covers nothing. The first node that is not a bar becomes the start. Raises ``KeyError`` for an unknown kind.
    """
    shown = unique_name((name or "").strip() or NEW_NAMES.get(kind) or kind.replace("_", " ").capitalize(), workflow)
    new_id = make_id(shown, taken_ids(workflow), kind)
    item: object
    if kind == "switch":
        where, item = "edges", SwitchEdge(id=new_id, name=shown)
    elif kind == "fan_out":
        where, item = "edges", FanOutEdge(id=new_id, name=shown)
    elif kind == "note":
        new_id = make_id("note", taken_ids(workflow))
        where, item = "notes", Note(id=new_id, text=name or "")
    else:
        where, item = "nodes", KNOWN_NODES[kind].model_validate({"id": new_id, "name": shown, "kind": kind})
    at = place if place is not None else free_place(workflow, default_size(item, down=workflow.flow == "down"))
    edits: list[Edit] = [Insert(where, item), SetPlaces({new_id: at})]
    if workflow.start is None and where == "nodes" and not isinstance(item, JoinNode):
        edits.append(SetWorkflow({"start": new_id}))
    return Batch(tuple(edits)), new_id


def _where(workflow: Workflow, item_id: str) -> str:
    """Which list of the document holds an item. Raises ``KeyError``."""
    for where in ("nodes", "edges", "notes", "groups"):
        if any(i.id == item_id for i in getattr(workflow, where)):
            return where
    raise KeyError(item_id)


def set_fields(workflow: Workflow, item_id: str, values: Mapping[str, object]) -> Edit:
    """Changes fields of a node, edge, note or group, whichever has the id; values must fit the model already."""
    return SetFields(_where(workflow, item_id), item_id, dict(values))


def set_workflow(values: Mapping[str, object]) -> Edit:
    """Changes fields of the workflow itself."""
    return SetWorkflow(dict(values))


def rename(workflow: Workflow, item_id: str, name: str) -> Edit:
    """A new name for a node, switch, fan-out or group; the id stays."""
    return set_fields(workflow, item_id, {"name": name})


def set_start(workflow: Workflow, node_id: str) -> Edit:
    """Makes a node the start. Raises ``KeyError`` if there is no such node."""
    if workflow.node(node_id) is None:
        raise KeyError(node_id)
    return SetWorkflow({"start": node_id})


def set_output(workflow: Workflow, node_id: str, on: bool) -> Edit:
    """Makes a node an output of the workflow, or no longer. Without any, all outputs of all nodes count."""
    named = workflow.outputs if isinstance(workflow.outputs, tuple) else ()
    kept = tuple(n for n in named if n != node_id)
    intermediate = workflow.intermediate
    values: dict[str, object] = {"outputs": (*kept, node_id) if on else kept or None}
    if on and isinstance(intermediate, tuple) and node_id in intermediate:
        values["intermediate"] = tuple(n for n in intermediate if n != node_id) or None
    return SetWorkflow(values)


def set_condition(workflow: Workflow, line_id: str, condition: Condition | None) -> Edit:
    """The condition of a direct edge, a case, or a leg of a fan-out (ids of ``lines``). Its stable name is kept, or
    made from the id. Raises ``KeyError`` for a line that has no condition."""
    found = line(workflow, line_id)
    if found is None or found.kind not in ("direct", "case", "leg"):
        raise KeyError(line_id)
    if condition is not None:
        kept = found.condition.name if found.condition is not None else ""
        condition = condition.model_copy(update={"name": kept or condition_name(line_id)})
    if found.kind == "direct":
        return SetFields("edges", found.edge, {"condition": condition})
    if found.kind == "case":
        return _set_case(workflow, found.edge, line_id, {"condition": condition})
    bar = workflow.edge(found.edge)
    assert isinstance(bar, FanOutEdge)
    selection = {t: c for t, c in (bar.selection or {}).items() if t != found.target}
    if condition is not None:
        selection[found.target] = condition
    return SetFields("edges", bar.id, {"selection": selection or None})


def set_label(workflow: Workflow, line_id: str, label: str) -> Edit:
    """The text on a direct edge, a case or a default line; empty shows the condition in words."""
    found = line(workflow, line_id)
    match found.kind if found else None:
        case "direct":
            return SetFields("edges", line_id, {"label": label})
        case "case" if found:
            return _set_case(workflow, found.edge, line_id, {"label": label})
        case "default" if found:
            return SetFields("edges", found.edge, {"default_label": label})
    raise KeyError(line_id)


def _set_case(workflow: Workflow, switch_id: str, case_id: str, values: Mapping[str, object]) -> Edit:
    switch = workflow.edge(switch_id)
    assert isinstance(switch, SwitchEdge)
    cases = tuple(c.model_copy(update=dict(values)) if c.id == case_id else c for c in switch.cases)
    return SetFields("edges", switch_id, {"cases": cases})


def order_cases(workflow: Workflow, switch_id: str, case_ids: Sequence[str]) -> Edit:
    """The cases of a switch in a new order; the first true one wins. Raises ``KeyError`` unless all are named once."""
    switch = workflow.edge(switch_id)
    if not isinstance(switch, SwitchEdge) or sorted(case_ids) != sorted(c.id for c in switch.cases):
        raise KeyError(switch_id)
    by_id: dict[str, SwitchCase] = {c.id: c for c in switch.cases}
    return SetFields("edges", switch_id, {"cases": tuple(by_id[i] for i in case_ids)})


def order_sources(workflow: Workflow, edge_id: str, sources: Sequence[str]) -> Edit:
    """The sources of a fan-in in a new order, which is the order of the list that the join bar gets."""
    edge = workflow.edge(edge_id)
    if edge is None or sorted(sources) != sorted(getattr(edge, "sources", ())):
        raise KeyError(edge_id)
    return SetFields("edges", edge_id, {"sources": tuple(sources)})


def move_items(places: Mapping[str, Place]) -> Edit:
    """What was dragged, by id, where it is now."""
    return SetPlaces(dict(places))


def arrange_items(workflow: Workflow, ids: Iterable[str] | None = None, flow: Flow | None = None) -> Edit:
    """Everything, or the chosen items, in layers from left to right or from top to bottom (None: as the lines of the
    document run). Lines at what moved find their own way again. When everything is arranged the other way, lines run
    that way from then on, and notes stand beside what they stood at."""
    if ids is None and flow is not None and flow != workflow.flow:
        turn = SetWorkflow({"flow": flow})
        now = turn.apply(workflow).workflow
        bent = SetPlaces(straightened(workflow, drawn(workflow)))
        again = arrange_items(now, None)
        notes = SetPlaces(notes_beside(workflow, again.apply(now).workflow))
        return Batch((turn, bent, again, notes))
    places = arrange(workflow, ids, flow)
    edit = SetPlaces({**places, **straightened(workflow, places)})
    frames = frames_around(edit.apply(workflow).workflow, places)
    return SetPlaces({**edit.places, **frames}) if frames else edit


def keep_places(workflow: Workflow, ids: Iterable[str], on: bool) -> Edit:
    """Whether arranging leaves these items where they are; those without a place are left out."""
    there = {i: workflow.places[i] for i in ids if i in workflow.places}
    return SetPlaces({i: place.model_copy(update={"kept": on}) for i, place in there.items()})


def new_frame(workflow: Workflow, ids: Iterable[str], name: str = "Frame") -> tuple[Edit, str]:
    """A frame around the chosen items, and its id."""
    members = tuple(dict.fromkeys(ids))
    shown = unique_name(name, workflow)
    new_id = make_id(shown, taken_ids(workflow), "group")
    edits: list[Edit] = [Insert("groups", Group(id=new_id, name=shown, members=members))]
    place = frame_around(workflow, members)
    # Without a place of its own it is drawn around what is drawn, also where a file does not say where that is.
    if place is not None and all(member in workflow.places for member in members):
        edits.append(SetPlaces({new_id: place}))
    return Batch(tuple(edits)), new_id


def ungroup(workflow: Workflow, group_id: str) -> Edit:
    """Takes a frame away; its members stay."""
    return delete_items(workflow, (group_id,))


def set_collapsed(workflow: Workflow, group_id: str, collapsed: bool) -> Edit:
    """Draws a group as one card, or its members again. Raises ``KeyError`` if there is no such group."""
    group = next((g for g in workflow.groups if g.id == group_id), None)
    if group is None:
        raise KeyError(group_id)
    place = workflow.places.get(group_id)
    if place is None:
        box = bounds(workflow, group.members) or (0.0, 0.0, 0.0, 0.0)
        place = Place(x=box[0], y=box[1])
    return SetPlaces({group_id: place.model_copy(update={"collapsed": collapsed})})
