"""The run panel, messages, shared state and events."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.agents.messages import AgentUpdate, ToolCall, assistant
from studio.bridge.folding import RunViews
from studio.bridge.kept_events import KeptEvents
from studio.bridge.run_views import (
    AnswerView,
    CheckpointView,
    InvocationView,
    MessageView,
    OutputView,
    StreamPiece,
    SuperstepView,
)
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.edits import Insert, SetFields
from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.engine import events as ev
from studio.ui.run import EventsPanel, MessagesPanel, RunPanel
from studio.ui.run.message_model import why
from studio.ui.run.rows import rows
from studio.ui.status.totals import RunTotals
from studio.ui.theme import Theme
from studio.ui.toolbar.state_chip import StateChip
from studio.ui.widgets.sources import source_name
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]


def test_rows_of_the_paused_run(workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    made = rows(workspace, 39.1)
    assert [(r.kind, r.title, r.time) for r in made] == [
        ("superstep", "Planner", "4.1 s"),
        ("answer", "you approved submit_plan", "22 s"),
        ("superstep", "Planner", "3.2 s"),
        ("superstep", "Research ×3", "9.8 s"),
        ("next", "Join", "next · 3 messages"),
    ]
    left, width, token = made[3].bars[0]
    assert (round(left, 2), round(width, 2), token) == (0.43, 0.47, "done")
    workspace.document.execute(SetFields("nodes", "planner", {"name": "line\nbreak"}), "Name")
    assert rows(workspace, 39.1)[0].title == "line break"


def test_what_is_next_in_the_middle_of_a_superstep_is_what_waits(
    workspace: Workspace, run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused(run)
    monkeypatch.setattr(FakeRun, "held_nodes", ("writer",))
    assert [(r.title, r.time) for r in rows(workspace, 39.1)][-1] == ("Writer", "next · 3 messages")


def test_a_breakpoint_inside_a_superstep_is_one_row(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    run.supersteps.append(SuperstepView(4, 39.1, answers=[AnswerView("r1", "planner", "approved", "submit_plan")]))
    assert [(r.kind, r.number) for r in rows(workspace, 40.0)][-3:] == [("superstep", 3), ("answer", 4), ("next", 4)]
    assert show(RunPanel).shown_superstep == 3


def test_a_pause_at_a_breakpoint_is_no_working_time(workspace: Workspace, run: FakeRun) -> None:
    run.supersteps.append(SuperstepView(1, 0.0, 20.2, ["i1", "i2"]))
    run.invocations["i1"] = InvocationView("i1", "market", 1, 0.0, 1.0, "done")
    run.invocations["i2"] = InvocationView("i2", "tech", 1, 19.0, 20.2, "done")
    run.supersteps.append(SuperstepView(2, 21.0, 41.2, ["i3"]))
    run.invocations["i3"] = InvocationView("i3", "policy", 2, 40.0, 41.2, "done")
    assert [r.time for r in rows(workspace, 41.2)] == ["2.2 s", "1.2 s"]
    assert run.seconds == pytest.approx(3.4)


def test_empty_then_first_superstep(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RunPanel)
    assert panel._stack.currentIndex() == 0
    run.state = RunState.RUNNING
    run.supersteps.append(SuperstepView(1, 0.0, invocations=["i1"]))
    run.invocations["i1"] = InvocationView("i1", "writer", 1, 0.0)
    run.tell(supersteps=frozenset({1}), invocations=frozenset({"i1"}))
    assert panel.shown_superstep == 1
    assert list(panel.lanes.lanes) == ["i1"]
    run.stream("i1", "Hello")
    lane = panel.lanes.lanes["i1"].view
    qtbot.waitUntil(lambda: [b.text for b in lane.text.blocks] == ["Hello"])
    panel.set_workspace(None)


class Session:
    """What the model asks of a session to tell the time."""

    held = ()

    def __init__(self) -> None:
        self.state, self.time = RunState.RUNNING, 3.0

    def clock(self) -> float:
        return self.time


@pytest.fixture
def session(run: FakeRun) -> Iterator[Session]:
    made = Session()
    run._session = made  # type: ignore[assignment]
    yield made
    run._session = None


def test_the_time_goes_on_while_a_node_says_nothing(
    show: Show, theme: Theme, workspace: Workspace, run: FakeRun, session: Session, qtbot: QtBot
) -> None:
    run.state = RunState.RUNNING
    run.supersteps.append(SuperstepView(1, 1.0, invocations=["i1"]))
    run.invocations["i1"] = InvocationView("i1", "publisher", 1, 1.0)
    panel, totals = show(RunPanel), RunTotals(theme)
    qtbot.addWidget(totals)
    totals.set_workspace(workspace)
    header = panel.lanes.lanes["i1"].header
    session.time = 9.0
    qtbot.waitUntil(lambda: header.accessibleName().endswith("8.0 s"))
    qtbot.waitUntil(lambda: totals._time.text == "8.0 s")
    assert panel.list.model.rows[0].time == "8.0 s"
    session.state = RunState.PAUSED
    assert run.now == 0.0, "as far as its events tell: this one has none"
    run.state = RunState.PAUSED
    totals.set_workspace(None)
    panel.set_workspace(None)


def test_earlier_runs_are_mentioned_where_none_is_shown(show: Show, run: FakeRun) -> None:
    panel = show(RunPanel)
    assert panel._empty.label.text() == "No run yet. Press F5 to run with the input above."
    run.checkpoints.append(CheckpointView("m0", "main", None, "input", 0, 0.0))
    run.tell(checkpoints=True)
    assert panel._empty.label.text().startswith("Press F5 for a new run, or select a checkpoint")


def test_a_superstep_without_invocations_says_what_became_of_its_messages(workspace: Workspace, run: FakeRun) -> None:
    run.supersteps.append(SuperstepView(1, 0.0, 0.1))
    assert next(row.title for row in rows(workspace, 1.0)) == "no node took a message"


def test_lanes_of_a_superstep_appear_one_by_one_and_stay(show: Show, workspace: Workspace, run: FakeRun) -> None:
    panel = show(RunPanel)
    run.supersteps.append(SuperstepView(1, 0.0, invocations=["i1"]))
    run.invocations["i1"] = InvocationView("i1", "market", 1, 0.0)
    run.tell(supersteps=frozenset({1}))
    first = panel.lanes.lanes["i1"]
    run.supersteps[0].invocations.append("i2")
    run.invocations["i2"] = InvocationView("i2", "tech", 1, 0.0)
    run.tell(supersteps=frozenset({1}))
    assert list(panel.lanes.lanes) == ["i1", "i2"]
    assert panel.lanes.lanes["i1"] is first
    panel.set_workspace(None)


def test_a_new_run_shows_its_own_lanes_though_the_keys_repeat(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(RunPanel)
    panel.list.view.setCurrentIndex(panel.list.model.index(0))
    assert list(panel.lanes.lanes) == ["i1"]
    for part in (run.supersteps, run.invocations, run.queued, run.messages, run.nodes):
        part.clear()
    run.state = RunState.RUNNING
    run.tell(everything=True)
    assert panel.lanes.lanes == {}
    run.supersteps.append(SuperstepView(1, 0.0, invocations=["i1"]))
    run.invocations["i1"] = InvocationView("i1", "planner", 1, 0.0)
    run.tell(supersteps=frozenset({1}), invocations=frozenset({"i1"}))
    run.stream("i1", "New words")
    lane = panel.lanes.lanes["i1"].view
    qtbot.waitUntil(lambda: [b.text for b in lane.text.blocks] == ["New words"])
    again = run.invocations["i1"] = InvocationView("i1", "planner", 1, 0.0)
    run.tell(supersteps=frozenset({1}))
    assert panel.lanes.lanes["i1"].invocation is again, "a lane belongs to the invocation, not to its key"
    panel.set_workspace(None)


def test_many_lanes_are_made_a_few_a_turn(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RunPanel)
    names = [f"i{number}" for number in range(12)]
    run.invocations.update((name, InvocationView(name, "market", 1, 0.0)) for name in names)
    run.supersteps.append(SuperstepView(1, 0.0, invocations=names))
    run.tell(supersteps=frozenset({1}))
    assert list(panel.lanes.lanes) == names[:3]
    qtbot.waitUntil(lambda: list(panel.lanes.lanes) == names)
    panel.set_workspace(None)


def test_an_older_superstep_stays_shown(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(RunPanel)
    assert panel.shown_superstep == 3
    assert list(panel.lanes.lanes) == ["i3", "i4", "i5"]
    panel.list.view.setCurrentIndex(panel.list.model.index(0))
    assert panel.shown_superstep == 1
    run.supersteps.append(SuperstepView(4, 40.0, 41.0, []))
    run.tell(supersteps=frozenset({4}))
    assert panel.shown_superstep == 1
    panel.show_superstep(4)
    run.supersteps.append(SuperstepView(5, 41.0, 42.0, []))
    run.tell(supersteps=frozenset({5}))
    assert panel.shown_superstep == 5, "choosing the newest one follows again"


def test_the_focus_alone_chooses_no_superstep(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(RunPanel)
    panel.list.view.reset()  # as when other rows come for a new run
    panel.list.view.setFocus()
    QApplication.sendEvent(panel.list.view, QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    assert panel.shown_superstep == 3
    run.supersteps.append(SuperstepView(4, 40.0, 41.0, ["i5"]))
    run.tell(supersteps=frozenset({4}))
    assert panel.shown_superstep == 4, "the newest one is still followed"


def test_a_failed_node_comes_to_the_front_and_can_be_retried(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(RunPanel)
    assert not panel.failure.isVisible()
    run.outputs.append(OutputView("planner", 1, "A plan.", ""))
    run.tell(outputs=True)
    panel.show_superstep(0)
    run.invocations["i4"].status = "failed"
    run.state, run.sentence = RunState.FAILED, "Tech failed: the answer was cut off. Retry from the last checkpoint."
    run.state_changed.emit()
    assert panel.shown_superstep == 3
    assert panel._right.currentWidget() is panel.lanes
    assert panel.failure.isVisible()
    assert panel.failure.text.plain == run.sentence
    qtbot.mouseClick(panel.failure.retry, Qt.MouseButton.LeftButton)
    assert run.calls[-1] == ("retry",)
    run.state = RunState.RUNNING
    run.state_changed.emit()
    assert not panel.failure.isVisible()
    chip = StateChip(panel.theme)
    qtbot.addWidget(chip)
    chip.show_state(RunState.FAILED, run.sentence)
    assert (chip.shown, chip.toolTip()) == ("Tech failed", run.sentence)


def test_outputs_come_to_the_front_at_the_end(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(RunPanel)
    run.outputs.append(OutputView("publisher", 3, "The brief.", "The brief."))
    run.tell(outputs=True)
    assert panel.shown_superstep == 3
    run.state = RunState.COMPLETED
    run.state_changed.emit()
    assert panel.shown_superstep == 0
    assert panel._right.currentWidget() is panel.outputs
    qtbot.waitUntil(lambda: [card.box.value for card in panel.outputs._cards] == ["The brief."])


def test_cards_of_outputs_are_made_one_by_one_as_far_as_one_sees(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(RunPanel)
    run.outputs += [OutputView("publisher", 3, f"Line of {i}.\n" * 20, "") for i in range(100)]
    run.state = RunState.COMPLETED
    run.state_changed.emit()
    outputs = panel.outputs
    assert outputs._cards == []
    qtbot.waitUntil(lambda: len(outputs._cards) > 2 and not outputs._timer.isActive())
    made = len(outputs._cards)
    assert made < 20
    outputs.verticalScrollBar().setValue(outputs.verticalScrollBar().maximum())
    qtbot.waitUntil(lambda: len(outputs._cards) > made)


def test_a_stream_that_only_asked_for_a_tool_has_no_card(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    call = AgentUpdate((ToolCall("c1", "look", "{}"),), author="Writer")
    paused(run)
    run.outputs += [OutputView("writer", 1, "", call), OutputView("publisher", 3, "The brief.", "The brief.")]
    panel = show(RunPanel)
    panel.show_superstep(0)
    qtbot.waitUntil(lambda: bool(panel.outputs._cards))
    qtbot.waitUntil(lambda: not panel.outputs._timer.isActive())
    assert [card.view.node for card in panel.outputs._cards] == ["publisher"]


def test_an_output_that_comes_later_may_stand_earlier_and_one_that_is_streamed_grows(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    paused(run)
    panel = show(RunPanel)
    run.outputs.append(OutputView("publisher", 3, "second", "second"))
    panel.show_superstep(0)
    outputs = panel.outputs
    qtbot.waitUntil(lambda: len(outputs._cards) == 1)
    first = outputs._cards[0]
    run.outputs.insert(0, OutputView("writer", 3, "first", "first"))
    run.outputs[1].grow(" and more", None)
    run.tell(outputs=True)
    qtbot.waitUntil(lambda: len(outputs._cards) == 2)
    cards = [outputs.body.itemAt(i).widget() for i in range(2)]
    assert [card.box.value for card in cards] == ["first", "second and more"]
    assert cards[1] is first


def test_a_new_run_starts_afresh(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(RunPanel)
    old = panel.lanes.lanes["i3"]
    run.invocations["i3"] = InvocationView("i3", "writer", 3, 0.0, 1.0, "done", pieces=[StreamPiece("text", "Other")])
    run.tell(everything=True)
    assert panel.lanes.lanes["i3"] is not old
    assert panel.lanes.lanes["i3"].view.text.blocks[0].text == "Other"


def test_messages_are_appended_and_filtered(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(MessagesPanel)
    assert panel.count() == 5
    run.messages.append(MessageView("x", "writer", None, 4, "text", "Draft 1", "Draft 1"))
    run.tell(messages=True)
    assert panel.count() == 6
    qtbot.keyClicks(panel.search, "DRAFT")
    assert panel.filter.rowCount() == 1
    panel.search.setText("nothing like this")
    assert panel._stack.currentIndex() == 1
    qtbot.keyClick(panel.search, Qt.Key.Key_Escape)
    assert panel.filter.rowCount() == 6


def test_a_queued_message_opens_in_the_inspector(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(MessagesPanel)
    panel.table.setCurrentIndex(panel.filter.index(3, 0))
    assert workspace.selection.message == "q2"


def test_a_message_before_a_held_node_still_waits(
    show: Show, workspace: Workspace, run: FakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    paused(run)
    sent = next(m for m in run.messages if m.message == "q2")
    sent.status = "delivered"
    sent.routes = [("in", "join", False, "buffered"), ("in", "join", True, "")]
    panel = show(MessagesPanel)
    at = run.messages.index(sent)
    assert panel.model.text(sent, 5) == "delivered"
    monkeypatch.setattr(FakeRun, "held_nodes", ("join",))
    run.tell(queued=True)
    assert panel.model.text(sent, 5) == panel.filter.index(at, 5).data() == "queued"
    assert {told for _, _, told in why(workspace, sent)} == {"waits, as the run is held before it"}
    run.queued.clear()
    assert panel.model.text(sent, 5) == "delivered"


def test_events_are_listed_without_tokens(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    run.events = [ev.SuperstepStarted(0.0, 1), ev.TokensArrived(0.1, "writer", "i1", "Hello")]
    panel = show(EventsPanel)
    assert panel.model.rowCount() == 1
    run.events += [
        ev.NodeFailed(0.2, 1, "writer", "i1", "ValueError", "no number"),
        ev.NodeStarted(0.3, 2, "publisher", "i2", ("writer",), assistant("A draft.")),
        ev.OutputYielded(0.4, 2, "publisher", "i2", {"score": 8}),
    ]
    run.tell(events=3)
    qtbot.waitUntil(lambda: panel.model.rowCount() == 4)
    lines = [panel.model.data(panel.model.index(at)) for at in (2, 3)]
    assert lines == [
        "0.300 Node started Publisher from Writer · A draft.",
        '0.400 Output yielded Publisher {"score": 8}',
    ]
    panel.tokens.click()
    assert panel.model.rowCount() == 5
    panel.search.setText("no number")
    assert panel.model.rowCount() == 1
    assert "Writer" in panel.model.data(panel.model.index(0))


def test_rows_of_forgotten_events_go(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    run.events = run._views.events = KeptEvents(limit=10)
    for number in range(8):
        run.events.append(ev.RunWarned(float(number), f"warning {number}"))
    panel = show(EventsPanel)
    assert panel.model.rowCount() == 8
    for number in range(8, 30):
        run.events.append(ev.RunWarned(float(number), f"warning {number}"))
    run.tell(events=22)
    qtbot.waitUntil(lambda: panel.model.rowCount() == len(run.events))
    lines = [panel.model.data(panel.model.index(i)) for i in range(panel.model.rowCount())]
    assert lines[0].startswith(f"{run.events_gone}.000")
    assert lines[-1].endswith("warning 29")


def test_lanes_of_agents_inside_a_sub_workflow(show: Show, workspace: Workspace, run: FakeRun) -> None:
    inner = Workflow(name="Check", nodes=(AgentNode(id="inner", name="Fact checker"),))
    node = SubWorkflowNode(id="check", name="Check facts", embedded=inner)
    workspace.document.execute(Insert("nodes", node), "Add")
    panel = show(RunPanel)
    run.supersteps.append(SuperstepView(1, 0.0, invocations=["i1", "i2"]))
    run.invocations["i1"] = InvocationView("i1", "check", 1, 0.0)
    run.invocations["i2"] = InvocationView("i2", "inner", 1, 0.0, inside=("check",))
    run.tell(supersteps=frozenset({1}))
    assert [r.title for r in rows(workspace, 1.0)] == ["Check facts"]
    assert panel.lanes.lanes["i2"].header.accessibleName().startswith("Check facts › Fact checker,")


def test_a_failed_run_shows_what_failed(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(RunPanel)
    run.outputs.append(OutputView("planner", 1, "A plan.", "A plan."))
    run.state = RunState.FAILED
    run.state_changed.emit()
    assert panel.shown_superstep == 3
    run.state = RunState.COMPLETED
    run.state_changed.emit()
    assert panel.shown_superstep == 0


def test_the_input_of_a_run_is_no_answer(workspace: Workspace) -> None:
    workflow = workspace.document.workflow
    assert source_name(workflow, "internal:planner", "input") == "Input"
    assert source_name(workflow, "internal:planner", "answer") == "Answer"
    assert source_name(workflow, "planner") == "Planner"
    views = RunViews()
    views.fold(ev.MessageQueued(0.0, 0, "m1", "internal:planner", "planner", "Go", None, "input"))
    assert views.messages[0].purpose == "input"


def test_a_new_state_and_the_update_of_its_frame_show_all_once(
    show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = show(RunPanel)
    shown: list[int] = []
    monkeypatch.setattr(panel, "_show_list", lambda: shown.append(1))
    run.state = RunState.RUNNING
    run.supersteps.append(SuperstepView(1, 0.0, 1.0, ["i1"]))
    run.invocations["i1"] = InvocationView("i1", "writer", 1, 0.0, 1.0, "done")
    run.state_changed.emit()
    run.tell(supersteps=frozenset({1}), invocations=frozenset({"i1"}))
    assert shown == [1]
    run.supersteps.append(SuperstepView(2, 1.0))
    run.tell(supersteps=frozenset({2}))
    assert shown == [1, 1]
    qtbot.waitUntil(lambda: not panel._same_turn.isActive())
    run.tell(supersteps=frozenset({2}))
    assert shown == [1, 1, 1]
    panel.set_workspace(None)
