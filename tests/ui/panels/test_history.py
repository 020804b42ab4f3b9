"""The history panel follows the undo stack and brings the document to any step."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.edits import SetFields
from studio.ui.history import HistoryPanel
from studio.ui.history import panel as panel_module
from studio.ui.history.rows import NOW_ROLE, SAVED_ROLE

Show = Callable[[type], QWidget]


@pytest.fixture
def panel(show: Show, workspace: Workspace) -> HistoryPanel:
    made = show(HistoryPanel)
    assert isinstance(made, HistoryPanel)
    for number in range(1, 6):
        workspace.document.execute(SetFields("nodes", "writer", {"name": f"W{number}"}), f"Step {number}")
    return made


def name(workspace: Workspace) -> str:
    node = workspace.document.workflow.node("writer")
    assert node is not None
    return node.name


def shown(panel: HistoryPanel) -> list[tuple[str, int]]:
    rows = (panel.rows.index(row, 0) for row in range(panel.rows.rowCount()))
    return [(str(row.data()), row.data(NOW_ROLE)) for row in rows]


def test_steps_are_listed(panel: HistoryPanel, workspace: Workspace) -> None:
    assert [text for text, _ in shown(panel)] == ["As it was opened", *(f"Step {n}" for n in range(1, 6))]
    workspace.document.undo_stack.undo()
    assert shown(panel)[4:] == [("Step 4", 0), ("Step 5", 1)]
    assert panel.list.currentIndex().row() == 4
    row = panel.rows.index(5, 0)
    assert row.data(Qt.ItemDataRole.AccessibleTextRole) == "Step 5, undone"


def becomes(qtbot: QtBot, workspace: Workspace, wanted: str) -> None:
    """A jump may take several pieces."""
    qtbot.waitUntil(lambda: name(workspace) == wanted)


def test_a_click_goes_there_and_back(panel: HistoryPanel, workspace: Workspace, qtbot: QtBot) -> None:
    rect = panel.list.visualRect(panel.rows.index(2, 0))
    qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=rect.center())
    becomes(qtbot, workspace, "W2")
    panel.go(0)
    becomes(qtbot, workspace, "Writer")
    panel.go(5)
    becomes(qtbot, workspace, "W5")
    assert workspace.document.undo_stack.count() == 5, "jumping makes no step"


def test_keys(panel: HistoryPanel, workspace: Workspace, qtbot: QtBot) -> None:
    qtbot.keyClick(panel.list, Qt.Key.Key_Up)
    qtbot.keyClick(panel.list, Qt.Key.Key_Up)
    assert name(workspace) == "W5", "choosing alone changes nothing"
    qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    becomes(qtbot, workspace, "W3")


def test_the_saved_step_is_marked(panel: HistoryPanel, workspace: Workspace) -> None:
    workspace.document.undo_stack.undo()
    workspace.document.undo_stack.setClean()
    saved = [panel.rows.index(row, 0).data(SAVED_ROLE) for row in range(6)]
    assert saved == [False, False, False, False, True, False]


def test_a_long_way_goes_in_pieces_and_ends_when_somebody_acts(
    panel: HistoryPanel, workspace: Workspace, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    ticks = iter(range(10_000))
    monkeypatch.setattr(panel_module, "perf_counter", lambda: next(ticks) * panel_module.PIECE * 0.6)
    panel.go(0)
    assert name(workspace) == "W4", "one step fits into a piece"
    becomes(qtbot, workspace, "Writer")
    panel.go(5)
    workspace.document.execute(SetFields("nodes", "writer", {"name": "Typed"}), "Type")
    qtbot.waitUntil(lambda: not panel._going.isActive())
    assert name(workspace) == "Typed", "a step in between is not undone"


def test_a_hidden_panel_shows_everything_when_it_is_seen(panel: HistoryPanel, workspace: Workspace) -> None:
    panel.hide()
    workspace.document.execute(SetFields("nodes", "writer", {"name": "W6"}), "Step 6")
    panel.show()
    assert panel.list.currentIndex().row() == 6
    assert shown(panel)[6] == ("Step 6", 0)


def test_another_workspace(panel: HistoryPanel) -> None:
    panel.set_workspace(None)
    assert panel.rows.rowCount() == 0
