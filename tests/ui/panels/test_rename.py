"""The rename dialog changes what is sure, lists the rest, and makes one step."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.edits import Batch, SetFields, SetWorkflow
from studio.document.model import FunctionNode, StateDecl, TemplateNode
from studio.ui.find.rename_dialog import RenameDialog
from studio.ui.theme import Theme


@pytest.fixture
def dialog(theme: Theme, workspace: Workspace, qtbot: QtBot) -> Iterator[RenameDialog]:
    body = "n = ctx.get_state('draft')\nresult = 'draft'"
    edits = (
        SetWorkflow({"state": (StateDecl(key="draft"), StateDecl(key="other"))}),
        SetFields("nodes", "frame", {"text": "{state.draft}"}),
        SetFields("nodes", "publisher", {"body": body}),
    )
    workspace.document.execute(Batch(edits), "Set up")
    made = RenameDialog(theme, workspace, "state", "draft")
    made.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(made)
    made.open()
    yield made
    made.done(0)


def checks(dialog: RenameDialog) -> list[bool]:
    rows = range(dialog.list.count())
    return [dialog.list.item(row).checkState() == Qt.CheckState.Checked for row in rows]


def test_sure_places_are_ticked_and_renamed(dialog: RenameDialog, workspace: Workspace, qtbot: QtBot) -> None:
    assert checks(dialog) == [True, False, True]
    assert dialog._said.plain.startswith("2 of 3 places")
    qtbot.keyClicks(dialog.new, "text")
    dialog.rename.click()
    publisher, frame = workspace.document.workflow.node("publisher"), workspace.document.workflow.node("frame")
    assert isinstance(publisher, FunctionNode)
    assert publisher.body == "n = ctx.get_state('text')\nresult = 'draft'"
    assert isinstance(frame, TemplateNode)
    assert frame.text == "{state.text}"
    assert workspace.document.workflow.state[0].key == "text"
    assert workspace.document.undo_stack.undoText() == "Rename draft to text"
    assert not dialog.isVisible()


def test_other_places_can_be_ticked(dialog: RenameDialog, workspace: Workspace, qtbot: QtBot) -> None:
    dialog.list.item(1).setCheckState(Qt.CheckState.Checked)
    assert dialog._said.plain.startswith("3 of 3 places")
    qtbot.keyClicks(dialog.new, "text")
    dialog.rename.click()
    publisher = workspace.document.workflow.node("publisher")
    assert isinstance(publisher, FunctionNode)
    assert "result = 'text'" in publisher.body


def test_a_name_that_is_taken_is_refused(dialog: RenameDialog, workspace: Workspace, qtbot: QtBot) -> None:
    before = workspace.document.undo_stack.count()
    qtbot.keyClicks(dialog.new, "other")
    dialog.rename.click()
    assert dialog._new_field.problem == "“other” is there already."
    assert dialog.isVisible()
    assert workspace.document.undo_stack.count() == before


def test_the_same_name_is_no_step(dialog: RenameDialog, workspace: Workspace) -> None:
    before = workspace.document.undo_stack.count()
    dialog.rename.click()
    assert dialog._new_field.problem == "Enter another name."
    assert workspace.document.undo_stack.count() == before


def test_another_kind_lists_its_names(dialog: RenameDialog) -> None:
    dialog.kind.setCurrentIndex(dialog.kind.findData("tool"))
    dialog.kind.activated.emit(dialog.kind.currentIndex())
    assert [dialog.name.itemText(i) for i in range(dialog.name.count())] == ["check_citation", "web_search"]
    assert checks(dialog) == [True]
    assert dialog.kind.findData("module") == -1, "what the workflow has none of is not offered"
