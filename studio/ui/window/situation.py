"""What decides which actions apply, read from the current page."""

from __future__ import annotations

from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.actions import Page, Situation

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
        checkpoint=selection.checkpoint,
        requests=len(workspace.run.requests),
        problems=len(workspace.problems.problems),
        read_only=workspace.document.read_only,
        dirty=workspace.document.dirty,
        paused=workspace.run.state is RunState.PAUSED,
        run={command: reason or "Not now." for command, (applies, reason) in answers.items() if not applies},
        checked=checked,
    )
