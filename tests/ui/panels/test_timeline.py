"""The checkpoint strip and tree: places, hit-testing, keys, buttons."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QHelpEvent, QTextDocument
from PySide6.QtWidgets import QApplication, QMessageBox, QToolTip
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import BranchView, CheckpointView
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.timeline import TimelinePanel
from studio.ui.timeline.measures import STRIP, TREE
from studio.ui.timeline.plan import arrange
from tests.ui.panels.fake_run import FakeRun, paused, tree

Show = Callable[..., Any]


def test_places(run: FakeRun) -> None:
    tree(run)
    plan = arrange(run.checkpoints, run.branches, "main")
    assert {s.checkpoint: (s.column, s.row, s.glyph) for s in plan.spots} == {
        "m0": (0, 0, "input"),
        "m1": (1, 0, "superstep"),
        "ma": (2, 0, "answers"),
        "m2": (3, 0, "superstep"),
        "m3": (4, 0, "superstep"),
        "a3": (4, 1, "superstep"),
        "a4": (5, 1, "superstep"),
        "a5": (6, 1, "superstep"),
        "a6": (7, 1, "finished"),
    }
    assert plan.by_id["m2"].splits
    assert not plan.by_id["m3"].splits
    assert plan.labels[2] == "answer"
    assert plan.tracks[1].ending == "finished · 12.9 k tokens · 29 s"
    day = datetime.fromtimestamp(next(b.started for b in run.branches if b.branch == plan.tracks[1].branch) + 29)
    assert plan.tracks[1].moment in (f"finished {day:%Y-%m-%d}", f"finished {day:%H:%M}")


def test_older_runs_stand_below() -> None:
    branches = [
        BranchView("old", 1, "main", "completed", 1.0),
        BranchView("new", 2, "main", "paused", 2.0),
        BranchView("fork", 2, "Fork A", "running", 3.0),
    ]
    views = [CheckpointView(i, None, i, "input", 0, 1.0) for i in ("old", "new", "fork")]
    assert [t.branch for t in arrange(views, branches, "fork").tracks] == ["new", "fork", "old"]
    assert [t.branch for t in arrange(views, branches, "old").tracks] == ["old", "new", "fork"]


def test_a_parent_that_is_gone_starts_a_chain() -> None:
    views = [CheckpointView("b", "gone", "r", "superstep", 4, 1.0)]
    plan = arrange(views, [BranchView("r", 1, "main", "paused", 1.0)], "r")
    assert plan.spots[0].column == 0
    assert plan.spots[0].parent is None


def test_a_checkpoint_that_cannot_be_restored(run: FakeRun) -> None:
    tree(run)
    run.checkpoints[1].problem = "Other graph"
    assert arrange(run.checkpoints, run.branches, "main").by_id["m1"].glyph == "broken"


def test_an_ending_stands_behind_the_forks_that_leave_there() -> None:
    """A run that failed and was retried: its last checkpoint is where the fork leaves."""
    views = [
        CheckpointView("m0", None, "main", "input", 0, 1.0),
        CheckpointView("m1", "m0", "main", "superstep", 1, 2.0),
        CheckpointView("f2", "m1", "fork", "superstep", 2, 3.0),
    ]
    branches = [BranchView("main", 1, "main", "failed", 1.0), BranchView("fork", 1, "Fork A", "completed", 3.0)]
    plan = arrange(views, branches, "fork")
    main = next(track for track in plan.tracks if track.branch == "main")
    last = plan.at(main.last, main.row)
    assert last is not None
    assert (last.checkpoint, last.splits) == ("m1", True)
    for measures in (STRIP, TREE):
        assert measures.beside(splits=True) > measures.leg > measures.beside(splits=False)


def test_empty(show: Show) -> None:
    assert show(TimelinePanel, 900, 98)._stack.currentIndex() == 0


def test_clicks_hit_marks_in_strip_and_tree(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    for height in (98, 372):
        panel.resize(1268, height)
        for key in ("m1", "a6", "ma"):
            at = panel.view.center(panel.view.plan.by_id[key])
            qtbot.mouseClick(panel.view.viewport(), Qt.MouseButton.LeftButton, pos=at.toPoint())
            assert workspace.selection.checkpoint == key
    assert panel.view.is_tree
    assert panel.view.spot_at(QPointF(3, 3)) is None


def test_a_note_is_shown_letter_by_letter(show: Show, run: FakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Qt takes a tip for HTML if it looks like it."""
    paused(run)
    next(c for c in run.checkpoints if c.checkpoint == "m1").note = "<b>before</b> the answer"
    panel = show(TimelinePanel, 1268, 98)
    told: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_: told.append(text))
    at = panel.view.center(panel.view.plan.by_id["m1"]).toPoint()
    QApplication.sendEvent(panel.view.viewport(), QHelpEvent(QEvent.Type.ToolTip, at, panel.view.mapToGlobal(at)))
    shown = QTextDocument()
    shown.setHtml(told[0])
    assert "<b>before</b> the answer" in shown.toPlainText()


def test_keys_move_along_the_chain_and_between_branches(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    view = panel.view
    view.pick("m2")
    for key, wanted in (
        (Qt.Key.Key_Right, "m3"),
        (Qt.Key.Key_Down, "a3"),
        (Qt.Key.Key_Right, "a4"),
        (Qt.Key.Key_Left, "a3"),
        (Qt.Key.Key_Left, "m2"),
        (Qt.Key.Key_Up, "m2"),
    ):
        qtbot.keyClick(view, key)
        assert workspace.selection.checkpoint == wanted


def test_enter_restores_and_shift_enter_forks(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    panel.view.pick("m2")
    qtbot.keyClick(panel.view, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert run.calls == [("fork", "m2", None)]
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    assert run.calls[1:] == [("restore", "m2")]
    run.state = RunState.RUNNING
    qtbot.keyClick(panel.view, Qt.Key.Key_Return)
    box = panel.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    qtbot.keyClick(box, Qt.Key.Key_Escape)
    assert len(run.calls) == 2, "Cancel restores nothing"


def test_buttons_say_why_they_are_off(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(TimelinePanel, 1268, 98)
    assert not panel.fork_button.isEnabled()
    assert panel.fork_button.toolTip() == "Select a checkpoint first"
    panel.view.pick("m2")
    assert panel.fork_button.isEnabled()
    run.allowed["fork"] = "The run is stopping."
    run.state_changed.emit()
    assert not panel.fork_button.isEnabled()
    assert panel.fork_button.toolTip() == "The run is stopping."


def test_new_checkpoints_scroll_into_view(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(TimelinePanel, 600, 98)
    parent = "m3"
    for step in range(4, 30):
        run.checkpoints.append(CheckpointView(f"m{step}", parent, "main", "superstep", step, 1.0))
        parent = f"m{step}"
    run.here = parent
    run.tell(checkpoints=True)
    at = panel.view.center(panel.view.plan.by_id[parent])
    assert 0 < at.x() < panel.view.viewport().width()
    assert panel.summary() == "Run 13 · 35 checkpoints · 2 branches"


def test_the_strips_fork_takes_the_edits_of_the_inspector(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(TimelinePanel)
    here = run.here
    assert here is not None
    workspace.selection.look_at_checkpoint(here)
    run.drafts["q1"] = "typed in the inspector"
    panel.fork_button.click()
    assert run.calls == [("fork", here, {"q1": "typed in the inspector"})]


def test_after_a_failed_superstep_the_last_checkpoint_is_not_what_is_shown(run: FakeRun) -> None:
    paused(run)
    here = run.here
    assert here is not None
    assert run.stands_at(here)
    run.state = RunState.FAILED
    assert not run.stands_at(here)


def test_the_end_that_is_shown_is_compared_with_the_branch_before(
    show: Show, workspace: Workspace, run: FakeRun
) -> None:
    tree(run)
    run.branch = "a"
    panel = show(TimelinePanel, 900, 98)
    pairs: list[tuple[str, str]] = []
    workspace.comparison_offered.connect(lambda a, b: pairs.append((a, b)))
    for chosen in ("a6", "a4", "m2"):
        workspace.selection.look_at_checkpoint(chosen)
        panel.compare_marked()
    assert pairs == [("main", "a6"), ("a", "a4"), ("a", "m2")]
