"""Fields of the inspector edit the document while one types, and follow it when it changes elsewhere."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.edits import Remove, SetFields, SetWorkflow
from studio.document.model import AgentNode, FunctionNode, JoinNode, Workflow
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.builder import ChoiceBox
from studio.ui.inspector.expand import ExpandedText
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.page import select_text
from studio.ui.inspector.workflow_page import WorkflowPage
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.chips_field import ChipsField
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LONG, LineField, TextBox
from tests.ui.panels.fake_run import FakeRun

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def form(panel: InspectorPanel) -> Form:
    assert panel.page is not None
    assert panel.page.form is not None
    return panel.page.form


def line(panel: InspectorPanel, name: str) -> LineField:
    editor = form(panel).field(name).editor  # type: ignore[union-attr]
    assert isinstance(editor, LineField)
    return editor


def box(panel: InspectorPanel, name: str) -> TextBox:
    editor = form(panel).field(name).editor  # type: ignore[union-attr]
    assert isinstance(editor, TextBox)
    return editor


def writer(workspace: Workspace) -> AgentNode:
    node = workspace.document.workflow.node("writer")
    assert isinstance(node, AgentNode)
    return node


def test_typing_is_one_undo_step(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    line(panel, "name").end(False)
    qtbot.keyClicks(line(panel, "name"), " two")
    assert writer(workspace).name == "Writer two"
    assert workspace.document.undo_stack.count() == 1
    workspace.document.undo_stack.undo()
    assert writer(workspace).name == "Writer"
    assert line(panel, "name").text() == "Writer"


def test_typing_in_a_text_box_is_one_undo_step(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    editor = box(panel, "instructions")
    before = editor.value
    qtbot.keyClicks(editor, "Now. ")
    assert writer(workspace).instructions == f"Now. {before}"
    assert workspace.document.undo_stack.count() == 1


def test_a_long_text_is_edited_in_its_window(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    long = "one line of words\n" * (LONG // 10)
    workspace.document.execute(SetFields("nodes", "writer", {"instructions": long}), "Long")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    editor = box(panel, "instructions")
    assert not editor.shows_all
    link = panel.findChild(Button, "whole_text")
    assert link is not None
    link.click()
    window = editor.window().findChild(ExpandedText)
    assert window is not None
    qtbot.keyClicks(window.editor, "abc")
    assert writer(workspace).instructions == "abc" + long
    assert "all" in link.text()
    window.editor.selectAll()
    qtbot.keyClicks(window.editor, "de")
    assert (writer(workspace).instructions, editor.value, editor.shows_all) == ("de", "de", True)
    assert link.isHidden()
    workspace.document.undo_stack.undo()
    assert writer(workspace).instructions == window.editor.value == long
    select_text(editor, len(long) - 6, len(long) - 1, focus=True)
    assert window.editor.textCursor().selectedText() == "words", "a hit of a search far down"
    assert len(editor.window().findChildren(ExpandedText)) == 1
    window.close()


def test_ctrl_z_undoes_typing_first_then_the_document(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.document.execute(SetFields("nodes", "writer", {"model": "large"}), "Change model")
    workspace.selection.select(("writer",))
    editor = line(panel, "name")
    qtbot.keyClicks(editor, "x")
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert writer(workspace).name == "Writer"
    assert writer(workspace).model == "large"
    assert workspace.document.undo_stack.index() == 1, "the typing left no empty step"
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert writer(workspace).model == "offline-model"


def test_undo_from_outside_keeps_the_cursor(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    text = writer(workspace).instructions
    workspace.document.execute(SetFields("nodes", "writer", {"instructions": f"{text} End."}), "Change")
    editor = box(panel, "instructions")
    editor.setFocus()
    cursor = editor.textCursor()
    cursor.setPosition(10)
    editor.setTextCursor(cursor)
    workspace.document.undo_stack.undo()
    assert editor.value == text
    assert editor.textCursor().position() == 10


def test_a_number_out_of_range_is_refused_and_said(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    editor = line(panel, "temperature")
    editor.selectAll()
    qtbot.keyClicks(editor, "7")
    assert writer(workspace).temperature == 0.3
    editor.left.emit()
    assert form(panel).field("temperature").problem == "Enter a number from 0 to 2."  # type: ignore[union-attr]
    editor.selectAll()
    qtbot.keyClicks(editor, "1.5")
    assert writer(workspace).temperature == 1.5
    assert form(panel).field("temperature").problem == ""  # type: ignore[union-attr]


def test_problems_stand_under_their_field(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("publisher",))
    box(panel, "body").setPlainText("def (:\n")
    workspace.problems.refresh()
    assert "Publisher" in form(panel).field("body").problem  # type: ignore[union-attr]


def test_a_fix_stands_under_its_field(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    workspace.document.execute(SetFields("nodes", "writer", {"tools": ("check_citation", "gone")}), "Change")
    workspace.problems.refresh()
    field = form(panel).field("tools")
    assert isinstance(field, Field)
    assert "gone" in field.problem
    fix = field._note._fix
    assert fix is not None
    assert (fix.text(), fix.isHidden()) == ("Remove it", False)
    fix.click()
    qtbot.waitUntil(lambda: writer(workspace).tools == ("check_citation",))
    workspace.problems.refresh()
    assert field.problem == ""
    assert fix.isHidden()


def test_changed_marker_and_reset(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    field = form(panel).field("temperature")
    assert isinstance(field, Field)
    assert field._mark.isVisibleTo(panel)
    panel.activateWindow()
    field._arrow.setFocus()
    qtbot.waitUntil(field._arrow.hasFocus)
    QTest.keyClick(field._arrow, Qt.Key.Key_Return)
    assert writer(workspace).temperature is None
    assert not field._mark.isVisibleTo(panel)
    assert field.editor.hasFocus(), "the arrow went"


def test_segments_and_hint(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    field = form(panel).field("context")
    assert isinstance(field, Field)
    assert isinstance(field.editor, SegmentedControl)
    assert field.hint.startswith("At run time: Writer sees the last reply of Join only.")
    qtbot.keyClick(field.editor, Qt.Key.Key_Left)
    assert writer(workspace).context == "full"
    assert "whole conversation" in field.hint


def test_tools_are_chips(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    editor = form(panel).field("tools").editor  # type: ignore[union-attr]
    assert isinstance(editor, ChipsField)
    assert editor.values == ("check_citation",)
    editor.setFocus()
    qtbot.keyClick(editor, Qt.Key.Key_Right)
    qtbot.keyClick(editor, Qt.Key.Key_Delete)
    assert writer(workspace).tools == ()


def test_start_and_output(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    page = panel.page
    assert isinstance(page, NodePage)
    page._start.box.click()
    assert workspace.document.workflow.start == "writer"
    page._output.box.click()
    assert workspace.document.workflow.outputs == ("publisher", "writer")
    workspace.document.undo_stack.undo()
    assert page._output.box.checkState() == Qt.CheckState.Unchecked


def test_several_nodes_share_a_field(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer", "planner"))
    editor = line(panel, "model")
    assert editor.text() == ""
    assert editor.placeholderText() == "mixed"
    qtbot.keyClicks(editor, "fast")
    models = [n.model for n in workspace.document.workflow.nodes if isinstance(n, AgentNode) and n.model == "fast"]
    assert len(models) == 2
    assert workspace.document.undo_stack.count() == 1


def test_a_requested_field_gets_the_focus(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    workspace.selection.field_requested.emit("writer", "session")
    assert panel.focusWidget() is line(panel, "session")


def test_a_deleted_node_leaves_the_workflow_page(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("editor",))
    workspace.document.execute(Remove("nodes", "editor"), "Delete")
    assert isinstance(panel.page, WorkflowPage)


def test_the_workflow_page_follows_new_names(show: Show, workspace: Workspace) -> None:
    document = workspace.document
    document.execute(SetWorkflow({"start": "planner", "outputs": ("writer",)}), "Set")
    panel = show(InspectorPanel)
    start, outputs = (form(panel).field(name).editor for name in ("start", "outputs"))  # type: ignore[union-attr]
    assert isinstance(start, ChoiceBox)
    assert isinstance(outputs, ChipsField)
    for node, name in (("planner", "Lead"), ("writer", "Author")):
        document.execute(SetFields("nodes", node, {"name": name}), "Rename")
    assert (start.currentText(), outputs.labels) == ("Lead", ("Author",))
    assert [start.itemText(i) for i in range(start.count())].count("Author") == 1
    document.execute(Remove("nodes", "editor"), "Delete")
    assert form(panel).field("start").editor is start  # type: ignore[union-attr]
    assert start.findData("editor") == -1


def test_function_code_and_module_function(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("publisher",))
    body = box(panel, "body")
    assert body.isVisibleTo(panel)
    kind = next(s for s in panel.findChildren(SegmentedControl) if s.value == "body")
    qtbot.keyClick(kind, Qt.Key.Key_Right)
    assert not body.isVisibleTo(panel)
    qtbot.keyClicks(line(panel, "call"), "reports:publish")
    node = workspace.document.workflow.node("publisher")
    assert isinstance(node, FunctionNode)
    assert node.call == "reports:publish"


def test_join_merge_and_order_of_sources(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    from studio.ui.inspector.order_list import OrderList

    panel = show(InspectorPanel)
    workspace.selection.select(("join",))
    order = panel.findChild(OrderList)
    assert isinstance(order, OrderList)
    order.move_row(0, 1)
    assert workspace.document.workflow.edges[1].sources == ("tech", "market", "policy")  # type: ignore[union-attr]
    assert order.values == ("tech", "market", "policy")
    merge = form(panel).field("merge").editor  # type: ignore[union-attr]
    qtbot.keyClick(merge, Qt.Key.Key_Right)
    node = workspace.document.workflow.node("join")
    assert isinstance(node, JoinNode)
    assert node.merge == "messages"
    assert not form(panel).field("separator").isVisibleTo(panel)


def test_workflow_page_takes_json_only_when_it_is_right(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    editor = box(panel, "offline")
    editor.setPlainText('{"nodes": {')
    assert not workspace.document.workflow.offline.nodes
    editor.left.emit()
    assert form(panel).field("offline").problem.startswith("This is not JSON yet")  # type: ignore[union-attr]
    editor.setPlainText('{"nodes": {"writer": {"replies": ["Yes."]}}}')
    assert "writer" in workspace.document.workflow.offline.nodes


def test_template_choices_and_check_fields(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("editor",))
    choices = box(panel, "choices")
    choices.setPlainText("Yes\n\nNo ")
    assert workspace.document.workflow.node("editor").choices == ("Yes", "No")  # type: ignore[union-attr]
    workspace.selection.select(("writer",))
    turn = form(panel).field("trailing_user_turn")
    assert isinstance(turn, CheckField)
    turn.box.click()
    assert writer(workspace).trailing_user_turn is True


def test_a_run_that_goes_on_leaves_the_fields_of_the_document_alone(
    show: Show, workspace: Workspace, run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show(InspectorPanel)
    shown: list[Form] = []
    monkeypatch.setattr(Form, "refresh", lambda form: shown.append(form))
    workspace.selection.select(())
    shown.clear()
    for state in (RunState.RUNNING, RunState.COMPLETED):
        run.state = state
        run.state_changed.emit()
    assert shown == []
    assert panel.page is not None


def test_an_empty_workflow_has_no_start_node(show: Show, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    panel.set_workspace(Workspace(DocumentModel(Workflow(id="w", name="Empty")), FakeRun()))
    box = form(panel).field("start").editor  # type: ignore[union-attr]
    assert isinstance(box, ChoiceBox)
    assert (box.currentIndex(), box.placeholderText()) == (-1, "none")
    panel.set_workspace(None)


def test_a_placeholder_that_wraps_is_seen_whole(theme: Theme, qtbot: QtBot) -> None:
    box = TextBox(theme, "What the agent does, in the words of its system prompt", lines=4)
    qtbot.addWidget(box)
    box.setFixedWidth(200)
    box.show()
    image = box.grab().toImage()
    ground = image.pixelColor(box.width() // 2, box.height() - 12)
    second = range(14 + theme.length(17), 10 + 2 * theme.length(17))
    assert any(image.pixelColor(x, y) != ground for y in second for x in range(20, 150))
