"""Breakpoints and queued messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.ui.debug import DebugPanel
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


def names(panel: DebugPanel) -> list[tuple[str, bool, bool]]:
    return [(r.name, r.on, r.hit) for r in panel.breakpoint_model.rows]  # type: ignore[union-attr]


def test_empty_then_filled(show: Show, workspace: Workspace, run: FakeRun) -> None:
    panel = show(DebugPanel, 216, 500)
    assert panel._breakpoint_stack.currentIndex() == 1
    paused(run)
    run.breakpoints_changed.emit()
    assert names(panel) == [("Join", True, True), ("Writer", True, False), ("Publisher", True, False)]
    assert [r.title for r in panel.queued_model.rows] == [
        "Market research → Join",
        "Tech research → Join",
        "Policy research → Join",
    ]


def test_a_breakpoint_switched_off_stays_in_the_list(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(DebugPanel, 216, 500)
    area = panel.breakpoints.visualRect(panel.breakpoint_model.index(1))
    at = area.topLeft()
    at.setX(at.x() + 18)
    at.setY(at.y() + 19)
    qtbot.mouseClick(panel.breakpoints.viewport(), Qt.MouseButton.LeftButton, pos=at)
    assert run.calls == [("toggle_breakpoint", "writer")]
    assert ("Writer", False, False) in names(panel)
    panel.breakpoints.setCurrentIndex(panel.breakpoint_model.index(1))
    qtbot.keyClick(panel.breakpoints, Qt.Key.Key_Delete)
    assert ("Writer", False, False) not in names(panel)


def test_enter_jumps_to_the_node(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(DebugPanel, 216, 500)
    revealed: list[str] = []
    workspace.selection.reveal_requested.connect(revealed.append)
    panel.breakpoints.setCurrentIndex(panel.breakpoint_model.index(0))
    qtbot.keyClick(panel.breakpoints, Qt.Key.Key_Return)
    assert revealed == ["join"]


def test_queued_messages_open_and_drop(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(DebugPanel, 216, 500)
    panel.queued.setCurrentIndex(panel.queued_model.index(1))
    qtbot.keyClick(panel.queued, Qt.Key.Key_Return)
    assert workspace.selection.message == "q2"
    qtbot.keyClick(panel.queued, Qt.Key.Key_Delete)
    assert run.calls == [("drop_queued", "q2")]
