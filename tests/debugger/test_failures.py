"""A failed run names the node and the field where it can be mended, and the input that led to it."""

from __future__ import annotations

import json
from collections import deque
from typing import Any

import pytest
from studio.assembly import compile_plan
from studio.debugger.event_codec import EventDecoder, EventEncoder
from studio.debugger.failures import CodeLine, Failure, failure_of, kind_of, where_words
from studio.document.conditions import Condition
from studio.document.model import (
    AgentNode,
    DirectEdge,
    FunctionNode,
    MiddlewareDecl,
    ModuleDecl,
    OfflineScript,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    ToolDecl,
    Workflow,
)
from studio.engine import events as ev
from studio.engine.codec import Codec

from tests.assembly.running import Bench

CODE = "total = {}\nresult = total[data]"


def code(id: str, body: str = "result = data", **more: Any) -> FunctionNode:
    return FunctionNode(id=id, name=id.upper(), body=body, **more)


async def failed(workflow: Workflow, data: Any = "hello") -> tuple[Failure, list[Any]]:
    bench = Bench()
    events: deque[Any] = deque()
    plan = compile_plan(workflow, bench.source.services(workflow, None))
    with pytest.raises(Exception):  # noqa: B017, PT011  each case raises its own
        await plan.engine.run(data, stream=True, events=events)
    await bench.source.close()
    found = failure_of(list(events), workflow)
    assert found is not None
    return found, list(events)


def shown(failure: Failure) -> str:
    """The stretch of text that is selected."""
    return failure.target.text[failure.target.start : failure.target.end]


async def test_code_of_a_node_with_its_line_and_input() -> None:
    workflow = Workflow(start="a", nodes=(code("a", "result = data + '!'"), code("b", CODE)), edges=(
        DirectEdge(id="ab", source="a", target="b"),
    ))  # fmt: skip
    failure, _ = await failed(workflow)
    assert (failure.path, failure.superstep, failure.given) == (("b",), 2, "hello!")
    assert (failure.target.place, failure.target.field, failure.target.title) == ("b", "body", "Code")
    assert shown(failure) == "result = total[data]"
    assert where_words(failure, workflow) == "B, superstep 2, line 2: result = total[data]"


async def test_a_module_that_a_function_calls() -> None:
    source = "def deep(x):\n    return 1 / 0\n\n\ndef fn(data, ctx):\n    return deep(data)\n"
    workflow = Workflow(
        start="f", nodes=(FunctionNode(id="f", name="F", call="m:fn"),), modules=(ModuleDecl(name="m", source=source),)
    )
    failure, _ = await failed(workflow)
    assert [c.line for c in failure.code] == [6, 2]
    assert (failure.target.place, failure.target.field, shown(failure)) == ("", "modules", "    return 1 / 0")


@pytest.mark.parametrize("switch", [False, True], ids=["edge", "switch"])
async def test_a_condition_after_a_node(switch: bool) -> None:
    bad = Condition(kind="python", body="len(text) > data.score")
    edge: Any = DirectEdge(id="e", source="a", target="b", condition=bad)
    if switch:
        edge = SwitchEdge(id="e", source="a", cases=(SwitchCase(id="c", target="b", condition=bad),), default="d")
    workflow = Workflow(start="a", nodes=(code("a"), code("b"), code("d")), edges=(edge,))
    failure, _ = await failed(workflow)
    assert (failure.target.place, failure.target.field) == ("c" if switch else "e", "condition")
    assert (shown(failure), failure.given) == (bad.body, "hello")
    assert where_words(failure, workflow).startswith("a condition after A, superstep 2, line 1: ")


async def test_inside_a_sub_workflow_the_inner_node_is_named() -> None:
    inner = Workflow(start="x", nodes=(code("x", "1 / 0"),))
    outer = Workflow(start="s", nodes=(SubWorkflowNode(id="s", name="Check", embedded=inner),))
    failure, _ = await failed(outer)
    assert (failure.path, failure.target.inside, failure.target.place) == (("s", "x"), ("s",), "x")
    assert where_words(failure, outer) == "Check › X, superstep 1, line 1: 1 / 0"


async def test_a_condition_inside_a_sub_workflow() -> None:
    edge = DirectEdge(id="xy", source="x", target="y", condition=Condition(kind="python", body="data.z"))
    inner = Workflow(start="x", nodes=(code("x"), code("y")), edges=(edge,))
    outer = Workflow(start="s", nodes=(SubWorkflowNode(id="s", name="Check", embedded=inner),))
    failure, _ = await failed(outer)
    assert (failure.target.inside, failure.target.place, failure.target.field) == (("s",), "xy", "condition")


async def test_middleware_and_a_filter_of_an_agent() -> None:
    given = (MiddlewareDecl(kind="agent", body="await call_next()"), MiddlewareDecl(kind="agent", body="1 / 0"))
    failure, _ = await failed(Workflow(start="a", nodes=(AgentNode(id="a", name="A", middleware=given),)))
    assert (failure.target.place, failure.target.field, shown(failure)) == ("a", "middleware", "1 / 0")
    agents = (
        AgentNode(id="a", name="A"),
        AgentNode(id="b", name="B", context="custom", context_filter="x = 1\nresult = 1 / 0"),
    )
    edges = (DirectEdge(id="ab", source="a", target="b"),)
    failure, _ = await failed(Workflow(start="a", nodes=agents, edges=edges))
    assert (failure.target.place, failure.target.field, shown(failure)) == ("b", "context_filter", "result = 1 / 0")


async def test_a_provider_that_refuses_with_its_words_and_the_prompt() -> None:
    script = OfflineScript(nodes={"a": {"replies": [{"error": "no such thing"}]}})
    workflow = Workflow(start="a", nodes=(AgentNode(id="a", name="Ada", instructions="Be kind."),), offline=script)
    failure, _ = await failed(workflow)
    assert failure.message == "The provider failed: no such thing"
    assert json.loads(failure.raw)["error"]["message"] == "no such thing"
    assert (failure.given, failure.prompt, failure.target.place) == ("hello", "hello", "a")


@pytest.mark.parametrize(
    ("error", "raw", "field"),
    [
        ("The provider does not know the model: gpt-9", "", "model"),
        ("The provider does not accept the key", "", "profile"),
        ("The conversation is too long for the model: 9000 tokens", "", "context"),
        ("The provider does not support a setting: no", '{"error": {"param": "temperature"}}', "temperature"),
        ("The provider does not support a setting: no", '{"error": {"param": "max_completion_tokens"}}', "max_tokens"),
        ("The provider does not support a setting: no", "<html>", "model"),
        ("Something else", "", "instructions"),
    ],
)
def test_the_setting_that_a_provider_complains_about(error: str, raw: str, field: str) -> None:
    workflow = Workflow(start="a", nodes=(AgentNode(id="a", name="A"),))
    events: list[ev.Event] = [
        ev.SuperstepStarted(0.0, 1),
        ev.NodeStarted(0.0, 1, "a", "i1", (), "in"),
        ev.ModelCallStarted(0.1, "a", "i1", "m1", (), "gpt"),
        ev.ModelCallFinished(0.2, "a", "i1", "m1", None, None, error, raw=raw),
        ev.NodeFailed(0.3, 1, "a", "i1", "ProviderError", error),
        ev.RunFailed(0.3, "ProviderError", error, "a"),
        ev.StatusChanged(0.3, "FAILED"),
    ]
    failure = failure_of(events, workflow)
    assert failure is not None
    assert (failure.target.place, failure.target.field, failure.raw) == ("a", field, raw)


async def test_the_limit_of_supersteps_and_a_tool_that_nobody_has() -> None:
    edges = (DirectEdge(id="ab", source="a", target="b"), DirectEdge(id="ba", source="b", target="a"))
    failure, _ = await failed(Workflow(start="a", nodes=(code("a"), code("b")), edges=edges, max_supersteps=3))
    assert (failure.target.place, failure.target.field) == ("", "max_supersteps")
    agent = AgentNode.model_validate(
        {"id": "a", "name": "A", "tools": ["t"], "tool_loop": {"terminate_on_unknown_calls": True}}
    )
    script = OfflineScript(nodes={"a": {"replies": [{"calls": [{"tool": "other", "arguments": {}}]}]}})
    tools = (ToolDecl(name="t", source="def t(q: str) -> str:\n    return q"),)
    failure, _ = await failed(Workflow(start="a", nodes=(agent,), tools=tools, offline=script))
    assert (failure.target.field, failure.message) == ("tools", 'Error: Requested function "other" not found.')


async def test_only_the_end_of_a_log_counts_and_it_survives_being_written() -> None:
    workflow = Workflow(start="f", nodes=(code("f", CODE),))
    failure, events = await failed(workflow)
    encoder, decoder = EventEncoder(Codec()), EventDecoder(Codec())
    again = [decoder.decode(json.loads(json.dumps(encoder.encode(event)))) for event in events]
    assert failure_of(again, workflow) == failure
    assert failure.code == (CodeLine("f", 2, "result = total[data]"),)
    assert failure_of([*events, ev.StatusChanged(9.0, "IDLE")], workflow) is None
    assert failure_of([], workflow) is None


def test_a_node_that_is_no_longer_drawn_leads_nowhere() -> None:
    events: list[ev.Event] = [
        ev.NodeStarted(0.0, 1, "gone", "i1", (), "in"),
        ev.NodeFailed(0.3, 1, "gone", "i1", "ValueError", "no", (), (("gone", 1, "x"),)),
        ev.RunFailed(0.3, "ValueError", "no", "gone", (("gone", 1, "x"),)),
    ]
    failure = failure_of(events, Workflow())
    assert failure is not None
    assert (failure.target.place, failure.given) == ("gone", "in")


def test_kinds_are_found_by_their_words() -> None:
    assert kind_of("Too many requests: slow down") == "rate_limited"
    assert kind_of("Too many requests") == "rate_limited"
    assert kind_of("boom") is None
