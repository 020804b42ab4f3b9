"""Sub-workflows: dropped files, linked or embedded, and from one to the other in the inspector."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QMessageBox
from studio.document import commands
from studio.document.model import AgentNode, SubWorkflowNode, TemplateNode, Workflow
from studio.files import read_workflow, write_workflow
from studio.ui.dialogs.sub_workflows import embed, link, written
from studio.ui.inspector import sub_workflow_fields
from studio.ui.main_window import MainWindow
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.window.workflow_page import WorkflowPage

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def inner(tmp_path: Path) -> Path:
    made = Workflow(id="inner", name="Fact check", start="a", nodes=(AgentNode(id="a", name="A", instructions="x"),))
    (tmp_path / "parts").mkdir()
    write_workflow(made, tmp_path / "parts" / "fact-check.workflow.json")
    return tmp_path / "parts" / "fact-check.workflow.json"


@pytest.fixture
def page(make_window: MakeWindow, tmp_path: Path) -> WorkflowPage:
    window = make_window()
    window.resize(1400, 900)
    write_workflow(Workflow(id="outer", name="Outer"), tmp_path / "outer.workflow.json")
    opened = window.files.open(tmp_path / "outer.workflow.json")
    assert opened is not None
    opened.canvas.set_zoom(1.0)
    return opened


def drop(page: WorkflowPage, *files: Path) -> QPointF:
    """Drops files on the middle of the canvas, as a file manager does; returns the point of the drawing."""
    window, view = page.window(), page.canvas.viewport()
    at = view.mapTo(window, view.rect().center())
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(file)) for file in files])
    copy, left, none = Qt.DropAction.CopyAction, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPointF(at), copy, data, left, none))
    return page.canvas.to_scene(QPointF(view.mapFrom(window, QPoint(at))))


def answer(page: WorkflowPage, text: str) -> None:
    box = page.window().findChildren(QMessageBox)[-1]
    next(b for b in box.buttons() if b.text() == text).click()
    assert not box.isVisible()


def only(page: WorkflowPage) -> SubWorkflowNode:
    (node,) = page.workspace.document.workflow.nodes
    assert isinstance(node, SubWorkflowNode)
    return node


@pytest.mark.parametrize("text", ["Link the file", "Embed a copy"])
def test_a_workflow_file_on_the_canvas_is_asked_about(page: WorkflowPage, inner: Path, text: str) -> None:
    point = drop(page, inner)
    assert page.workspace.document.workflow.nodes == ()
    answer(page, text)
    node, document = only(page), page.workspace.document
    assert node.name == "Fact check"
    assert node.path == ("parts/fact-check.workflow.json" if text == "Link the file" else None)
    assert (node.embedded is None) == (text == "Link the file")
    place = document.workflow.places[node.id]
    assert abs(place.x + 100 - point.x()) <= 8
    assert abs(place.y + 32 - point.y()) <= 8
    assert document.undo_stack.count() == 1
    document.undo_stack.setClean()


def test_cancelling_adds_nothing_and_a_tab_can_be_had_too(page: WorkflowPage, inner: Path) -> None:
    drop(page, inner)
    answer(page, "Cancel")
    assert page.workspace.document.workflow.nodes == ()
    drop(page, inner)
    answer(page, "Open it in a tab")
    assert page.window().page.title == "Fact check"  # type: ignore[attr-defined]


def test_texts_become_templates(page: WorkflowPage, tmp_path: Path) -> None:
    (tmp_path / "letter.md").write_text("Dear {{name}},\nall is well.", encoding="utf-8")
    drop(page, tmp_path / "letter.md")
    (node,) = page.workspace.document.workflow.nodes
    assert isinstance(node, TemplateNode)
    assert (node.name, node.text) == ("letter", "Dear {{name}},\nall is well.")
    page.workspace.document.undo_stack.setClean()


def test_what_cannot_be_inside_is_told(page: WorkflowPage, tmp_path: Path) -> None:
    told: list[str] = []
    page.canvas.message_shown.connect(told.append)
    own = page.workspace.document.path
    assert own is not None
    page.canvas.add_file(own, QPointF(), linked=True)
    (tmp_path / "broken.workflow.json").write_text("{", encoding="utf-8")
    page.canvas.add_file(tmp_path / "broken.workflow.json", QPointF(), linked=False)
    page.canvas.add_file(tmp_path / "missing.workflow.json", QPointF(), linked=True)
    assert told[0] == "A workflow cannot be inside itself."
    assert told[1].startswith("broken.workflow.json cannot be added: ")
    assert told[2].startswith("missing.workflow.json cannot be added: ")
    assert page.workspace.document.workflow.nodes == ()


def test_from_linked_to_embedded_and_back_in_the_inspector(
    page: WorkflowPage, inner: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node_id = page.canvas.add_file(inner, QPointF(), linked=True)
    assert node_id is not None
    window, document = page.window(), page.workspace.document
    page.workspace.selection.select((node_id,))
    panel = window.sides.inspector  # type: ignore[attr-defined]
    controls = {c.accessibleName(): c for c in panel.findChildren(SegmentedControl)}
    control = controls["Workflow inside"]
    assert control.value == "linked"
    control.edited.emit("embedded")
    assert only(page).path is None
    assert only(page).embedded == read_workflow(inner)
    assert control.value == "embedded"

    target = tmp_path / "kept.workflow.json"
    asked: list[Path] = []

    def choose(_parent: object, suggestion: Path, chosen: Callable[[Path], None]) -> None:
        asked.append(suggestion)
        chosen(target)

    monkeypatch.setattr(sub_workflow_fields, "choose_target", choose)
    before = only(page).embedded
    control.edited.emit("linked")
    assert asked == [tmp_path / "fact-check.workflow.json"]
    assert (only(page).path, only(page).embedded) == ("kept.workflow.json", None)
    assert read_workflow(target) == before
    document.undo_stack.undo()
    assert only(page).embedded == before
    document.undo_stack.setClean()


def test_reasons_why_a_conversion_is_not_done(page: WorkflowPage, tmp_path: Path) -> None:
    document = page.workspace.document
    edit, node = commands.new_node(document.workflow, "sub_workflow", "Part")
    document.execute(edit, "Add")
    assert embed(document, node) == ""
    assert only(page).embedded is not None, "a new one is empty"
    assert link(document, node, document.path or Path()).startswith("A workflow cannot be inside itself")
    assert link(document, node, tmp_path / "missing" / "x.workflow.json")
    assert only(page).embedded is not None
    document.execute(commands.set_fields(document.workflow, node, {"path": "nowhere.workflow.json"}), "Link")
    assert embed(document, node)
    assert only(page).path == "nowhere.workflow.json"
    document.undo_stack.setClean()


def test_how_a_link_is_written(tmp_path: Path) -> None:
    assert written(None, tmp_path / "x.json") == (tmp_path / "x.json").as_posix()
    assert written(tmp_path / "a" / "y.json", tmp_path / "x.json") == "../x.json"
