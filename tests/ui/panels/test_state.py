"""The state panel and the watches: history of keys, differences, what nodes remember."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from pytestqt.qtbot import QtBot
from studio.agents.messages import assistant, user
from studio.bridge.state_history import StateHistory, Written
from studio.bridge.workspace import Workspace
from studio.checkpoints.usage import Weight
from studio.debugger.details import Details, Memory, Waiting
from studio.document.commands import rename
from studio.ui.debug import DebugPanel
from studio.ui.state import StatePanel
from studio.ui.state.moments import NOW
from studio.ui.state.shared_page import watch_of
from studio.ui.state.values import CHANGED, ValueTree
from studio.ui.state.watch import words
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


@pytest.fixture
def told(run: FakeRun) -> FakeRun:
    """Run 13 with what its nodes wrote."""
    paused(run)
    history = StateHistory({"sources": 0, "approved": False, "rounds": 0})
    history.write("plan.topics", Written(1, 1, "planner", ["market", "tech"]))
    history.write("approved", Written(2, 2, "planner", True))
    history.write("plan.topics", Written(2, 2, "planner", ["market", "tech", "policy"]))
    history.write("sources", Written(3, 3, "market", 9))
    history.write("sources", Written(3, 3, "tech", 14))
    run.state_history = history
    return run


def rows(tree: ValueTree) -> dict[str, tuple[str, bool]]:
    model = tree.rows
    return {
        model.item(r).text(): (model.item(r, 1).text(), model.item(r).data(CHANGED)) for r in range(model.rowCount())
    }


def column(model: Any, number: int) -> list[str]:
    return [model.item(row, number).text() for row in range(model.rowCount())]


def test_changes_of_the_last_superstep_are_marked_and_folds_stay(
    show: Show, workspace: Workspace, told: FakeRun, qtbot: QtBot
) -> None:
    panel = show(StatePanel)
    tree = panel.shared.tree
    assert rows(tree) == {
        "plan.topics": ("3 items", False),
        "sources": ("14", True),
        "approved": ("true", False),
        "rounds": ("0", False),
    }
    tree.expand(tree.rows.index(0, 0))
    told.shared_state["rounds"] = 1
    told.tell(shared_state=True)
    qtbot.waitUntil(lambda: rows(tree)["rounds"] == ("1", True))
    assert tree.isExpanded(tree.rows.index(0, 0))
    told.shared_state.clear()
    panel.refresh()
    assert panel.shared.currentIndex() == 0


def test_an_earlier_moment(show: Show, workspace: Workspace, told: FakeRun) -> None:
    panel = show(StatePanel)
    box = panel.moment
    assert [box.itemText(i) for i in range(box.count())] == [
        "Now", "After superstep 3", "After superstep 2", "After superstep 1", "Before superstep 1",
    ]  # fmt: skip
    box.setCurrentIndex(3)
    box.activated.emit(3)
    assert rows(panel.shared.tree) == {
        "sources": ("0", False),
        "approved": ("false", False),
        "rounds": ("0", False),
        "plan.topics": ("2 items", True),
    }


def test_the_history_of_a_key(show: Show, workspace: Workspace, told: FakeRun, qtbot: QtBot) -> None:
    panel = show(StatePanel)
    tree, history = panel.shared.tree, panel.shared.history
    tree.setCurrentIndex(tree.rows.index(1, 0))
    assert history.title.text == "History of sources"
    assert column(history.rows, 0) == ["3", "3", "start"]
    assert column(history.rows, 1) == ["Tech research", "Market research", "as declared"]
    assert column(history.rows, 2) == ["14", "9", "0"]
    tree.setCurrentIndex(tree.rows.index(0, 0))
    assert history.whole.toPlainText() == '[\n  "market",\n  "tech",\n  "policy"\n]'
    history.list.setCurrentIndex(history.rows.index(1, 0))
    assert history.whole.toPlainText() == '[\n  "market",\n  "tech"\n]'
    told.state_history.replace(3, 3, {**told.shared_state, "rounds": 7})
    told.shared_state["rounds"] = 7
    panel.refresh()
    tree.setCurrentIndex(tree.rows.index(3, 0))
    assert column(history.rows, 1) == ["by hand", "as declared"]
    tree.setFocus()
    qtbot.keyClick(tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "7"


def test_difference_of_any_two_supersteps(show: Show, workspace: Workspace, told: FakeRun) -> None:
    panel = show(StatePanel)
    panel.show_view("difference")
    page = panel.difference
    assert (page.one.currentText(), page.other.currentText()) == ("After superstep 2", "Now")
    assert [column(page.rows, c) for c in range(3)] == [["sources"], ["0"], ["14"]]
    page.compare(0, 2)
    assert [column(page.rows, c) for c in range(3)] == [
        ["approved", "plan.topics"], ["false", "–"], ["true", "3 items"],
    ]  # fmt: skip
    assert page.count.text() == "2 values differ"
    page.table.setCurrentIndex(page.rows.index(1, 0))
    assert page.after.toPlainText().splitlines()[1] == '  "market",'
    page.compare(1, 2)
    assert column(page.rows, 0) == ["approved", "plan.topics › 2"]
    page.compare(2, 2)
    assert page._stack.currentIndex() == 1


def test_what_nodes_remember(
    show: Show, workspace: Workspace, told: FakeRun, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    talk = [user("Two-page brief"), assistant("Three topics.", "Planner")]
    saved = {"cache": (user("next"),), "session": {"id": "s1", "messages": talk, "state": {"round": 2}}}
    inner = Details((Waiting("q3", "scorer", "", "6"),), (), (), {"rounds": 2}, (), Weight(0, 0), "", "")
    details = Details(
        (),
        (Waiting("q1", "market", "join", "Prices fell"), Waiting("q2", "tech", "join", "Iron-air")),
        (Waiting("r1", "planner", "", "Approve the plan?"),),
        {},
        (
            Memory("planner", tuple(talk), ("cache", "session"), (), saved),
            Memory("writer", saved={"sub_workflow": object()}, inside=inner),
            Memory("publisher", saved={"cache": (user("one"),)}),
            Memory("frame", saved={"cache": (user("other"),)}),
        ),
        Weight(10, 20),
        "sig",
        "",
    )
    known: dict[str, Details] = {}
    asked: list[str] = []

    def look(checkpoint: str) -> Details | None:
        asked.append(checkpoint)
        return known.get(checkpoint)

    monkeypatch.setattr(told, "details", look)
    workspace.document.execute(rename(workspace.document.workflow, "frame", "Publisher"), "Rename")
    panel = show(StatePanel)
    panel.show_view("nodes")
    assert asked == ["m3"]  # where the run stands
    assert panel.nodes.currentIndex() == 0
    known["m3"] = details
    told.tell(checkpoints=True)
    qtbot.waitUntil(lambda: panel.nodes.currentIndex() == 1)
    model = panel.nodes.tree.rows
    planner = model.item(0)
    assert column(model, 0) == ["Planner", "Writer", "Publisher (publisher)", "Publisher (frame)", "Join"]
    inside = [model.item(1).child(i) for i in range(2)]
    assert [(part.text(), part.child(0).text()) for part in inside] == [
        ("Shared state inside", "rounds"), ("Queued inside", "0"),
    ]  # fmt: skip
    assert [planner.child(i).text() for i in range(planner.rowCount())] == [
        "Conversation", "Cache: messages for the next turn", "Session", "Pending request",
    ]  # fmt: skip
    assert [planner.child(0).child(i).text() for i in range(2)] == ["0 user", "1 assistant"]
    assert planner.child(0).child(1, 1).text() == "Three topics."
    join = model.item(4).child(0)
    assert (join.text(), join.rowCount()) == ("Join buffer", 2)
    panel.nodes.tree.setCurrentIndex(planner.child(0).child(1).index())
    assert panel.nodes.text.toPlainText() == "Three topics."
    panel.moment.choose(1)
    panel.refresh()
    assert asked[-1] == "m1"
    panel.moment.choose(NOW)


def test_watches_are_added_changed_and_taken_away(
    show: Show, workspace: Workspace, told: FakeRun, qtbot: QtBot
) -> None:
    panel = show(DebugPanel, 260, 600)
    watch = panel.watch
    qtbot.mouseClick(watch.add_button, Qt.MouseButton.LeftButton)
    qtbot.keyClicks(watch.field, "sources")
    qtbot.keyClick(watch.field, Qt.Key.Key_Return)
    told.setup.watch("len(join.in)")
    told.setup.watch("writer.foo + 1")
    assert watch.field.isHidden()
    assert watch.when.text() == "after superstep 3"
    assert [(row.expression, words(row)) for row in watch.model.rows] == [
        ("sources", "14 was 0"),
        ("len(join.in)", "3"),
        ("writer.foo + 1", "It gives no value: only numbers can be calculated with"),
    ]
    watch.list.setCurrentIndex(watch.model.index(0))
    qtbot.keyClick(watch.list, Qt.Key.Key_Return)
    qtbot.keyClicks(watch.field, "sources * 2")
    qtbot.keyClick(watch.field, Qt.Key.Key_Return)
    assert told.setup.watches == ("sources * 2", "len(join.in)", "writer.foo + 1")
    told.shared_state["sources"] = 20
    told.tell(shared_state=True)
    qtbot.waitUntil(lambda: words(watch.model.rows[0]) == "40 was 0")
    watch.list.setCurrentIndex(watch.model.index(2))
    qtbot.keyClick(watch.list, Qt.Key.Key_Delete)
    assert told.setup.watches == ("sources * 2", "len(join.in)")
    qtbot.keyClick(watch.list, Qt.Key.Key_F2)
    qtbot.keyClick(watch.field, Qt.Key.Key_Escape)
    assert watch.field.isHidden()


def test_a_key_becomes_an_expression() -> None:
    assert [watch_of(key) for key in ("sources", "plan.topics", "two words")] == [
        "sources", "plan.topics", "state['two words']",
    ]  # fmt: skip
