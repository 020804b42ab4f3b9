"""The outline: rows in run order, marks, selection, menu."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import NodeView, RunUpdate
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.model import Workflow
from studio.ui.outline import OutlinePanel
from studio.ui.outline.delegate import BREAKPOINT_ROLE, STATUS_ROLE
from studio.ui.outline.tree import Row, outline
from studio.ui.theme import Theme
from tests.ui.canvas.drawings import research_brief
from tests.ui.canvas.fake_run import FakeRun


@pytest.fixture
def panel(qtbot: QtBot, theme: Theme, make_workspace: Callable[[Workflow], Workspace]) -> OutlinePanel:
    made = OutlinePanel(theme)
    qtbot.addWidget(made)
    made.resize(216, 400)
    made.show()
    made.space = make_workspace(research_brief())  # type: ignore[attr-defined]
    made.set_workspace(made.space)  # type: ignore[attr-defined]
    return made


def _space(panel: OutlinePanel) -> Workspace:
    found = panel._workspace
    assert found is not None
    return found


def _flat(rows: list[Row], depth: int = 0) -> list[tuple[int, str, str]]:
    found = []
    for row in rows:
        found.append((depth, row.name, row.detail))
        found += _flat(row.rows, depth + 1)
    return found


def test_rows_are_in_run_order_with_cases() -> None:
    assert _flat(outline(research_brief())) == [
        (0, "Planner", ""),
        (0, "Research", "in parallel"),
        (1, "Market research", ""),
        (1, "Tech research", ""),
        (1, "Policy research", ""),
        (0, "Join", "all 3"),
        (0, "Writer", ""),
        (0, "Review", "2 cases"),
        (1, "score ≥ 8 → Publisher", ""),
        (1, "default → Planner", ""),
        (0, "Publisher", ""),
        (0, "How it works", ""),
    ]


def test_selection_goes_both_ways(panel: OutlinePanel) -> None:
    space = _space(panel)
    space.selection.select(("good",))
    assert [i.data() for i in panel.tree.selectionModel().selectedIndexes()] == ["score ≥ 8 → Publisher"]
    item = panel.index_of("writer")
    revealed: list[str] = []
    space.selection.reveal_requested.connect(revealed.append)
    QTest.mouseClick(panel.tree.viewport(), Qt.MouseButton.LeftButton, pos=panel.tree.visualRect(item).center())
    assert space.selection.items == ("writer",)
    assert "writer" in revealed


def test_run_state_and_breakpoints_are_marks(panel: OutlinePanel) -> None:
    space = _space(panel)
    run = space.run
    assert isinstance(run, FakeRun)
    run.nodes["writer"] = NodeView("writer", "done", 1)
    run.breakpoints = frozenset({"writer"})
    run.updated.emit(RunUpdate(nodes=frozenset({"writer"})))
    panel.refresh()
    item = panel.index_of("writer")
    assert item.data(STATUS_ROLE) == "done"
    assert item.data(BREAKPOINT_ROLE)
    assert item.data(Qt.ItemDataRole.AccessibleTextRole) == "Agent Writer, 1 in, 1 out, done, breakpoint"
    assert panel.index_of("good").data(Qt.ItemDataRole.AccessibleTextRole) == "1, score ≥ 8 → Publisher"
    assert not panel.grab().isNull()


def test_a_row_says_what_is_the_matter(panel: OutlinePanel, qtbot: QtBot) -> None:
    document = _space(panel).document
    edit, node = commands.new_node(document.workflow, "template", "Letter")
    document.execute(edit, "Add a letter")
    panel.refresh()
    wanted = (
        "Template Letter, 0 in, 0 out, warning: No path from the start leads to “Letter”: it takes no part in a run."
    )
    qtbot.waitUntil(lambda: panel.index_of(node).data(Qt.ItemDataRole.AccessibleTextRole) == wanted, timeout=60_000)


def test_renaming_and_folding_survive_changes(panel: OutlinePanel, qtbot: QtBot) -> None:
    panel.tree.collapse(panel.index_of("review"))
    document = _space(panel).document
    document.execute(commands.rename(document.workflow, "writer", "Author"), "Rename")
    qtbot.waitUntil(lambda: panel.index_of("writer").data() == "Author")
    assert not panel.tree.isExpanded(panel.index_of("review"))


def test_the_menu_edits(panel: OutlinePanel) -> None:
    space = _space(panel)
    menu = panel.open_menu("writer", QPoint(0, 0))
    assert menu is not None
    actions = {action.text(): action for action in menu.actions()}
    actions["Breakpoint"].trigger()
    assert space.run.breakpoints == {"writer"}
    actions["Set as start node"].trigger()
    assert space.document.workflow.start == "writer"
    actions["Delete"].trigger()
    assert space.document.workflow.node("writer") is None
    menu.close()
    panel.refresh()


def test_keys(panel: OutlinePanel, qtbot: QtBot) -> None:
    space = _space(panel)
    space.selection.select(("publisher",))
    with qtbot.waitSignal(space.selection.field_requested) as asked:
        QTest.keyClick(panel, Qt.Key.Key_F2)
    assert asked.args == ["publisher", "name"]
    QTest.keyClick(panel, Qt.Key.Key_F9)
    assert space.run.breakpoints == {"publisher"}
    QTest.keyClick(panel, Qt.Key.Key_Delete)
    assert space.document.workflow.node("publisher") is None
    panel.refresh()
