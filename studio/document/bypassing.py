"""Taking a node out of its wires, so that what was before it leads to what was behind it."""

from __future__ import annotations

from collections.abc import Iterable

from studio.document.connecting import connect
from studio.document.deleting import delete_items
from studio.document.edits import Batch, Edit, SetFields, SetWorkflow
from studio.document.ids import condition_name
from studio.document.lines import Line, lines, name_of
from studio.document.model import DirectEdge, JoinNode, Workflow
from studio.document.problems import Problem
from studio.document.rewiring import reconnect

_JUNCTION_ENDS = ("fan_in", "into_switch", "into_fan_out")


def delete_and_join(workflow: Workflow, ids: Iterable[str]) -> Edit:
    """Deletes items; the neighbours of each deleted node are joined wherever the framework allows that edge.

    An edge that carries no condition takes that of the edge behind the node; the start moves on to what followed.
    """
    chosen = tuple(dict.fromkeys(ids))
    edits: list[Edit] = []
    now = workflow
    for item_id in chosen:
        if now.node(item_id) is not None:
            for edit in _joined(now, item_id):
                edits.append(edit)
                now = edit.apply(now).workflow
    edits.append(delete_items(now, chosen))
    return Batch(tuple(edits))


def take_out(workflow: Workflow, node_id: str) -> Edit | Problem:
    """Joins the neighbours of a node, which stays in the drawing without any edge."""
    before, behind = _around(workflow, node_id)
    if not before or not behind:
        message = f"“{name_of(workflow, node_id)}” is not between two nodes."
        return Problem("cannot_bypass", message, node_id)
    edits = _joined(workflow, node_id)
    now = Batch(tuple(edits)).apply(workflow).workflow
    left = [ln.id for ln in lines(now) if node_id in (ln.source, ln.target)]
    return Batch((*edits, delete_items(now, left)))


def _around(workflow: Workflow, node_id: str) -> tuple[list[Line], list[Line]]:
    """The lines into a node and out of it; a line to itself is neither."""
    found = [ln for ln in lines(workflow) if node_id in (ln.source, ln.target) and ln.source != ln.target]
    found = [ln for ln in found if ln.kind != "handoff"]
    return [ln for ln in found if ln.target == node_id], [ln for ln in found if ln.source == node_id]


def _joined(workflow: Workflow, node_id: str) -> list[Edit]:
    """The edits after which the neighbours are joined; lines that could not be led on still hang on the node."""
    before, behind = _around(workflow, node_id)
    edits: list[Edit] = []
    now = workflow
    if workflow.start == node_id and behind:
        follower = workflow.node(behind[0].target)
        if follower is not None and not isinstance(follower, JoinNode):
            edits.append(SetWorkflow({"start": follower.id}))
            now = edits[-1].apply(now).workflow
    for number, after in enumerate(behind):
        for first in before:
            if first.source == after.target:
                continue
            for edit in _led_on(now, first, after, again=number > 0):
                edits.append(edit)
                now = edit.apply(now).workflow
    return edits


def _led_on(workflow: Workflow, first: Line, after: Line, *, again: bool) -> list[Edit]:
    """One line before the node joined with one behind it. ``again``: ``first`` was led on to another one already."""
    alive = {ln.id: ln for ln in lines(workflow)}
    plain = workflow.node(first.source) is not None and first.kind != "fan_in"
    if after.kind in _JUNCTION_ENDS and plain:
        held = alive.get(after.id)
        edit = (
            reconnect(workflow, after.id, source=first.source)
            if held is not None and held.source == after.source
            else connect(workflow, first.source, after.target)
        )
    elif again or alive.get(first.id, first).target != first.target or first.id not in alive:
        edit = connect(workflow, first.source, after.target)
    else:
        edit = reconnect(_without(workflow, after), first.id, target=after.target)
        if not isinstance(edit, Problem):
            edit = Batch((delete_items(workflow, (after.id,)), edit))
    if isinstance(edit, Problem):
        return []
    return [edit, *_condition(edit.apply(workflow).workflow, alive, first, after)]


def _without(workflow: Workflow, after: Line) -> Workflow:
    return delete_items(workflow, (after.id,)).apply(workflow).workflow


def _condition(workflow: Workflow, alive: dict[str, Line], first: Line, after: Line) -> list[Edit]:
    """The condition behind the node for an edge that has none."""
    if after.condition is None:
        return []
    for edge in workflow.edges:
        ends = (first.source, after.target)
        if isinstance(edge, DirectEdge) and (edge.source, edge.target) == ends and edge.condition is None:
            condition = after.condition.model_copy(update={"name": condition_name(edge.id)})
            fresh = edge.id not in alive or edge.id == first.id
            return [SetFields("edges", edge.id, {"condition": condition})] if fresh else []
    return []
