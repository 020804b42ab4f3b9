"""What the window does by itself when a run starts, pauses and ends; what it shows first."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import BranchView
from studio.debugger.states import RunState
from studio.document.edits import SetWorkflow
from studio.document.model import FunctionNode, Workflow
from studio.files import Journal, recoverable, write_workflow
from studio.ui.main_window import MainWindow
from studio.ui.trust_bar.code_dialog import CodeDialog
from studio.ui.welcome import WelcomePage
from studio.ui.window.workflow_page import WorkflowPage
from tests.ui.canvas.drawings import research_brief
from tests.ui.shell.still_run import StillRun

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    made = make_window()
    made.show_first([])
    made.showNormal()
    made.resize(QSize(1600, 1000))
    qtbot.waitExposed(made)
    return made


def turn(page: WorkflowPage, *states: RunState) -> None:
    run = page.workspace.run
    assert isinstance(run, StillRun)
    for state in states:
        run.state = state
        run.state_changed.emit()


def test_the_debug_layout_stays_after_stop_and_end(window: MainWindow) -> None:
    page = window.files.new()
    turn(page, RunState.RUNNING)
    layouts = window.sides.layouts
    assert (layouts.current, layouts.is_shown("checkpoints")) == ("debug", True)
    run = page.workspace.run
    assert isinstance(run, StillRun)
    run.refused.clear()
    window.refresh()
    window.actions_["run.stop"].trigger()
    turn(page, RunState.CANCELLED)
    assert run.calls == [("stop",)]
    assert (layouts.current, layouts.is_shown("checkpoints")) == ("debug", True)
    window.refresh()
    window.actions_["view.edit_layout"].trigger()
    window.refresh()
    assert (layouts.current, layouts.is_shown("checkpoints")) == ("edit", False)
    assert window.actions_["view.edit_layout"].isChecked()
    assert not window.actions_["view.debug_layout"].isChecked()


def test_the_debug_panel_comes_on_a_pause_and_goes_with_the_run(window: MainWindow) -> None:
    page, left = window.files.new(), window.sides.left
    turn(page, RunState.RUNNING, RunState.PAUSED)
    assert left.current == "debug"
    turn(page, RunState.RUNNING, RunState.COMPLETED)
    assert left.current == "palette"


def test_a_left_side_that_was_arranged_by_hand_stays(window: MainWindow) -> None:
    page, left = window.files.new(), window.sides.left
    turn(page, RunState.RUNNING, RunState.PAUSED)
    left.show_panel("palette")
    turn(page, RunState.RUNNING, RunState.COMPLETED, RunState.RUNNING, RunState.PAUSED)
    assert left.current == "palette"


def small(make_window: MakeWindow, tmp_path: Path) -> tuple[MainWindow, WorkflowPage]:
    file = tmp_path / "brief.workflow.json"
    write_workflow(research_brief(), file)
    window = make_window()
    window.resize(1280, 720)
    window.show_first([file])
    window.showNormal()
    window.resize(1280, 720)
    page = window.page
    assert page is not None
    return window, page


def test_a_small_window_shows_the_whole_drawing_at_first(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    _, page = small(make_window, tmp_path)
    qtbot.waitUntil(lambda: page.sees_all)


def test_a_run_in_a_small_window_can_be_read(make_window: MakeWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window, page = small(make_window, tmp_path)
    qtbot.waitUntil(lambda: page.sees_all)
    turn(page, RunState.RUNNING)
    assert window.sides.layouts.current == "debug"
    start = page.workspace.document.workflow.start
    assert start is not None
    qtbot.waitUntil(lambda: page.canvas.zoom >= 0.45)
    assert page.canvas.seen_rect().contains(page.canvas.canvas_scene.bounds((start,)))


def leave_unsaved(workflow: Workflow) -> None:
    """Work of a program that died, in its journal."""
    journal = Journal(workflow.id)
    journal.begin(Workflow(id=workflow.id), None)
    journal.record(workflow)
    assert journal._lock is not None
    journal._lock.release()


def test_a_recovery_brings_the_input_and_the_whole_drawing(window: MainWindow, qtbot: QtBot) -> None:
    leave_unsaved(research_brief().model_copy(update={"id": "lost", "sample_input": "What is new?"}))
    page = window.files.recover(recoverable()[0])
    assert page is not None
    assert window.tool_bar.input.text() == "What is new?"
    qtbot.waitUntil(lambda: len(page.canvas.canvas_scene.items_by_id) > 5 and page.sees_all)


def test_a_named_file_is_in_front_of_what_can_be_recovered(make_window: MakeWindow, tmp_path: Path) -> None:
    leave_unsaved(Workflow(id="lost", name="Lost"))
    file = tmp_path / "brief.workflow.json"
    write_workflow(research_brief(), file)
    window = make_window()
    window.show_first([file])
    assert window.page is not None
    assert window.tabs.current is window.page
    assert [p for p in window.tabs.pages() if isinstance(p, WelcomePage)]


def test_the_input_follows_the_sample_input_until_one_is_typed(window: MainWindow) -> None:
    page, field = window.files.new(), window.tool_bar.input
    document = page.workspace.document
    document.execute(SetWorkflow({"sample_input": "What is new?"}), "Edit")
    assert (field.text(), page.input_text) == ("What is new?", "What is new?")
    document.execute(SetWorkflow({"sample_input": "And then?"}), "Edit")
    assert field.text() == "And then?"
    field.setText("My own")
    document.execute(SetWorkflow({"sample_input": "No"}), "Edit")
    assert field.text() == "My own"


def test_the_input_is_that_of_the_shown_run_until_one_is_typed(window: MainWindow) -> None:
    page, field = window.files.new(), window.tool_bar.input
    run = page.workspace.run
    run.branches = [
        BranchView("a", 1, "main", "completed", 1.0, input_text="First"),
        BranchView("b", 2, "main", "interrupted", 2.0, input_text="Second"),
        BranchView("c", 1, "Fork A", "completed", 3.0),
    ]
    turn(page, RunState.IDLE)
    assert field.text() == "First", "the last branch belongs to run 1"
    run.branch = "b"
    turn(page, RunState.PAUSED)
    assert (field.text(), page.input_text) == ("Second", "Second")
    run.branch = "c"
    turn(page, RunState.PAUSED)
    assert field.text() == "First"
    field.setText("My own")
    run.branch = "b"
    turn(page, RunState.PAUSED)
    assert field.text() == "My own"


def test_a_run_of_code_that_nobody_accepted_offers_to_show_it(window: MainWindow, tmp_path: Path) -> None:
    node = FunctionNode(id="f", name="F", body="result = data", yields="text")
    write_workflow(Workflow(id="w", start="f", nodes=(node,)), tmp_path / "a.workflow.json")
    page = window.files.open(tmp_path / "a.workflow.json")
    assert page is not None
    page.workspace.run.failed_to_start.emit("The workflow has code that nobody has accepted.")
    box = window.findChild(QMessageBox)
    assert box is not None
    texts = [button.text() for button in box.buttons()]
    assert "Show code…" in texts
    next(b for b in box.buttons() if b.text() == "Show code…").click()
    assert window.findChild(CodeDialog) is not None


def test_a_workflow_without_a_name_is_called_something(window: MainWindow) -> None:
    page = window.files.new()
    page.workspace.document.execute(SetWorkflow({"name": "  "}), "Rename")
    window.refresh()
    assert window.windowTitle().startswith("Untitled")


def test_what_is_wrong_with_the_file_of_runs_is_seen_without_opening_anything(window: MainWindow) -> None:
    run = window.files.new().workspace.run
    dock = window.sides.checkpoints
    dock.set_folded(True)
    run.file_trouble = "runs.db has version 77 of the format. Update the program to open it."
    run.upkeep_changed.emit()
    assert not dock.folded
    assert not window.sides.timeline.notice.isHidden()
    assert dock.header.accessibleDescription() == "the file of runs cannot be used"
    dock.set_folded(True)
    run.upkeep_changed.emit()
    assert dock.folded, "somebody who folds it again has read it"
    window.files.new()
    assert dock.folded
    assert dock.header.accessibleDescription() == ""
