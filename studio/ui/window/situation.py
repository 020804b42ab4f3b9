"""What decides which actions apply, read from the current page."""

from __future__ import annotations

from collections.abc import Sequence

from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.lines import Line, lines_by_id
from studio.document.lookup import by_id
from studio.document.model import JoinNode, Node, SubWorkflowNode, Workflow
from studio.document.types import yields
from studio.ui.actions import Page, Situation

MANY = 200
"""Of more selected items it is only told roughly what is among them."""
RUN_COMMANDS = (
    "run", "step", "pause", "stop", "restart", "retry", "resume", "restore", "fork",
    "edit", "step_node", "run_to", "run_from", "step_back", "step_forward", "apply", "replay",
)  # fmt: skip


def situation(page: Page, workspace: Workspace | None, checked: frozenset[str]) -> Situation:
    """The situation of a page; ``checked`` are the checkable actions that are on."""
    if workspace is None:
        return Situation(page=page, checked=checked)
    stack = workspace.document.undo_stack
    selection = workspace.selection
    workflow = workspace.document.workflow
    node = selection.items[0] if len(selection.items) == 1 and workflow.node(selection.items[0]) else None
    answers = {command: workspace.run.can(command) for command in RUN_COMMANDS}
    return Situation(
        page=page,
        undo=stack.undoText() if stack.canUndo() else None,
        redo=stack.redoText() if stack.canRedo() else None,
        selected=selection.items,
        selected_node=node,
        kinds=kinds_of(workflow, selection.items),
        checkpoint=selection.checkpoint,
        requests=len(workspace.run.requests) or int(workspace.run.unanswered is not None),
        problems=len(workspace.problems.problems),
        read_only=workspace.document.read_only,
        dirty=workspace.document.dirty,
        paused=workspace.run.state is RunState.PAUSED,
        failure_held=bool(workspace.run.held_failures),
        run={command: reason or "Not now." for command, (applies, reason) in answers.items() if not applies},
        checked=checked,
    )


def kinds_of(workflow: Workflow, items: Sequence[str]) -> frozenset[str]:
    """What is among the selected items: node, join, junction, line, frame, note. Of one thing that is selected alone
    also what can be done with it: ``direct`` and ``ruled`` (a line of its own edge, one that can have a condition),
    ``linked`` and ``embedded`` (a sub-workflow), ``output`` (a node that gives outputs, or is named as one)."""
    nodes, edges = by_id(workflow.nodes), by_id(workflow.edges)
    frames, notes, ways = by_id(workflow.groups), by_id(workflow.notes), lines_by_id(workflow)
    found: set[str] = set()
    if len(items) > MANY:
        chosen = frozenset(items)
        words = {"node": nodes, "line": ways, "junction": edges, "frame": frames, "note": notes}
        return frozenset(word for word, there in words.items() if not chosen.isdisjoint(there))
    for item in items:
        if item in nodes:
            found.add("join" if isinstance(nodes[item], JoinNode) else "node")
        elif item in ways:
            found.add("line")
        elif item in edges:
            found.add("junction")
        elif item in frames or item in notes:
            found.add("frame" if item in frames else "note")
    if len(items) == 1:
        found |= _more_of(workflow, nodes.get(items[0]), ways.get(items[0]))
    return frozenset(found)


def _more_of(workflow: Workflow, node: Node | None, line: Line | None) -> set[str]:
    found = set()
    if node is not None:
        named = isinstance(workflow.outputs, tuple) and node.id in workflow.outputs
        if named or yields(node):
            found.add("output")
        if isinstance(node, SubWorkflowNode):
            found.add("linked" if node.path is not None else "embedded" if node.embedded is not None else "")
    if line is not None and line.kind in ("direct", "case", "leg"):
        found |= {"ruled", "direct"} if line.kind == "direct" else {"ruled"}
    return found - {""}


def checked_of(workspace: Workspace | None) -> frozenset[str]:
    """Ids of the checkable actions that say how the one selected node is."""
    if workspace is None or len(workspace.selection.items) != 1:
        return frozenset()
    workflow, item = workspace.document.workflow, workspace.selection.items[0]
    named = isinstance(workflow.outputs, tuple) and item in workflow.outputs
    place = workflow.places.get(item)
    kept = place is not None and place.kept
    on = {"edit.set_start": workflow.start == item, "node.output": named, "node.keep_place": kept}
    return frozenset(i for i, yes in on.items() if yes)
