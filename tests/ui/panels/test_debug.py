"""Breakpoints and queued messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.debugger.breakpoints import Breakpoint
from studio.debugger.forks import QueueEdits
from studio.debugger.overrides import Mock
from studio.debugger.states import RunState
from studio.document.conditions import Condition, Rule
from studio.document.edits import ReplaceAll, SetFields
from studio.document.model import DirectEdge, FanOutEdge, FunctionNode, SubWorkflowNode, Workflow
from studio.files import write_workflow
from studio.ui.debug import DebugPanel
from studio.ui.debug.breakpoint_dialog import BreakpointDialog
from studio.ui.debug.places import linked_workflows, place_name, places
from studio.ui.debug.value_dialog import ValueDialog, not_an_object
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.sources import target_names
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
    assert run.breakpoints == {"join", "publisher"}
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


# ----------------------------------------------------------------------------------- making and changing breakpoints


def dialog_of(panel: DebugPanel, qtbot: QtBot) -> BreakpointDialog:
    found = [w for w in QApplication.topLevelWidgets() if isinstance(w, BreakpointDialog) and w.isVisible()]
    assert len(found) == 1
    return found[0]


def test_a_condition_may_be_a_python_predicate(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(DebugPanel, 216, 500)
    workspace.selection.select(("writer",))
    panel.add_button.click()
    dialog = dialog_of(panel, qtbot)
    dialog.condition.kind.edited.emit("python")
    dialog.condition.body.setFocus()
    qtbot.keyClicks(dialog.condition.body, "len(text) > 400")
    dialog.condition.body.clearFocus()
    qtbot.waitUntil(lambda: dialog.breakpoint.condition is not None and bool(dialog.breakpoint.condition.body))
    dialog.save.click()
    (made,) = run.setup.breakpoints
    assert made.condition is not None
    assert (made.condition.kind, made.condition.body) == ("python", "len(text) > 400")


def test_a_breakpoint_is_made_in_the_dialog(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(DebugPanel, 216, 500)
    workspace.selection.select(("writer",))
    panel.add_button.click()
    dialog = dialog_of(panel, qtbot)
    assert (dialog.kind.currentData(), dialog.place.currentData()) == ("node", "writer")
    dialog.moments.keyPressEvent(QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier))
    dialog.from_hit.selectAll()
    qtbot.keyClicks(dialog.from_hit, "x")
    assert not dialog.save.isEnabled()
    dialog.from_hit.selectAll()
    qtbot.keyClicks(dialog.from_hit, "3")
    qtbot.keyClicks(dialog.log, "got {text}")
    dialog.save.click()
    (made,) = run.setup.breakpoints
    assert (made.kind, made.place, made.moment, made.from_hit, made.log) == ("node", "writer", "after", 3, "got {text}")
    assert [(r.name, r.note, r.look) for r in panel.breakpoint_model.rows] == [  # type: ignore[union-attr]
        ("Writer", "after · from hit 3 on · logs “got {text}”", "log")
    ]


def test_a_key_that_only_code_sets_is_offered_and_any_other_can_be_typed(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    """Nobody has to declare shared state to stop when it changes, and a server's tools are not in the document."""
    body = "ctx.set_state('rounds', 1)\nresult = data"
    workspace.document.execute(SetFields("nodes", "publisher", {"call": "", "body": body}), "Code")
    panel = show(DebugPanel, 216, 500)
    panel.add()
    dialog = dialog_of(panel, qtbot)
    dialog.kind.setCurrentIndex(dialog.kind.findData("state"))
    assert dialog.place.findData("rounds") > 0
    dialog.place.setCurrentIndex(dialog.place.findData("rounds"))
    assert dialog.breakpoint.place == "rounds"
    dialog.place.setFocus()
    dialog.place.lineEdit().selectAll()
    qtbot.keyClicks(dialog.place, "totals")
    assert (dialog.breakpoint.kind, dialog.breakpoint.place) == ("state", "totals")
    dialog.kind.setCurrentIndex(dialog.kind.findData("node"))
    assert not dialog.place.isEditable()
    dialog.kind.setCurrentIndex(dialog.kind.findData("tool"))
    assert (dialog.place.currentText(), dialog.breakpoint.place) == ("Every tool", "")
    dialog.place.lineEdit().selectAll()
    qtbot.keyClicks(dialog.place, "files_read")
    dialog.save.click()
    (made,) = run.setup.breakpoints
    assert (made.kind, made.place) == ("tool", "files_read")


def test_a_message_to_a_fan_out_goes_to_its_targets() -> None:
    names = (("a", "One"), ("b", "Two"), ("c", "Three"))
    fan = FanOutEdge(id="out", source="a", targets=("b", "c"))
    workflow = Workflow(nodes=tuple(FunctionNode(id=i, name=n) for i, n in names), edges=(fan,))
    assert target_names(workflow, None, ["out"]) == ["Two", "Three"]


def test_edges_of_workflows_inside_are_places_too_also_of_linked_files(tmp_path: Path) -> None:
    deepest = Workflow(nodes=(FunctionNode(id="z", name="Deep"),))
    write_workflow(deepest, tmp_path / "deep.workflow.json")
    inner = Workflow(
        nodes=(FunctionNode(id="x", name="First"), SubWorkflowNode(id="y", name="Second", path="deep.workflow.json")),
        edges=(DirectEdge(id="xy", source="x", target="y"),),
    )
    write_workflow(inner, tmp_path / "inner.workflow.json")
    outer = Workflow(
        nodes=(
            SubWorkflowNode(id="e", name="Embedded", embedded=inner),
            SubWorkflowNode(id="l", name="Linked", path="inner.workflow.json"),
            SubWorkflowNode(id="m", name="Missing", path="nowhere.workflow.json"),
            SubWorkflowNode(id="n", name="No path", path="no\0path"),
        )
    )
    linked = linked_workflows(outer, tmp_path)
    assert list(linked) == ["e/y", "l", "l/y"]
    assert places(outer, "edge", linked)[1:] == [
        ("e/xy", "Embedded › First → Second"), ("l/xy", "Linked › First → Second"),
    ]  # fmt: skip
    assert [place for place, _ in places(outer, "node", linked)[1:]] == [
        "e", "l", "m", "n", "e/x", "e/y", "l/x", "l/y", "e/y/z", "l/y/z",
    ]  # fmt: skip
    assert place_name(outer, Breakpoint("edge", "e/xy")) == "Embedded › First → Second"
    assert place_name(outer, Breakpoint("node", "l/x")) == "Linked › x"  # a list is not worth reading a file


def test_places_in_linked_files_come_when_they_are_read(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = Workflow(nodes=(FunctionNode(id="x", name="First"),))
    write_workflow(inner, tmp_path / "inner.workflow.json")
    linked = SubWorkflowNode(id="l", name="Linked", path="inner.workflow.json")
    monkeypatch.setattr(type(workspace.document), "folder", tmp_path)
    workspace.document.execute(ReplaceAll(Workflow(nodes=(linked,))), "Change")
    panel = show(DebugPanel, 216, 500)
    run.setup.put(Breakpoint("node", "l/x", id="inside"))
    panel.edit("inside")
    dialog = dialog_of(panel, qtbot)
    qtbot.waitUntil(lambda: dialog.place.currentText() == "Linked › First", timeout=20_000)
    assert (dialog.place.currentData(), dialog.place.count()) == ("l/x", 3)
    qtbot.waitUntil(lambda: panel.breakpoint_model.rows[0].name == "Linked › First", timeout=20_000)  # type: ignore[union-attr]
    dialog.reject()


def test_a_value_that_is_not_taken_stays_in_its_dialog(theme: Theme, qtbot: QtBot) -> None:
    given: list[object] = []
    dialog = ValueDialog(
        theme, "State", "", "Change", lambda value, _choice: given.append(value), as_json=True, wrong=not_an_object
    )
    qtbot.addWidget(dialog)
    dialog.open()
    for typed, told in (("[1]", "A JSON object is wanted"), ('{"a": 1', "This is not JSON yet")):
        dialog.box.setPlainText(typed)
        dialog.take.click()
        assert (dialog.isVisible(), dialog.problem.isVisible(), given) == (True, True, [])
        assert dialog.problem.text().startswith(told)
    dialog.box.setPlainText('{"a": 1}')
    assert not dialog.problem.isVisible()
    dialog.take.click()
    assert given == [{"a": 1}]


def test_a_budget_needs_a_limit(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(DebugPanel, 216, 500)
    panel.add()
    dialog = dialog_of(panel, qtbot)
    assert dialog.kind.currentData() == "error"
    dialog.kind.setCurrentIndex(dialog.kind.findData("tokens"))
    assert not dialog.save.isEnabled()
    for wrong in ("many", "1e999"):
        dialog.limit.selectAll()
        qtbot.keyClicks(dialog.limit, wrong)
        assert not dialog.save.isEnabled()
        dialog.log.edited.emit("said")
        dialog.from_hit.edited.emit("1")
        assert not dialog.save.isEnabled(), "another field does not make it a number"
    dialog.log.edited.emit("")
    dialog.limit.selectAll()
    qtbot.keyClicks(dialog.limit, "20000")
    dialog.save.click()
    (row,) = panel.breakpoint_model.rows
    said = "when the run has used more than 20,000 tokens"
    assert (row.name, row.note, row.look) == ("Budget: tokens", said, "budget")  # type: ignore[union-attr]


def test_a_breakpoint_is_changed_and_keeps_its_place_in_the_list(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(DebugPanel, 216, 500)
    panel.breakpoints.setCurrentIndex(panel.breakpoint_model.index(1))
    qtbot.keyClick(panel.breakpoints, Qt.Key.Key_F2)
    dialog = dialog_of(panel, qtbot)
    dialog.condition.edited.emit(Condition(rule=Rule(value="draft")))
    dialog.save.click()
    assert [b.id for b in run.setup.breakpoints] == ["join", "writer", "publisher"]
    row = panel.breakpoint_model.rows[1]
    assert row.note == "before · if contains “draft”"  # type: ignore[union-attr]


def test_all_are_switched_off_and_on_and_removed(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(DebugPanel, 216, 500)
    panel.all_button.click()
    assert run.breakpoints == frozenset()
    panel.all_button.click()
    assert run.breakpoints == {"join", "writer", "publisher"}
    panel._remove_all.click()
    assert len(run.setup.breakpoints) == 0
    assert panel._breakpoint_stack.currentIndex() == 1


def test_what_is_not_as_drawn_is_listed_and_taken_back(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    panel = show(DebugPanel, 216, 500)
    run.setup.pin("writer", "text", "run 4")
    run.setup.mute("market", on=True)
    run.setup.mock("web_search", Mock(error="down"))
    assert panel.setup_list.rows == [
        ("Writer", "pinned from run 4"),
        ("Market research", "muted, passes its input"),
        ("web_search", "fails with “down”"),
    ]
    for button in panel.setup_list.findChildren(Button):
        if button.accessibleName() == "Run Writer as drawn":
            button.click()
    assert [name for name, _what in panel.setup_list.rows] == ["Market research", "web_search"]


def test_a_changed_drawing_is_said_and_applied(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(DebugPanel, 216, 500)
    assert not panel.drawing_bar.isVisible()
    run.state, run.drawing_differs = RunState.PAUSED, ("Writer", "Planner")
    run.state_changed.emit()
    assert panel.drawing_bar.isVisible()
    panel.drawing_bar.apply.click()
    assert run.calls == [("apply_drawing",)]


def test_who_begins_anew_is_said_and_taken_back(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(DebugPanel, 216, 500)
    assert not panel.reset_bar.isVisible()
    run.state, run._edits = RunState.PAUSED, QueueEdits(resets={"writer": "conversation", "market": "node"})
    run.state_changed.emit()
    assert panel.reset_bar.isVisible()
    told = panel.reset_bar._text.plain
    assert told == "Writer begins a new conversation. Market research begins as new. The run goes on as a fork."
    run.reset = lambda node, what: run.calls.append(("reset", node, what))  # type: ignore[method-assign]
    panel.reset_bar.take_back.click()
    assert run.calls == [("reset", "writer", None), ("reset", "market", None)]
