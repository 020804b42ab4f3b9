"""Names, pins, branches by their names, menus, the question before a branch is deleted, Resume."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLineEdit, QMenu, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.checkpoint_page import CheckpointPage
from studio.ui.timeline import TimelinePanel
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]
HEIGHTS = pytest.mark.parametrize("height", [98, 372])


def _editor(panel: TimelinePanel) -> QLineEdit:
    [editor] = [e for e in panel.findChildren(QLineEdit) if e.isVisible()]
    return editor


@HEIGHTS
def test_f2_names_the_selected_checkpoint(show: Show, run: FakeRun, qtbot: QtBot, height: int) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, height)
    panel.view.pick("m3")
    qtbot.keyClick(panel.view, Qt.Key.Key_F2)
    qtbot.keyClicks(_editor(panel), "best draft")
    qtbot.keyClick(_editor(panel), Qt.Key.Key_Return)
    assert run.calls == [("mark", "m3", "best draft", None, None)]
    assert panel.view.plan.by_id["m3"].name == "best draft"
    assert not [e for e in panel.findChildren(QLineEdit) if e.isVisible()]


def test_escape_leaves_the_name(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    panel.view.pick("m2")
    qtbot.keyClick(panel.view, Qt.Key.Key_F2)
    assert _editor(panel).text() == "plan approved"
    qtbot.keyClicks(_editor(panel), "other")
    qtbot.keyClick(_editor(panel), Qt.Key.Key_Escape)
    assert run.calls == []


def test_p_pins_and_unpins(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    panel.view.pick("m3")
    qtbot.keyClick(panel.view, Qt.Key.Key_P)
    assert panel.view.plan.by_id["m3"].pinned
    assert "pinned" in panel.view.words(panel.view.plan.by_id["m3"])
    qtbot.keyClick(panel.view, Qt.Key.Key_P)
    assert run.calls == [("mark", "m3", None, None, True), ("mark", "m3", None, None, False)]


@HEIGHTS
def test_a_click_on_the_name_of_a_branch_shows_it(show: Show, run: FakeRun, qtbot: QtBot, height: int) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, height)
    view = panel.view
    for branch in ("a", "main"):
        track = next(t for t in view.plan.tracks if t.branch == branch)
        qtbot.mouseClick(
            view.viewport(), Qt.MouseButton.LeftButton, pos=view.name_rect(track).center().toPoint() + QPoint(0, 2)
        )
    assert run.calls == [("show_branch", "a"), ("show_branch", "main")]


def test_a_double_click_renames_a_branch(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 372)
    track = panel.view.plan.tracks[1]
    qtbot.mouseDClick(
        panel.view.viewport(), Qt.MouseButton.LeftButton, pos=panel.view.name_rect(track).center().toPoint()
    )
    _editor(panel).setText("New instructions")
    qtbot.keyClick(_editor(panel), Qt.Key.Key_Return)
    assert run.calls[-1] == ("rename_branch", "a", "New instructions")


def test_the_menu_of_a_checkpoint(show: Show, run: FakeRun) -> None:
    paused(run)
    run.allowed["fork"] = "The run is stopping."
    panel = show(TimelinePanel, 1268, 372)
    view = panel.view
    view.menu_requested.emit(view.plan.by_id["a5"], view.plan.tracks[1], QPoint(10, 10))
    menu = panel.findChild(QMenu)
    assert isinstance(menu, QMenu)
    entries = {a.text().split("\t")[0]: a for a in menu.actions() if a.text()}
    assert list(entries) == [
        "Restore…", "Fork", "Fork with edits…", "Mark for compare", "Name…", "Tags…", "Pin", "Export checkpoint…",
        "Delete checkpoint",
        "Show Fork A", "Compare main with Fork A", "Rename branch…", "Export branch…", "Delete branch…",
    ]  # fmt: skip
    assert not entries["Fork"].isEnabled()
    assert entries["Fork"].toolTip() == "The run is stopping."
    entries["Show Fork A"].trigger()
    assert run.calls == [("show_branch", "a")]
    menu.close()


def test_deleting_a_branch_names_the_numbers_and_is_not_the_default(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 372)
    panel.delete_branch("main")
    box = panel.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert box.text() == "Delete main of run 13?"
    assert "5 checkpoints, 205 kB" in box.informativeText()
    assert "1 of them is named or pinned." in box.informativeText()
    assert "Branches that were forked from it stay" in box.informativeText()
    assert isinstance(box.defaultButton(), QPushButton)
    assert box.defaultButton().text() == "Cancel"
    qtbot.keyClick(box, Qt.Key.Key_Return)
    assert run.calls == []
    panel.delete_branch("a")
    box = next(b for b in panel.findChildren(QMessageBox) if b.isVisible())
    assert "forked" not in box.informativeText()
    next(b for b in box.buttons() if b.text() == "Delete").click()
    assert run.calls == [("delete_branch", "a")]


def test_resume_is_offered_for_what_was_interrupted(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    assert not panel.resume_button.isVisible()
    run.state, run.branch, run.here = RunState.IDLE, None, None
    run.branches[0].state, run.branches[1].state = "interrupted", "waiting"
    run.state_changed.emit()
    assert panel.resume_button.text() == "Answer…", "the newest branch"
    assert panel.summary() == "9 checkpoints · 2 branches · Fork A waits for your answer"
    panel.resume_button.click()
    panel.view.pick("m1")
    assert panel.resume_button.text() == "Resume"
    assert panel.resume_button.toolTip() == "Go on with main of run 13 from its last checkpoint"
    panel.resume_button.click()
    assert run.calls == [("show_branch", "a"), ("resume", "main")]
    assert panel.resume_button.geometry().bottom() < 98


def test_a_button_that_goes_leaves_its_focus_to_the_tree(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    """Not to the next field of the window: Space would press what is there, such as Save."""
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    run.state, run.branch, run.here = RunState.IDLE, None, None
    run.branches[0].state = "interrupted"
    run.state_changed.emit()
    panel.activateWindow()
    for button, ended in ((panel.resume_button, True), (panel.restore_button, False)):
        panel.view.pick("m1")
        button.setFocus()
        qtbot.waitUntil(button.hasFocus)
        if ended:
            run.branches[0].state = "finished"
        else:
            run.allowed["restore"] = "Wait for the run."
        run.state_changed.emit()
        assert not button.isVisible() or not button.isEnabled()
        assert panel.view.hasFocus()


def test_the_page_of_a_checkpoint_names_describes_and_pins_it(
    show: Show, run: FakeRun, workspace: Workspace, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(InspectorPanel, 400, 700)
    workspace.selection.look_at_checkpoint("m2")
    page = panel.page
    assert isinstance(page, CheckpointPage)
    assert page.name_field.text() == "plan approved"
    page.name_field.setFocus()
    page.name_field.selectAll()
    qtbot.keyClicks(page.name_field, "agreed")
    run.tell(checkpoints=True)
    assert page.name_field.text() == "agreed", "what is being typed stays"
    qtbot.keyClick(page.name_field, Qt.Key.Key_Return)
    page.note_box.setFocus()
    qtbot.keyClicks(page.note_box, "Keep.")
    page.note_box.left.emit()
    qtbot.mouseClick(page.pin_button, Qt.MouseButton.LeftButton)
    view = run.checkpoints[3]
    assert (view.name, view.note, view.pinned) == ("agreed", "Keep.", True)
    assert page.pin_button.accessibleName() == "Unpin"
    assert not page.resume_button.isVisible()
    run.branches[0].state = "interrupted"
    run.tell(checkpoints=True)
    page.resume_button.click()
    assert run.calls[-1] == ("resume", "main")
