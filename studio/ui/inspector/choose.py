"""Which page shows what is selected."""

from __future__ import annotations

from studio.bridge.workspace import Workspace
from studio.document.lines import line
from studio.document.model import DirectEdge, FanInEdge, FanOutEdge, SwitchEdge, Workflow
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
    keys = [key for key in (_item_key(workflow, item) for item in selection.items) if key]
    if not keys:
        return ("workflow", *(n.id for n in workflow.nodes))
    return keys[0] if len(keys) == 1 else ("several", *(key[1] for key in keys))


def _item_key(workflow: Workflow, item: str) -> Key:
    node = workflow.node(item)
    if node is not None:
        return ("node", item, node.kind)
    found = line(workflow, item)
    edge = workflow.edge(item) or (workflow.edge(found.edge) if found is not None else None)
    match edge:
        case DirectEdge():
            return ("direct", edge.id)
        case SwitchEdge():
            return ("switch", edge.id, *(c.id for c in edge.cases))
        case FanOutEdge():
            chooses = "all" if edge.selection is None else "chosen"
            return ("fan_out", edge.id, chooses, *edge.targets)
        case FanInEdge():
            return ("fan_in", edge.id)
        case None:
            pass
        case _:
            return ("plain", edge.id)
    if any(n.id == item for n in workflow.notes):
        return ("note", item)
    return ("group", item) if any(g.id == item for g in workflow.groups) else ()


def page_for(theme: Theme, workspace: Workspace, key: Key) -> InspectorPage:
    """Makes the page of a key."""
    match key:
        case ("node", node_id, kind):
            return NodePage(theme, workspace, node_id, FILLERS.get(kind, other_fields))
        case ("direct", edge_id):
            return DirectPage(theme, workspace, edge_id)
        case ("switch", edge_id, *_):
            page = SwitchPage(theme, workspace, edge_id)
            for item in workspace.selection.items:
                page.show_case(item)
            return page
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
