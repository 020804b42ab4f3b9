"""The drawing of an earlier run in a tab: it can be looked at, compared, copied and left, never changed or saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF
from PySide6.QtWidgets import QLineEdit, QTextEdit
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import READ_ONLY
from studio.bridge.run_views import BranchView, CheckpointView, RunUpdate
from studio.document import commands
from studio.document.changes import ChangeSet
from studio.document.edits import SetFields
from studio.document.model import AgentNode, DirectEdge, Place, SubWorkflowNode, Workflow
from studio.files import read_workflow, write_workflow
from studio.ui.canvas import CanvasView
from studio.ui.canvas.gestures import MarqueeGesture
from studio.ui.inspector.node_page import NodePage
from studio.ui.main_window import MainWindow
from studio.ui.widgets.buttons import ComboBox
from studio.ui.window.kept_pages import KeptPage
from studio.ui.window.workflow_page import WorkflowPage
from tests.ui.canvas.hands import drag

MakeWindow = Callable[..., MainWindow]
EDITS = (
    "file.save", "file.save_as", "edit.delete", "edit.cut", "edit.paste", "edit.duplicate", "edit.rename",
    "edit.rename_all", "edit.set_start", "edit.replace", "view.arrange", "view.arrange_down", "insert.agent",
    "insert.note",
)  # fmt: skip


def _drawing(prompt: str) -> Workflow:
    inner = Workflow(id="inner", name="Inner", nodes=(AgentNode(id="in", name="In"),))
    return Workflow(
        id="w",
        name="Brief",
        start="a",
        nodes=(
            AgentNode(id="a", name="A", instructions=prompt),
            AgentNode(id="b", name="B"),
            SubWorkflowNode(id="c", name="C", embedded=inner),
        ),
        edges=(DirectEdge(id="e", source="a", target="b"),),
        places={"a": Place(x=0, y=0), "b": Place(x=300, y=0), "c": Place(x=600, y=0)},
    )


OLD = _drawing("As it was.")


def _drag_the_first(canvas: CanvasView) -> None:
    at = canvas.canvas_scene.items_by_id["a"].sceneBoundingRect().center()
    drag(canvas, (at.x(), at.y()), (at.x() + 60, at.y() + 80))


@pytest.fixture
def opened(make_window: MakeWindow, tmp_path: Path) -> tuple[MainWindow, WorkflowPage, KeptPage]:
    """The workflow as it is now, and the drawing of its third run."""
    file = tmp_path / "brief.workflow.json"
    write_workflow(_drawing("As it is."), file)
    window = make_window()
    now = window.files.open(file)
    assert now is not None
    run = now.workspace.run
    run.branches = [BranchView("x", 3, "Fork A", "completed", 1.0)]
    run.checkpoints = [CheckpointView("p", None, "x", "superstep", 1, 1.0, 10)]
    now.workspace.drawing_offered.emit(OLD, "p")
    kept = window.page
    assert isinstance(kept, KeptPage)
    return window, now, kept


def test_the_tab_says_which_run_it_is_of_and_opens_once(
    opened: tuple[MainWindow, WorkflowPage, KeptPage], tmp_path: Path
) -> None:
    window, now, kept = opened
    assert kept.title == "Brief, run 3, Fork A"
    assert kept.bar.text.text == "The drawing of run 3, Fork A. It can be run and restored, not changed."
    assert kept.bar.isVisibleTo(kept)
    document = kept.workspace.document
    assert (document.workflow, document.read_only, document.dirty) == (OLD, True, False)
    assert document.path == tmp_path / "brief.workflow.json", "links are found"
    assert kept.workspace.autosave is None
    assert window.files.documents() == [now]
    now.workspace.drawing_offered.emit(OLD, "p")
    assert window.page is kept
    assert len(window.files.pages()) == 2
    assert window.files.open(tmp_path / "brief.workflow.json") is now, "not taken for the file"


def test_the_checkpoint_is_selected_when_the_runs_are_listed(
    opened: tuple[MainWindow, WorkflowPage, KeptPage],
) -> None:
    _window, now, kept = opened
    assert kept.workspace.selection.checkpoint is None
    kept.workspace.run.checkpoints = list(now.workspace.run.checkpoints)
    kept.workspace.run.updated.emit(RunUpdate(checkpoints=True))
    assert kept.workspace.selection.checkpoint == "p"
    kept.workspace.selection.select(("a",))
    kept.workspace.run.updated.emit(RunUpdate(checkpoints=True))
    assert kept.workspace.selection.items == ("a",), "only once"


def test_every_edit_is_refused_with_a_reason(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    window, _now, kept = opened
    document, said, told = kept.workspace.document, [], []
    document.refused.connect(said.append)
    document.changed.connect(told.append)
    document.execute(SetFields("nodes", "a", {"instructions": "Other."}), "Type")
    document.execute(commands.delete_items(document.workflow, ("a",)), "Delete")
    assert document.workflow == OLD
    assert said == [READ_ONLY] * 2
    assert told == [ChangeSet(everything=True)] * 2, "views show again what there is"
    assert not document.undo_stack.count()
    assert window.status.currentMessage() == READ_ONLY


def test_actions_that_change_it_are_off_and_say_why(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    window, now, kept = opened
    kept.workspace.selection.select(("a",))
    window.refresh()
    for id in EDITS:
        assert not window.actions_[id].isEnabled(), id
    assert "cannot be changed" in window.actions_["edit.delete"].toolTip()
    for id in ("edit.copy", "edit.find_text", "view.fit", "run.run", "file.export"):
        assert window.actions_[id].isEnabled(), id
    assert not window.sides.palette.isEnabled()
    window.tabs.show_page(now)
    now.workspace.selection.select(("a",))
    window.refresh()
    assert window.actions_["edit.delete"].isEnabled()
    assert window.sides.palette.isEnabled()


def test_saving_never_touches_the_file(opened: tuple[MainWindow, WorkflowPage, KeptPage], tmp_path: Path) -> None:
    window, _now, kept = opened
    before = (tmp_path / "brief.workflow.json").read_bytes()
    window.files.save(kept)
    window.files.save_as(kept)
    assert (tmp_path / "brief.workflow.json").read_bytes() == before
    assert window.status.currentMessage() == READ_ONLY
    assert read_workflow(tmp_path / "brief.workflow.json").node("a").instructions == "As it is."  # type: ignore[union-attr]


def test_the_canvas_selects_and_nothing_else(opened: tuple[MainWindow, WorkflowPage, KeptPage], qtbot: QtBot) -> None:
    window, now, kept = opened
    canvas = kept.canvas
    qtbot.waitUntil(lambda: canvas.viewport().width() > 300)
    _drag_the_first(canvas)
    assert kept.workspace.document.workflow == OLD
    assert canvas.selection_items == ("a",)
    window.tabs.show_page(now)
    qtbot.waitUntil(lambda: now.canvas.viewport().width() > 300)
    _drag_the_first(now.canvas)
    assert now.workspace.document.workflow.places["a"] != OLD.places["a"], "the same drag moves it in the other tab"
    now.workspace.document.undo_stack.setClean()
    window.tabs.show_page(kept)
    ids = set(canvas.canvas_scene.items_by_id)
    for act in (canvas.delete_selection, canvas.cut_selection, canvas.duplicate_selection, canvas.toggle_frame,
                canvas.start_key_move, canvas.arrange, lambda: canvas.set_start("b"), lambda: canvas.add_node("agent"),
                lambda: canvas.add_node("note"), lambda: canvas.open_search(QPointF()), canvas.extract_selection,
                lambda: canvas.open_connect("a"), lambda: canvas.open_insert("a"), lambda: canvas.to_switch("e"),
                lambda: canvas.inline("c"), lambda: canvas.take_out("a")):  # fmt: skip
        canvas.select(("a",))
        act()
        assert canvas.selection_items[:1] == ("a",), "what is selected stays selected"
    assert set(canvas.canvas_scene.items_by_id) == ids
    assert canvas.gesture is None
    assert kept.workspace.document.workflow == OLD
    assert not kept.workspace.document.undo_stack.count()
    canvas.begin(MarqueeGesture(canvas), canvas._pointer_at(canvas.viewport().mapToGlobal(QPoint(5, 5))))
    assert canvas.cancel_gesture(), "a selection can be drawn"


def test_the_menu_of_a_node_offers_what_only_looks(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    _window, _now, kept = opened
    kept.canvas.select(("a",))
    kept.canvas.canvas_scene.set_focus_id("a")
    menu = kept.canvas.open_menu_at_focus()
    assert menu is not None
    on = {a.text().partition("\t")[0]: a.isEnabled() for a in menu.actions() if a.text()}
    assert on["Copy"]
    assert on["Breakpoint"]
    assert on["Open in the inspector"]
    assert not any(on[text] for text in ("Rename", "Delete", "Cut", "Duplicate", "Start node", "Connect to…"))
    menu.close()


def test_the_inspector_can_be_read_and_copied_from(
    opened: tuple[MainWindow, WorkflowPage, KeptPage],
) -> None:
    window, now, kept = opened
    kept.workspace.selection.select(("a",))
    page = window.sides.inspector.page
    assert isinstance(page, NodePage)
    assert page.form is not None
    texts = page.body.findChildren(QTextEdit)
    assert "As it was." in {t.toPlainText() for t in texts}
    assert all(t.isReadOnly() for t in texts)
    assert all(t.isEnabled() for t in texts if t.toPlainText() == "As it was.")
    assert all(line.isReadOnly() for line in page.body.findChildren(QLineEdit))
    assert not any(box.isEnabled() for box in page.body.findChildren(ComboBox))
    window.tabs.show_page(now)
    now.workspace.selection.select(("a",))
    page = window.sides.inspector.page
    assert page is not None
    assert any(not t.isReadOnly() for t in page.body.findChildren(QTextEdit))


def test_what_is_inside_it_cannot_be_changed_either(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    window, _now, kept = opened
    kept.canvas.open_item("c")
    inner = window.page
    assert inner is not None
    assert inner.title == "Inner"
    assert inner.workspace.document.read_only
    assert inner.canvas.add_node("agent") is None
    inner.workspace.document.execute(SetFields("nodes", "in", {"name": "Other"}), "Rename")
    assert kept.workspace.document.workflow == OLD
    assert inner.workspace.document.workflow.node("in").name == "In"  # type: ignore[union-attr]
    window.close_tab()


def test_it_is_compared_with_the_drawing_as_it_is_now(
    opened: tuple[MainWindow, WorkflowPage, KeptPage],
) -> None:
    window, now, kept = opened
    kept.bar.compare.click()
    assert window.page is now
    compared = now.workspace.compared
    assert compared.old == OLD
    assert compared.title == "the drawing of run 3, Fork A"
    assert compared.found is not None
    assert [(c.what, c.item) for c in compared.found.changes] == [("changed", "a")]
    now.workspace.compared.close()
    window.files.close(now)
    window.tabs.show_page(kept)
    kept.bar.compare.click()
    assert "is not open" in window.status.currentMessage()


def test_a_copy_of_it_can_be_changed(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    window, _now, kept = opened
    kept.bar.copy.click()
    copy = window.page
    assert copy is not None
    document = copy.workspace.document
    assert not document.read_only
    assert document.path is None
    assert (document.workflow.name, document.workflow.id == "w") == ("Brief, as it was", False)
    document.execute(SetFields("nodes", "a", {"name": "Other"}), "Rename")
    assert document.dirty
    document.undo_stack.setClean()


def test_closing_it_asks_nothing_and_goes_back(opened: tuple[MainWindow, WorkflowPage, KeptPage]) -> None:
    window, now, kept = opened
    kept.bar.leave.click()
    assert window.page is now
    assert window.files.pages() == [now]
