"""Turn tokens on the canvas: the chip of the edge on which one waits, names of nodes that a run adds, the cards."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from studio.bridge.queued_views import queued_views
from studio.checkpoints import QueuedMessage
from studio.debugger.forks import QueueEdits
from studio.debugger.states import RunState
from studio.document.agent_options import RunnerAgent
from studio.document.conditions import Condition, Rule
from studio.document.lines import lines, name_of
from studio.document.model import (
    AgentNode,
    DirectEdge,
    Edge,
    FanInEdge,
    FanOutEdge,
    JoinNode,
    RunnerNode,
    SwitchCase,
    SwitchEdge,
    Workflow,
)
from studio.engine.values import TurnToken
from studio.ui.canvas.cards import subtitle_of
from studio.ui.canvas.chips import chip_specs
from studio.ui.canvas.edge_item import LineState
from studio.ui.canvas.run_marks import Lines, line_states, next_steps
from tests.ui.canvas.fake_run import FakeRun


def flow() -> Workflow:
    """A → B, B → (switch) C or A, A → (conditional) D, and a join of C and D."""
    good = Condition(rule=Rule(op="contains", value="good"))
    edges: tuple[Edge, ...] = (
        DirectEdge(id="a_b", source="a", target="b"),
        SwitchEdge(
            id="sw", name="Verdict", source="b", cases=(SwitchCase(id="k", condition=good, target="c"),), default="a"
        ),
        DirectEdge(id="a_d", source="a", target="d", condition=good),
        FanInEdge(id="fi", sources=("c", "d"), target="j"),
    )
    agents = tuple(AgentNode(id=i, name=i.upper(), host="turn_token") for i in "abcd")
    return Workflow(start="a", nodes=(*agents, JoinNode(id="j", name="J")), edges=edges)


def waiting(workflow: Workflow, *messages: QueuedMessage) -> FakeRun:
    run = FakeRun()
    run.state = RunState.PAUSED
    run.queued = queued_views(messages, workflow, QueueEdits())
    return run


def message(source: str, data: object, target: str | None = None, number: int = 1) -> QueuedMessage:
    return QueuedMessage(f"m{number}", source, target, data)


def test_a_token_is_a_chip_on_its_edge(qapp: QApplication) -> None:
    workflow = flow()
    run = waiting(workflow, message("a", []), message("a", TurnToken(True), number=2))
    states = line_states(Lines(lines(workflow)), run, {})
    assert (states["a_b"].carrying, states["a_b"].token) == (2, True)
    assert (states["a_d"].carrying, states["a_d"].token) == (2, True)
    assert run.queued[1].type_name == "turn_token"
    assert run.queued[1].text == "turn token"


@pytest.mark.parametrize(("count", "text"), [(1, "token"), (3, "3 · token")])
def test_what_the_chip_says(qapp: QApplication, count: int, text: str) -> None:
    line = next(found for found in lines(flow()) if found.id == "a_b")
    edge: Any = SimpleNamespace(line=line, state=LineState(count, token=True))
    spec = chip_specs({"a_b": edge}, {})["a_b", True]
    assert (spec.text, spec.icon) == (text, "turn-token")
    edge.state = LineState(count)
    assert chip_specs({"a_b": edge}, {})["a_b", True].icon == "message"


def test_a_turn_behind_its_router_waits_on_the_line_that_was_chosen(qapp: QApplication) -> None:
    workflow = flow()
    states = line_states(Lines(lines(workflow)), waiting(workflow, message("sw", TurnToken(True), "c")), {})
    assert {i for i, s in states.items() if s.token} == {"k"}
    states = line_states(Lines(lines(workflow)), waiting(workflow, message("a_d", TurnToken(True), "d")), {})
    assert {i for i, s in states.items() if s.token} == {"a_d"}


def test_a_collected_turn_waits_on_the_leg_of_the_join(qapp: QApplication) -> None:
    workflow = flow()
    for source in ("d", "fi:to:d"):
        states = line_states(Lines(lines(workflow)), waiting(workflow, message(source, [])), {})
        assert {i for i, s in states.items() if s.carrying} == {"fi:to:d"}


def test_what_the_start_sends_is_for_the_start_node(qapp: QApplication) -> None:
    workflow = flow()
    run = waiting(workflow, message("chat_start", TurnToken(True)))
    run.next_superstep = 2
    assert run.queued[0].target == "a"
    assert set(next_steps(Lines(lines(workflow)), run)) == {"a"}


def test_in_the_middle_of_a_superstep_only_what_waits_is_next(
    qapp: QApplication, monkeypatch: pytest.MonkeyPatch
) -> None:
    workflow = flow()
    run = waiting(workflow, message("chat_start", TurnToken(True)))
    monkeypatch.setattr(FakeRun, "held_nodes", ("c", "d"))
    run.next_superstep = 3
    assert next_steps(Lines(lines(workflow)), run) == {"c": "next: superstep 3", "d": "next: superstep 3"}


def test_nodes_that_a_run_adds_have_names() -> None:
    workflow = flow()
    names = {i: name_of(workflow, i) for i in ("chat_start", "a_d", "fi:to:c", "sw", "a_b", "unknown")}
    assert names == {
        "chat_start": "Chat start",
        "a_d": "A → D",
        "fi:to:c": "Turn of C",
        "sw": "Verdict",
        "a_b": "a_b",
        "unknown": "unknown",
    }


def test_cards_say_the_host_and_the_agents_of_a_runner() -> None:
    workflow = flow()
    assert subtitle_of(workflow, workflow.nodes[0]) == "default model · turn token"
    agents = (RunnerAgent(id="x", name="Front"), RunnerAgent(id="y", name="Billing"))
    assert subtitle_of(workflow, RunnerNode(id="r", name="R", agents=agents)) == "Front · Billing"
    assert subtitle_of(workflow, RunnerNode(id="r", name="R")) == "no agent yet"


def test_a_fan_out_behind_a_router(qapp: QApplication) -> None:
    good = Condition(rule=Rule(op="contains", value="good"))
    edge = FanOutEdge(id="fo", source="a", targets=("b", "c"), selection={"c": good})
    workflow = flow().model_copy(update={"edges": (edge,)})
    states = line_states(Lines(lines(workflow)), waiting(workflow, message("fo", TurnToken(), "c")), {})
    assert {i for i, s in states.items() if s.token} == {"fo:to:c"}
