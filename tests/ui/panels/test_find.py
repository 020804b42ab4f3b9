"""The find panel: hits follow the document, lead to their field, and are replaced as one step."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QWidget
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document.edits import SetFields, SetWorkflow
from studio.document.model import AgentNode, DirectEdge, ModuleDecl, Workflow
from studio.document.searching import Query
from studio.ui.find import FindPanel
from studio.ui.find.searcher import Searcher
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.workflow_page import WorkflowPage
from studio.ui.theme import Theme
from studio.ui.widgets.text_fields import TextBox
from tests.ui.panels.fake_run import FakeRun

Show = Callable[[type], QWidget]


def look_for(panel: FindPanel, text: str, qtbot: QtBot) -> None:
    panel.needle.setText(text)
    with qtbot.waitSignal(panel._searcher.finished):
        pass


def said(panel: FindPanel) -> list[str]:
    return [str(panel.rows.index(row, 1).data()) for row in range(panel.rows.rowCount())]


def test_hits_say_where_they_are(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    look_for(panel, "draft", qtbot)
    assert said(panel) == ["Writer · Instructions", "Publisher → Editor · Condition"]
    assert panel.said.text() == "2 hits"
    panel.words.click()
    panel.scope.setCurrentIndex(4)
    with qtbot.waitSignal(panel._searcher.finished):
        pass
    assert said(panel) == ["Publisher → Editor · Condition"]


def test_hits_follow_the_document(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    look_for(panel, "zebra", qtbot)
    assert panel.said.text() == "0 hits"
    assert not panel.replace_all.isEnabled()
    with qtbot.waitSignal(panel._searcher.finished):
        workspace.document.execute(SetFields("nodes", "writer", {"name": "Zebra"}), "Rename")
    assert said(panel) == ["Zebra · Name"]


def test_a_hit_is_selected_in_its_field(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    inspector, panel = show(InspectorPanel), show(FindPanel)
    assert isinstance(inspector, InspectorPanel)
    assert isinstance(panel, FindPanel)
    look_for(panel, "draft", qtbot)
    panel.table.setFocus()
    qtbot.keyClick(panel.table, Qt.Key.Key_Down)
    qtbot.keyClick(panel.table, Qt.Key.Key_Up)
    assert workspace.selection.items == ("writer",)
    assert inspector.page is not None
    assert inspector.page.form is not None
    box = inspector.page.form.field("instructions").editor  # type: ignore[union-attr]
    assert isinstance(box, TextBox)
    assert box.textCursor().selectedText() == "draft"
    panel.table.selectRow(1)
    assert workspace.selection.items == ("publisher_editor",)
    chosen = [e for e in inspector.page.findChildren(QLineEdit) if e.selectedText() == "draft"]
    assert len(chosen) == 1


def test_a_hit_in_a_module(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    inspector, panel = show(InspectorPanel), show(FindPanel)
    assert isinstance(panel, FindPanel)
    assert isinstance(inspector, InspectorPanel)
    modules = (ModuleDecl(name="a", source="x = 1\n"), ModuleDecl(name="b", source="# 😀 here\nneedle = 2\n"))
    workspace.document.execute(SetWorkflow({"modules": modules}), "Add")
    look_for(panel, "needle", qtbot)
    panel.table.selectRow(0)
    assert isinstance(inspector.page, WorkflowPage)
    assert inspector.page._modules.cards[1].source.textCursor().selectedText() == "needle"
    assert inspector.page._modules.isVisible(), "its section is unfolded"


def test_replace_one_then_the_next(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    look_for(panel, "draft", qtbot)
    panel.instead.setText("text")
    panel.step(1)
    panel.replace.click()
    qtbot.waitUntil(lambda: not panel._searcher.working)
    writer = workspace.document.workflow.node("writer")
    assert isinstance(writer, AgentNode)
    assert "Give your text a score" in writer.instructions
    assert said(panel) == ["Publisher → Editor · Condition"]
    assert panel.table.currentIndex().row() == 0, "the next hit is the current one"
    panel.replace.click()
    edge = workspace.document.workflow.edge("publisher_editor")
    assert isinstance(edge, DirectEdge)
    assert edge.condition is not None
    assert edge.condition.rule is not None
    assert edge.condition.rule.value == "text"
    assert workspace.document.undo_stack.count() == 2


def test_replace_all_is_one_step(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    before = workspace.document.workflow
    look_for(panel, "research", qtbot)
    count = panel.rows.rowCount()
    assert count > 4
    panel.instead.setText("study")
    panel.replace_all.click()
    qtbot.waitUntil(lambda: not panel._searcher.working)
    assert panel.rows.rowCount() == 0
    stack = workspace.document.undo_stack
    assert stack.count() == 1
    assert stack.undoText() == f"Replace {count} hits of “research”"
    stack.undo()
    assert workspace.document.workflow == before
    panel._timer.stop()


def test_a_bad_pattern_is_said(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    panel.pattern.click()
    look_for(panel, "(", qtbot)
    assert panel.said.text().startswith("The pattern cannot be read")
    look_for(panel, r"(\w+) score", qtbot)
    panel.instead.setText(r"\7")
    panel.step(1)
    panel.replace.click()
    assert panel.said.text().startswith("The replacement cannot be read")
    assert workspace.document.undo_stack.count() == 0


def test_a_large_document_is_searched_in_pieces(qtbot: QtBot) -> None:
    nodes = tuple(AgentNode(id=f"n{i}", name=f"Node {i}", instructions="find me " * 5) for i in range(2000))
    searcher = Searcher()
    hits: list[object] = []
    searcher.found.connect(hits.extend)
    searcher.start(Workflow(nodes=nodes), Query("find me"))
    assert searcher.working
    with qtbot.waitSignal(searcher.finished):
        pass
    assert len(hits) == 10_000


def test_another_workspace_is_searched(show: Show, theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(FindPanel)
    assert isinstance(panel, FindPanel)
    look_for(panel, "Planner", qtbot)
    assert panel.rows.rowCount() == 1
    other = Workspace(DocumentModel(Workflow(name="Other")), FakeRun())
    panel.set_workspace(other)
    assert panel.rows.rowCount() == 0
    panel.set_workspace(None)
    assert panel.said.text() == ""
