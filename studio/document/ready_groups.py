"""Ready groups of nodes and edges: a whole workflow put into another one as a named frame."""

from __future__ import annotations

from studio.document.copying import put_in
from studio.document.edits import Batch, Edit, Insert, SetPlaces, SetWorkflow
from studio.document.geometry import bounds
from studio.document.ids import make_id, taken_ids, unique_name
from studio.document.model import Group, Place, Workflow
from studio.document.turning import turned_to

PATTERNS = ("sequential", "concurrent", "handoff", "group_chat")
"""The kinds of groups that can be put in; also their kinds in :attr:`Group.kind`."""
_LEFT, _TOP, _RIGHT, _BOTTOM = 20.0, 36.0, 20.0, 28.0
"""Room of a frame around its members."""


def size_with_frame(ready: Workflow) -> tuple[float, float]:
    """How much room a ready group takes."""
    box = bounds(ready, ready.places) or (0.0, 0.0, 200.0, 64.0)
    return box[2] - box[0] + _LEFT + _RIGHT, box[3] - box[1] + _TOP + _BOTTOM


def add_ready_group(workflow: Workflow, ready: Workflow, kind: str, place: Place) -> tuple[Edit, str]:
    """Puts ``ready`` in with its frame's top left corner at ``place``; and the id of the frame.

    Ids are fresh and names unique. In a document without a start, or without anything, the group brings its own start,
    outputs and example input along; where outputs are listed, its own are added to them. Its lines run as those of the
    document do.
    """
    ready = turned_to(ready, workflow.flow)
    inner = Place(x=place.x + _LEFT, y=place.y + _TOP)
    put, ids = put_in(workflow, ready, inner)
    grown = put.apply(workflow).workflow
    members = tuple(ids[n.id] for n in ready.nodes)
    members += tuple(ids[e.id] for e in ready.edges if e.id in ids and e.kind in ("switch", "fan_out"))
    shown = unique_name(ready.name, grown)
    group = make_id(shown, taken_ids(grown), "group")
    width, height = size_with_frame(ready)
    edits: list[Edit] = [put, Insert("groups", Group(id=group, name=shown, kind=kind, members=members))]
    edits.append(SetPlaces({group: Place(x=place.x, y=place.y, width=width, height=height)}))
    values = _designations(workflow, ready, {n.id: ids[n.id] for n in ready.nodes})
    if values:
        edits.append(SetWorkflow(values))
    return Batch(tuple(edits)), group


def _designations(workflow: Workflow, ready: Workflow, ids: dict[str, str]) -> dict[str, object]:
    values: dict[str, object] = {}
    if ready.start is not None and workflow.node(workflow.start or "") is None:
        values["start"] = ids[ready.start]
    if isinstance(ready.outputs, tuple):
        own = tuple(ids[i] for i in ready.outputs)
        if isinstance(workflow.outputs, tuple):
            values["outputs"] = (*workflow.outputs, *own)
        elif workflow.outputs is None and not workflow.nodes:
            values["outputs"] = own
    if not workflow.nodes and not workflow.sample_input:
        values["sample_input"] = ready.sample_input
    return values
