"""Which page shows what is selected."""

from __future__ import annotations

from collections.abc import Iterable

from studio.bridge.workspace import Workspace
from studio.document.lines import lines_by_id
from studio.document.lookup import by_id
from studio.document.model import (
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    Group,
    Node,
    NodeBase,
    Note,
    SwitchEdge,
    Workflow,
)
from studio.ui.inspector.checkpoint_page import CheckpointPage
from studio.ui.inspector.edge_pages import DirectPage, FanOutPage, SwitchPage
from studio.ui.inspector.kinds import FILLERS, other_fields
from studio.ui.inspector.message_page import MessagePage
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.other_pages import FanInPage, GroupPage, NotePage, PlainPage, SeveralPage
from studio.ui.inspector.page import InspectorPage
from studio.ui.inspector.workflow_page import WorkflowPage
from studio.ui.theme import Theme

Key = tuple[str, ...]
"""Kind of page, then ids; a new key is a new page."""


def page_key(workspace: Workspace) -> Key:
    """The page that the selection asks for now. Things that are gone count as not selected."""
    selection, run, workflow = workspace.selection, workspace.run, workspace.document.workflow
    if selection.message is not None and any(q.message == selection.message for q in run.queued):
        return ("message", selection.message)
    if selection.checkpoint is not None and any(c.checkpoint == selection.checkpoint for c in run.checkpoints):
        return ("checkpoint", selection.checkpoint)
    keys = [_item_key(thing) for thing in _things(workflow, selection.items)]
    if not keys:
        return ("workflow",)
    return keys[0] if len(keys) == 1 else ("several", *(key[1] for key in keys))


def _things(workflow: Workflow, ids: Iterable[str]) -> Iterable[Node | Edge | Note | Group]:
    """What these ids are, without those that are gone; for a line of an edge group the group. Everything can be
    selected at once, so nothing is searched for an item."""
    parts = [by_id(items) for items in (workflow.nodes, workflow.edges, workflow.notes, workflow.groups)]
    ways = lines_by_id(workflow)

    def thing(item: str) -> Node | Edge | Note | Group | None:
        found = next((part[item] for part in parts if item in part), None)
        line = ways.get(item) if found is None else None
        return parts[1].get(line.edge) if line is not None else found

    there = (thing(item) for item in ids)
    return {found.id: found for found in there if found is not None}.values()


def _item_key(thing: Node | Edge | Note | Group) -> Key:
    match thing:
        case NodeBase():
            return ("node", thing.id, thing.kind)
        case DirectEdge():
            return ("direct", thing.id)
        case SwitchEdge():
            return ("switch", thing.id, *(c.id for c in thing.cases))
        case FanOutEdge():
            chooses = "all" if thing.selection is None else "chosen"
            return ("fan_out", thing.id, chooses, *thing.targets)
        case FanInEdge():
            return ("fan_in", thing.id)
        case Note():
            return ("note", thing.id)
        case Group():
            return ("group", thing.id)
    return ("plain", thing.id)


def page_in_pieces(theme: Theme, workspace: Workspace, key: Key) -> NodePage | None:
    """The page of a key whose making goes on in pieces; None: it has to be made in one go."""
    match key:
        case ("node", node_id, kind):
            return NodePage(theme, workspace, node_id, FILLERS.get(kind, other_fields), at_once=False)
    return None


def page_for(theme: Theme, workspace: Workspace, key: Key) -> InspectorPage:
    """Makes the page of a key."""
    match key:
        case ("node", node_id, kind):
            return NodePage(theme, workspace, node_id, FILLERS.get(kind, other_fields))
        case ("direct", edge_id):
            return DirectPage(theme, workspace, edge_id)
        case ("switch", edge_id, *_):
            return SwitchPage(theme, workspace, edge_id)
        case ("fan_out", edge_id, *_):
            return FanOutPage(theme, workspace, edge_id)
        case ("fan_in", edge_id):
            return FanInPage(theme, workspace, edge_id)
        case ("plain", edge_id):
            return PlainPage(theme, workspace, edge_id)
        case ("note", note_id):
            return NotePage(theme, workspace, note_id)
        case ("group", group_id):
            return GroupPage(theme, workspace, group_id)
        case ("several", *ids):
            return SeveralPage(theme, workspace, ids)
        case ("message", message):
            return MessagePage(theme, workspace, message)
        case ("checkpoint", checkpoint):
            return CheckpointPage(theme, workspace, checkpoint)
    return WorkflowPage(theme, workspace)
