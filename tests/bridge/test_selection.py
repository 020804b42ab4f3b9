"""The selection holds only what is in the document."""

from __future__ import annotations

from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.edits import Edit, ReplaceAll
from studio.document.model import Workflow
from studio.document.problems import Problem

from tests.ui.canvas.fake_run import FakeRun


def done(workspace: Workspace, edit: Edit | Problem) -> None:
    assert not isinstance(edit, Problem)
    workspace.document.execute(edit, "Edit")


def test_what_is_undone_or_replaced_is_not_selected_any_more(qapp: object) -> None:
    workspace = Workspace(DocumentModel(Workflow(id="w")), FakeRun())
    document, selection = workspace.document, workspace.selection
    ids = []
    for _ in range(2):
        edit, node = commands.new_node(document.workflow, "agent")
        done(workspace, edit)
        ids.append(node)
    done(workspace, commands.connect(document.workflow, *ids))
    line = document.workflow.edges[0].id
    selection.select((ids[0], line))
    heard: list[tuple[str, ...]] = []
    selection.changed.connect(lambda: heard.append(selection.items))
    document.undo_stack.undo()
    assert selection.items == (ids[0],)
    document.undo_stack.redo()
    selection.select((line,))
    while document.undo_stack.canUndo():
        document.undo_stack.undo()
    assert selection.items == ()
    document.undo_stack.redo()
    selection.select((ids[0],))
    workspace.document.execute(ReplaceAll(Workflow(id="w")), "Replace")
    assert selection.items == ()
    assert heard[0] == (ids[0],)
    workspace.deleteLater()
