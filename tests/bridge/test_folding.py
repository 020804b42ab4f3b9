"""Events become views: sub-workflows, usage, and a bounded list of events."""

from __future__ import annotations

import pytest
from studio.agents.messages import AgentUpdate, Text, ToolCall, Usage
from studio.bridge.folding import RunViews
from studio.bridge.kept_events import KeptEvents
from studio.bridge.refusals import Refusals
from studio.bridge.run_views import STOPPED
from studio.bridge.shown_run import usage_since
from studio.document.conditions import Condition, Rule
from studio.document.model import DirectEdge, FunctionNode, SwitchCase, SwitchEdge, Workflow
from studio.engine import events as ev


def test_agents_inside_a_sub_workflow_have_lanes_and_count() -> None:
    views = RunViews()
    for event in (
        ev.SuperstepStarted(0.0, 3),
        ev.NodeStarted(0.1, 3, "check", "i1", (), "x"),
        ev.SuperstepStarted(0.1, 1, ("check",)),
        ev.NodeStarted(0.2, 1, "writer", "i2", (), "x", ("check",)),
        ev.TokensArrived(0.3, "writer", "i2", "a text", "text", ("check",)),
        ev.ModelCallFinished(0.4, "writer", "i2", "c1", Usage(10, 5), "stop", "", ("check",)),
    ):
        views.fold(event)
    [row] = views.supersteps
    assert row.invocations == ["i1", "i2"]
    inner = views.invocations["i2"]
    assert (inner.superstep, inner.inside, [p.text for p in inner.pieces]) == (3, ("check",), ["a text"])
    assert set(views.nodes) == {"check"}
    assert views.nodes["check"].usage == views.usage == Usage(10, 5)


def test_calls_that_were_cancelled_with_their_run_were_stopped_and_did_not_fail() -> None:
    views = RunViews()
    views.fold(ev.NodeStarted(0.1, 1, "writer", "i1", (), "x"))
    for call, error in (("c1", "CancelledError"), ("c2", "TimeoutError")):
        views.fold(ev.ToolStarted(0.2, "writer", "i1", ToolCall(call, "look", "{}")))
        views.fold(ev.ToolFinished(0.3, "writer", "i1", call, None, error))
    for call, error in (("m1", "cancelled"), ("m2", "no answer")):
        views.fold(ev.ModelCallFinished(0.4, "writer", "i1", call, None, None, error))
    told = [(p.kind, p.text) for p in views.invocations["i1"].pieces if p.kind != "tool"]
    assert told == [("error", STOPPED), ("error", "TimeoutError"), ("note", "cancelled"), ("error", "no answer")]


def test_the_oldest_events_are_forgotten() -> None:
    events = KeptEvents(limit=20)
    for number in range(100):
        events.append(ev.RunWarned(float(number), ""))
    assert events.gone + len(events) == 100
    assert 20 <= len(events) <= 22
    assert events[0].t == events.gone
    assert events[-1].t == 99


def test_usage_of_a_branch_is_what_came_after_its_fork() -> None:
    assert usage_since(None, Usage(3, 1)) == Usage(3, 1)
    assert usage_since(Usage(3, 1), Usage(3, 1)) is None
    assert usage_since(Usage(3, 1), Usage(10, None, partial=True)) == Usage(7, None, partial=True)


def test_a_refused_edge_says_what_was_measured() -> None:
    enough = Condition(name="enough", rule=Rule(op="compares", path="value.score", compare=">=", value=8))
    polite = Condition(name="polite", rule=Rule(op="contains", path="text", value="please"))
    workflow = Workflow(
        edges=(
            DirectEdge(id="direct", source="a", target="b", condition=enough),
            SwitchEdge(
                id="switch",
                name="Switch",
                source="a",
                cases=(
                    SwitchCase(id="first", condition=polite, target="c"),
                    SwitchCase(id="second", condition=enough, target="d"),
                ),
                default="e",
            ),
        ),
    )
    views = RunViews(refusals=Refusals(workflow))
    views.fold(ev.MessageQueued(0.0, 1, "m1", "a", None, {"score": 6}))
    for edge, target, reason in (
        ("direct", "b", "condition"),
        ("switch:default", "c", "selection"),
        ("switch:default", "d", "selection"),
    ):
        views.fold(ev.MessageRouted(0.1, 2, "m1", edge, "a", target, False, reason))
    assert [words for _, _, _, words in views.messages[0].routes] == [
        "score 6 is not ≥ 8", "text does not contain “please”", "score 6 is not ≥ 8",
    ]  # fmt: skip
    views.fold(ev.MessageQueued(0.0, 1, "m2", "a", None, {"score": 9, "said": "please"}))
    views.fold(ev.MessageRouted(0.1, 2, "m2", "first", "a", "d", False, "selection"))
    assert views.messages[1].routes[0][3] == "an earlier case was taken"


def test_other_refusals_say_what_was_measured_too() -> None:
    workflow = Workflow(
        nodes=(FunctionNode(id="b", name="Publish", accepts="Review"), FunctionNode(id="c", name="Any")),
        edges=(
            DirectEdge(
                id="asked", source="a", target="c",
                condition=Condition(kind="expression", name="x", expression="value.score >= 8 and state.rounds < 2"),
            ),
            DirectEdge(
                id="coded", source="a", target="c", condition=Condition(kind="python", name="y", body="return False")
            ),
            DirectEdge(id="typed", source="a", target="b"),
        ),
    )  # fmt: skip
    views = RunViews({"rounds": 1}, refusals=Refusals(workflow))
    views.fold(ev.MessageQueued(0.0, 1, "m1", "a", None, {"score": 6}))
    for edge, target, reason in (("asked", "c", "condition"), ("coded", "c", "condition"), ("typed", "b", "type")):
        views.fold(ev.MessageRouted(0.1, 2, "m1", edge, "a", target, False, reason))
    views.fold(ev.MessageRouted(0.1, 2, "m1", "typed", "a", "gone", False, "type"))
    assert [words for _, _, _, words in views.messages[0].routes] == [
        "value.score 6, state.rounds 1: not value.score >= 8 and state.rounds < 2",
        "false: python: return False",
        "Publish takes Review, this is an object",
        "type",
    ]


def test_outputs_of_one_superstep_stand_in_delivery_order() -> None:
    views = RunViews()
    for event in (
        ev.SuperstepStarted(0.0, 1),
        ev.OutputYielded(0.1, 1, "begin", "i0", "begin", order=(3, 0, 0)),
        ev.SuperstepStarted(0.2, 2),
        ev.OutputYielded(0.3, 2, "right", "i2", "right", order=(1, 0, 1)),
        ev.OutputYielded(0.4, 2, "left", "i1", "left", order=(1, 0, 0)),
        ev.OutputYielded(0.5, 2, "left", "i1", "left again", order=(1, 0, 0)),
    ):
        views.fold(event)
    assert [o.text for o in views.outputs] == ["begin", "left", "left again", "right"]


def test_chunks_of_a_streamed_output_are_joined_when_read() -> None:
    views = RunViews()
    views.fold(ev.OutputYielded(0.0, 1, "writer", "i1", AgentUpdate((Text("one "),), author="Writer")))
    for word in ("two ", "three"):
        views.fold(ev.OutputYielded(0.0, 1, "writer", "i1", AgentUpdate((Text(word),), author="Writer")))
    [output] = views.outputs
    assert output.data == AgentUpdate((Text("one two three"),), author="Writer")
    assert output.text == "one two three"


def test_a_stream_that_only_asked_for_tools_is_no_result_yet() -> None:
    views = RunViews()
    call = AgentUpdate((ToolCall("c1", "look", "{}"),), author="Writer")
    views.fold(ev.OutputYielded(0.0, 1, "writer", "i1", call))
    views.fold(ev.OutputYielded(0.0, 1, "writer", "i1", call))
    [output] = views.outputs
    assert not output.final
    views.fold(ev.OutputYielded(0.1, 1, "writer", "i1", AgentUpdate((Text("done"),), author="Writer")))
    assert (output.final, output.text) == (True, "done")
    views.fold(ev.OutputYielded(0.2, 1, "writer", "i2", ""))
    assert views.outputs[-1].final, "an empty text that a node gave is one"


def test_what_a_failed_superstep_gave_is_no_result() -> None:
    views = RunViews()
    for event in (
        ev.SuperstepStarted(0.0, 1),
        ev.NodeStarted(0.1, 1, "a", "i1", (), "x"),
        ev.OutputYielded(0.2, 1, "a", "i1", "whole"),
        ev.SuperstepStarted(1.0, 2),
        ev.NodeStarted(1.1, 2, "b", "i2", (), "x"),
        ev.OutputYielded(1.2, 2, "b", "i2", AgentUpdate((Text("half an"),))),
        ev.ModelCallFinished(1.3, "b", "i2", "c1", None, "", "The answer was cut off."),
        ev.NodeFailed(1.4, 2, "b", "i2", "ProviderError", "The answer was cut off."),
        ev.OutputYielded(1.5, 2, "c", "i3", "beside it"),
    ):
        views.fold(event)
    assert [(o.text, o.final) for o in views.outputs] == [("whole", True), ("half an", False), ("beside it", False)]
    assert [p.text for p in views.invocations["i2"].pieces if p.kind == "error"] == ["The answer was cut off."]


def test_a_node_that_asked_waits_until_it_is_answered() -> None:
    views = RunViews()
    for event in (
        ev.SuperstepStarted(0.0, 1),
        ev.NodeStarted(0.1, 1, "ask", "i1", (), "x"),
        ev.RequestRaised(0.2, "r1", "ask", "Really?", "str"),
        ev.NodeFinished(0.3, 1, "ask", "i1"),
        ev.SuperstepFinished(0.4, 1),
    ):
        views.fold(event)
    assert views.invocations["i1"].status == "waiting"
    views.fold(ev.RequestAnswered(5.0, "r1", "ask", "yes"))
    assert views.invocations["i1"].status == "done"


def node_event(kind: str, data: object, invocation: str = "i1") -> ev.NodeEvent:
    return ev.NodeEvent(0.2, 2, "a", invocation, kind, data)


def test_what_only_collects_for_a_turn_is_one_row_with_the_turn() -> None:
    views = RunViews()
    views.fold(ev.SuperstepStarted(0.0, 2))
    for number in (1, 2):
        views.fold(ev.NodeStarted(0.1, 2, "a", f"i{number}", (), []))
        views.fold(node_event("collected", {"messages": number}, f"i{number}"))
        views.fold(ev.NodeFinished(0.2, 2, "a", f"i{number}", ()))
    [row] = views.supersteps
    assert row.invocations == ["i2"]
    assert views.nodes["a"].invocations == 0
    assert views.nodes["a"].status == "idle"
    assert [p.text for p in views.invocations["i2"].pieces] == [
        "Collected 2 messages; the turn token is still to come."
    ]
    views.fold(ev.NodeStarted(0.3, 2, "a", "i3", (), None))
    assert row.invocations == ["i3"]
    assert views.nodes["a"].invocations == 1


@pytest.mark.parametrize(
    ("kind", "data", "words"),
    [
        ("HandedOff", {"source": "A", "target": "B", "reason": "money"}, "A handed over to B: money"),
        ("HandedOff", {"source": "A", "target": "B", "reason": ""}, "A handed over to B."),
        (
            "RolledBack",
            {"removed_count": 1, "tools_executed": ["pay"]},
            "The turn is undone, 1 message taken back. What pay did outside is not undone.",
        ),
        (
            "limit_reached",
            {"limit": "max_handoffs_per_turn", "detail": "5 hand-offs"},
            "The limit max handoffs per turn is reached: 5 hand-offs.",
        ),
        ("LimitReached", {"kind": "handoffs"}, ""),
        ("MessageAdded", {}, ""),
    ],
)
def test_events_of_a_runner_are_notes_in_its_lane(kind: str, data: object, words: str) -> None:
    views = RunViews()
    views.fold(ev.SuperstepStarted(0.0, 2))
    views.fold(ev.NodeStarted(0.1, 2, "a", "i1", (), "x"))
    views.fold(node_event(kind, data))
    assert [p.text for p in views.invocations["i1"].pieces] == ([words] if words else [])
