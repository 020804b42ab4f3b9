"""What would reach outside once more, and what may if nothing is recorded."""

from __future__ import annotations

from studio.debugger.effects import outside_effects, sentence
from studio.debugger.traces import NodeTrace, StepTrace
from studio.document.model import AgentNode, DirectEdge, FunctionNode, ToolDecl, Workflow

DRAWING = Workflow(
    start="writer",
    nodes=(
        AgentNode(id="writer", name="Writer", tools=("look_up", "send_mail")),
        FunctionNode(id="count", name="Count", body="result = 1"),
        FunctionNode(id="publish", name="Publish", body="result = 1", has_effects=True),
    ),
    edges=(
        DirectEdge(id="a", source="writer", target="count"),
        DirectEdge(id="b", source="count", target="publish"),
    ),
    tools=(ToolDecl(name="look_up"), ToolDecl(name="send_mail", has_effects=True)),
)


def step(*nodes: tuple[str, list[str]]) -> StepTrace:
    return StepTrace(1, [NodeTrace(node, "i", 1, tools=tools) for node, tools in nodes])


def test_only_what_was_called_and_has_effects_would_run_again() -> None:
    found = outside_effects(DRAWING, [step(("writer", ["look_up"])), step(("count", []))], ["writer"])
    assert (found, sentence(found)) == ((), "")
    found = outside_effects(
        DRAWING, [step(("writer", ["send_mail", "send_mail", "elsewhere"])), step(("publish", []))], []
    )
    assert sentence(found) == (
        "3 steps with outside effects would run again: send_mail of Writer, elsewhere of Writer, Publish."
    ), "a tool that the document does not declare comes from a server"


def test_without_a_recording_what_can_be_reached_may_run() -> None:
    found = outside_effects(DRAWING, [], ["count"])
    assert sentence(found) == "1 step with outside effects may run: Publish."
    assert sentence(outside_effects(DRAWING, [], ["writer"])).startswith("2 steps")
    assert outside_effects(DRAWING, [], []) == ()
