"""What a screen reader is told about the canvas and the item that has the focus."""

from __future__ import annotations

from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.document.model import Workflow
from studio.ui.canvas.scene import CanvasScene
from studio.ui.paint import kind_name
from studio.ui.text import tr
from studio.ui.widgets.sources import size_words


def canvas_words(workflow: Workflow) -> str:
    """ "Workflow canvas, 6 nodes, 9 edges. Press F6 for the outline" """
    text = tr("Workflow canvas, {size}. Press F6 for the outline")
    return text.format(size=size_words(workflow, ", "))


def item_words(scene: CanvasScene, workspace: Workspace, item_id: str) -> str:
    """ "Writer, agent, done, breakpoint, 1 warning, 1 input, 2 outputs" """
    workflow = scene.workflow
    node, edge = workflow.node(item_id), workflow.edge(item_id)
    kind = node.kind if node is not None else edge.kind if edge is not None else "note"
    words = [name_of(workflow, item_id), kind_name(kind).lower()]
    view = workspace.run.nodes.get(item_id)
    if view is not None and view.status != "idle":
        words.append(view.status)
    if item_id in workspace.run.breakpoints:
        words.append(tr("breakpoint"))
    if workflow.start == item_id:
        words.append(tr("start"))
    for severity, one, many in (("error", tr("error"), tr("errors")), ("warning", tr("warning"), tr("warnings"))):
        count = sum(p.severity == severity for p in workspace.problems.at(item_id))
        if count:
            words.append(f"{count} {one if count == 1 else many}")
    found = [scene.line_layer.items[i].line for i in scene.line_layer.at(item_id)]
    for count, one, many in (
        (sum(line.target == item_id for line in found), tr("input"), tr("inputs")),
        (sum(line.source == item_id for line in found), tr("output"), tr("outputs")),
    ):
        words.append(f"{count} {one if count == 1 else many}")
    return ", ".join(words)
