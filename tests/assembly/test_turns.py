"""Drawings with turn-token agents: what each node sees, what comes out, in both run modes."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import pytest
from studio.agents.errors import ProviderError
from studio.agents.messages import AgentReply, AgentUpdate, ToolCall, ToolResult, assistant
from studio.assembly import compile_plan
from studio.checkpoints import MemoryStore
from studio.checkpoints.usage import Weight
from studio.debugger.details import details_of
from studio.document.agent_options import RunnerAgent, TurnTokenSettings
from studio.document.conditions import Condition, Rule
from studio.document.model import (
    AgentNode,
    Edge,
    FanInEdge,
    FanOutEdge,
    JoinNode,
    Node,
    OfflineScript,
    RunnerNode,
    StateDecl,
    SubWorkflowNode,
    SwitchCase,
    SwitchEdge,
    ToolDecl,
    Workflow,
)
from studio.engine import events as ev
from studio.engine.codec import Codec
from studio.engine.gate import Hooks, Replaced

from tests.assembly.running import Bench, Ran, script
from tests.assembly.test_kinds import agent, contains, direct, function, show, workflow


def host(id: str, **options: Any) -> AgentNode:
    return agent(id, host="turn_token", turn_token=TurnTokenSettings(**options))


def sent(ran: Ran, node: str) -> list[tuple[str, Any]]:
    """Purpose and content of everything a node sent: texts of a list, what a token says."""
    found: list[tuple[str, Any]] = []
    for event in ran.events:
        if isinstance(event, ev.MessageQueued) and event.source == node:
            data = event.data
            shown = [m.text for m in data] if isinstance(data, list) else getattr(data, "emit_events", data)
            found.append((event.purpose, shown))
    return found


@pytest.mark.parametrize("stream", [False, True])
async def test_a_chain_forwards_then_answers_then_passes_the_token(bench: Bench, stream: bool) -> None:
    flow = workflow([host("a"), host("b")], offline=script(a=["draft"], b=[{"echo": "seen: "}]))
    ran = await bench.run(flow, "topic", stream=stream)
    assert sent(ran, "chat_start") == [("forward", ["topic"]), ("token", True)]
    assert sent(ran, "a") == [("forward", ["topic"]), ("response", ["draft"]), ("token", True)]
    assert sent(ran, "b") == [("forward", ["topic", "draft"]), ("response", ["seen: draft"]), ("token", True)]
    assert [(n, type(d), d.text) for n, d in ran.outputs] == [
        ("a", AgentUpdate, "draft"),
        ("b", AgentUpdate, "seen: draft"),
    ]


@pytest.mark.parametrize(
    ("options", "stream", "token", "kinds"),
    [
        ({"emit_agent_update_events": False}, True, None, []),
        ({"emit_agent_update_events": True}, True, None, [AgentUpdate]),
        ({"emit_agent_update_events": False}, False, True, [AgentUpdate]),
        ({"first_token": "off", "emit_agent_response_events": True}, False, False, [AgentReply]),
        ({"first_token": "open"}, False, None, []),
        ({"emit_agent_response_events": True}, True, True, [AgentUpdate, AgentReply]),
    ],
)
async def test_the_first_token_and_the_options_decide_what_comes_out(
    bench: Bench, options: dict[str, Any], stream: bool, token: bool | None, kinds: list[type]
) -> None:
    ran = await bench.run(workflow([host("a", **options)], offline=script(a=["x"])), "in", stream=stream)
    assert sent(ran, "chat_start")[-1] == ("token", token)
    assert [type(d) for _, d in ran.outputs] == kinds


async def test_roles_of_other_agents_are_changed_for_the_model_alone(bench: Bench) -> None:
    seen = {}
    for changed in (True, False):
        flow = workflow(
            [host("a"), host("b", reassign_other_agents_as_users=changed)], offline=script(a=["draft"], b=["ok"])
        )
        ran = await bench.run(flow, "topic")
        call = next(e for e in ran.events if isinstance(e, ev.ModelCallStarted) and e.node == "b")
        seen[changed] = [(m.role, m.text) for m in call.messages]
        forwarded = next(e for e in ran.events if isinstance(e, ev.MessageQueued) and e.source == "b")
        assert [m.role for m in forwarded.data] == ["user", "assistant"]
    assert seen[True] == [("user", "topic"), ("user", "draft")]
    assert seen[False] == [("user", "topic"), ("assistant", "draft")]


async def test_without_forwarding_the_next_agent_sees_the_answer_only(bench: Bench) -> None:
    flow = workflow([host("a", forward_incoming_messages=False), host("b")], offline=script(a=["draft"], b=["ok"]))
    ran = await bench.run(flow, "topic")
    assert sent(ran, "b")[0] == ("forward", ["draft"])


# --------------------------------------------------------------------------------------------------- routing


def routed(edges: Sequence[Edge], answer: str, **fields: Any) -> Workflow:
    nodes: list[Node] = [host("a"), host("yes"), host("no")]
    offline = script(a=[answer], yes=["took yes"], no=["took no"])
    return workflow(nodes, edges, offline=offline, **fields)


SWITCH = SwitchEdge(
    id="sw", source="a", cases=(SwitchCase(id="c", condition=contains("good"), target="yes"),), default="no"
)


@pytest.mark.parametrize(("answer", "taken"), [("good work", "yes"), ("bad", "no")])
async def test_the_whole_turn_follows_the_branch_of_a_switch(bench: Bench, answer: str, taken: str) -> None:
    ran = await bench.run(routed([SWITCH], answer), "is it good?")
    assert sent(ran, "sw") == [("response", ["is it good?"]), ("response", [answer]), ("token", True)]
    assert ran.order == ["chat_start", "a", "a", "sw", "sw", "sw", taken, taken, taken]
    assert [n for n, _ in ran.outputs] == ["a", taken]


@pytest.mark.parametrize(("answer", "taken"), [("good", ["yes"]), ("bad", []), ("good and fine", ["yes", "no"])])
async def test_each_conditional_edge_decides_once_a_turn(bench: Bench, answer: str, taken: list[str]) -> None:
    edges = [direct("a", "yes", contains("good")), direct("a", "no", contains("fine"))]
    ran = await bench.run(routed(edges, answer), "good and fine?")
    assert sorted(n for n, _ in ran.outputs[1:]) == sorted(taken)


async def test_a_fan_out_with_conditions_sends_the_turn_to_all_that_hold(bench: Bench) -> None:
    edge = FanOutEdge(id="fo", source="a", targets=("yes", "no"), selection={"no": contains("fine")})
    both = await bench.run(routed([edge], "fine"))
    assert sorted(n for n, _ in both.outputs) == ["a", "no", "yes"]
    one = await bench.run(routed([edge], "bad"))
    assert [n for n, _ in one.outputs] == ["a", "yes"]


async def test_a_switch_behind_a_host_may_read_shared_state(bench: Bench) -> None:
    condition = Condition(rule=Rule(op="equals", path="state.mode", value="strict"))
    switch = SWITCH.model_copy(update={"cases": (SwitchCase(id="c", condition=condition, target="yes"),)})
    ran = await bench.run(routed([switch], "x", state=(StateDecl(key="mode", initial="strict"),)))
    assert [n for n, _ in ran.outputs] == ["a", "yes"]


async def test_conditions_see_the_structured_answer_of_a_turn(bench: Bench) -> None:
    condition = Condition(kind="expression", expression="value.score >= 7 and type == 'messages'")
    switch = SWITCH.model_copy(update={"cases": (SwitchCase(id="c", condition=condition, target="yes"),)})
    ran = await bench.run(routed([switch], '{"score": 8}'))
    assert [n for n, _ in ran.outputs] == ["a", "yes"]


async def test_a_condition_in_python_decides_on_the_messages_of_the_turn(bench: Bench) -> None:
    code = "return len(data) == 2 and data[-1].role == 'assistant' and text == 'draft'"
    edges = [direct("a", "yes", Condition(kind="python", body=code))]
    ran = await bench.run(routed(edges, "draft"))
    assert [n for n, _ in ran.outputs] == ["a", "yes"]


async def test_a_loop_of_hosts_ends_by_its_switch(bench: Bench) -> None:
    edges: list[Edge] = [
        direct("a", "yes"),
        SwitchEdge(
            id="sw", source="yes", cases=(SwitchCase(id="c", condition=contains("again"), target="a"),), default="no"
        ),
    ]
    flow = routed(edges, "draft").model_copy(
        update={"offline": script(a=["one", "two"], yes=["again", "fine"], no=["done"])}
    )
    ran = await bench.run(flow)
    assert [(n, d.text) for n, d in ran.outputs] == [
        ("a", "one"),
        ("yes", "again"),
        ("a", "two"),
        ("yes", "fine"),
        ("no", "done"),
    ]


# --------------------------------------------------------------------------------------------------- joining


def joined(merge: str, last: Node, **fields: Any) -> Workflow:
    nodes: list[Node] = [host("s"), host("a"), host("b"), JoinNode(id="j", name="J", merge=merge, **fields), last]  # type: ignore[arg-type]
    edges: list[Edge] = [
        FanOutEdge(id="fo", source="s", targets=("a", "b")),
        FanInEdge(id="fi", sources=("a", "b"), target="j"),
        direct("j", last.id),
    ]
    return workflow(nodes, edges, offline=script(s=["go"], a=["one"], b=["two"], c=[{"echo": "after "}]))


async def test_a_join_of_hosts_starts_the_next_turn_with_all_messages(bench: Bench) -> None:
    ran = await bench.run(joined("messages", host("c")), "topic")
    assert sent(ran, "j") == [("response", ["topic", "go", "one", "topic", "go", "two"]), ("token", True)]
    assert ran.outputs[-1][0] == "c"
    assert ran.outputs[-1][1].text == "after two"
    quiet = await bench.run(joined("messages", host("c", emit_agent_update_events=False)), "topic")
    assert sent(quiet, "j")[-1] == ("token", None)
    assert sorted(n for n, _ in quiet.outputs) == ["a", "b", "s"]


async def test_a_join_of_texts_takes_the_answer_of_each_turn(bench: Bench) -> None:
    ran = await bench.run(joined("texts", show(), separator=" + "), "topic")
    assert ran.outputs[-1] == ("show", "one + two")


async def test_a_join_of_messages_in_front_of_a_python_agent_is_a_request(bench: Bench) -> None:
    ran = await bench.run(joined("messages", agent("c")), "topic")
    assert ran.outputs[-1][1].text == "after two"


# ------------------------------------------------------------------------------------- other nodes, requests


async def test_a_host_inside_a_sub_workflow_has_a_start_of_its_own(bench: Bench) -> None:
    inner = workflow([host("inner", emit_agent_response_events=True)], offline=script(inner=["inside"]), id="in")
    flow = workflow([SubWorkflowNode(id="sub", name="Sub", embedded=inner), show()])
    ran = await bench.run(flow, "topic")
    assert [d.text for n, d in ran.outputs if n == "show"] == ["inside", "inside"]


async def test_tokens_end_at_templates_and_reach_functions_that_take_anything(bench: Bench) -> None:
    from studio.document.model import TemplateNode

    nodes: list[Node] = [
        host("a", forward_incoming_messages=False),
        TemplateNode(id="t", name="T", text="<{text}>"),
        function("f", "result = type(data).__name__", accepts="any", sends="nothing", yields="text"),
        show(),
    ]
    edges = [direct("a", "t"), direct("t", "show"), direct("a", "f")]
    ran = await bench.run(workflow(nodes, edges, offline=script(a=["x"])))
    assert sorted(d for n, d in ran.outputs if n != "a") == ["<x>", "TurnToken", "list"]


async def test_a_function_may_start_a_turn(bench: Bench) -> None:
    body = "ctx.send_message([Message('user', ['made'])])\nctx.send_message(TurnToken(True))"
    nodes: list[Node] = [function("f", body, sends="messages | turn_token"), host("a")]
    ran = await bench.run(workflow(nodes, offline=script(a=[{"echo": "got "}])))
    assert [(n, d.text) for n, d in ran.outputs] == [("a", "got made")]


CALL = {"calls": [{"id": "c1", "tool": "ask", "arguments": {}}]}
ASK = ToolDecl(name="ask", approval="caller")


async def test_a_call_waits_outside_and_the_token_waits_for_it(bench: Bench) -> None:
    nodes = [host("a").model_copy(update={"tools": ("ask",)}), host("b")]
    flow = workflow(nodes, tools=(ASK,), offline=script(a=[CALL, "thanks"], b=["ok"]))
    plan = compile_plan(flow, bench.source.services(flow))
    first: deque[Any] = deque()
    result = await plan.engine.run("in", events=first)
    assert [r.id for r in result.requests] == ["14:a_FunctionCall:c1"]
    assert isinstance(result.requests[0].data, ToolCall)
    assert [n for p, n in sent(Ran(result, first), "a") if p == "token"] == []
    second: deque[Any] = deque()
    result = await plan.engine.run(answers={result.requests[0].id: ToolResult("c1", "42")}, events=second)
    assert not result.requests
    assert [p for p, _ in sent(Ran(result, second), "a")] == ["forward", "response", "token"]
    assert [n for n, _ in Ran(result, second).outputs] == ["a", "b"]


async def test_an_intercepted_call_is_answered_by_a_node(bench: Bench) -> None:
    body = "result = Content('function_result', call_id=data.call_id, result='from the node')"
    nodes: list[Node] = [
        host("a", intercept_unterminated_function_calls=True).model_copy(update={"tools": ("ask",)}),
        function("f", body, accepts="content", sends="content"),
    ]
    edges = [direct("a", "f"), direct("f", "a")]
    ran = await bench.run(workflow(nodes, edges, tools=(ASK,), offline=script(a=[CALL, {"echo": "got "}])))
    assert not ran.result.requests
    assert ran.outputs[-1][1].text == "got from the node"


async def test_a_turn_goes_on_from_a_checkpoint_in_a_new_plan(bench: Bench) -> None:
    flow = workflow([host("a"), host("b"), host("c")], offline=script(a=["one"], b=["two"], c=[{"echo": "after "}]))
    store = MemoryStore(Codec())
    plan = compile_plan(flow, bench.source.services(flow))
    await plan.engine.run("in", store=store)
    kept = await store.infos()
    middle = kept[len(kept) // 2].id
    again = compile_plan(flow, bench.source.services(flow))
    events: deque[Any] = deque()
    await again.engine.run(checkpoint=middle, store=store, events=events)
    outputs = [(e.node, e.data.text) for e in events if isinstance(e, ev.OutputYielded)]
    assert outputs[-1] == ("c", "after two")


class Rewrites(Hooks):
    """Puts another answer in the place of each agent's."""

    async def after_model_call(self, node: str, reply: Any, inside: tuple[str, ...]) -> Replaced | None:
        return Replaced(AgentReply((assistant(reply.text.upper(), node),)))


async def test_a_debugger_may_replace_the_answer_of_a_turn(bench: Bench) -> None:
    inner = RunnerAgent(id="x", name="X", instructions="You are x.")
    nodes: list[Node] = [
        host("a", forward_incoming_messages=False, emit_agent_response_events=True),
        RunnerNode(id="r", name="R", agents=(inner,)),
    ]
    offline = OfflineScript(nodes={"a": {"replies": ["quiet"]}, "r/x": {"replies": [{"echo": "heard "}]}})
    flow = workflow(nodes, offline=offline)
    result = await compile_plan(flow, bench.source.services(flow)).engine.run("in", gate=Rewrites())
    replies = [data.text for data in result.outputs if isinstance(data, AgentReply)]
    assert replies == ["QUIET", "HEARD QUIET"]


async def test_what_a_failed_turn_left_is_read_from_its_checkpoint(bench: Bench) -> None:
    flow = workflow([host("a"), host("b")], offline=script(a=["one"], b=[{"error": "down", "status": 400}]))
    store = MemoryStore(Codec())
    with pytest.raises(ProviderError, match="down"):
        await compile_plan(flow, bench.source.services(flow)).engine.run("in", store=store)
    last = await store.latest()
    assert last is not None
    checkpoint = await store.load(last.id)
    assert [len(m.collected) for m in details_of(checkpoint, Weight(0, 0), "").memories if m.node == "b"] == []
    # The framework gives b no token: what it collected stays until one comes.
    quiet = workflow([function("f", "result = 'x'"), host("b")])
    plan = compile_plan(quiet, bench.source.services(quiet))
    await plan.engine.run("in", store=store)
    last = await store.latest()
    assert last is not None
    [memory] = [m for m in details_of(await store.load(last.id), Weight(0, 0), "").memories if m.node == "b"]
    assert [m.text for m in memory.collected] == ["x"]
