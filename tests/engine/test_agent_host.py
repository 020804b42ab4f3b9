"""The agent node: rows R1 to R12 of the agent host page, and what they leave open."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import AgentRequest, ApprovalRequest, ApprovalResponse, Message, ToolResult, assistant, user
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.engine import BuildArgumentError, Codec, Context, MemoryStore, TypeCompatibilityError, WorkflowBuilder
from studio.engine import events as e

from tests.engine.nodes import host, node, passing, seen
from tests.fakes.scripted_client import ScriptedClient

CALL = {"calls": [{"id": "call_1", "tool": "delete", "arguments": {"q": "x"}}]}


def tool(approval: Any = "always", name: str = "delete") -> Tool:
    async def run(arguments: dict[str, Any]) -> str:
        return f"deleted {arguments['q']}"

    parameters = {"type": "object", "properties": {"q": {"type": "string"}}}
    return Tool(name, "", parameters, None if approval == "caller" else run, approval)


async def chain(*hosts: Any, data: Any = "topic", **run: Any) -> Any:
    builder = WorkflowBuilder(hosts[0], name="w")
    if len(hosts) > 1:
        builder.chain(hosts)
    return await builder.build().run(data, **run)


async def test_r1_the_next_agent_sees_the_whole_conversation() -> None:
    writer, reviewer = host("writer", "draft"), host("reviewer", "fine")
    result = await chain(writer, reviewer)
    assert seen(reviewer) == [[("user", "topic"), ("assistant", "draft")]]
    assert [output.text for output in result.outputs] == ["draft", "fine"]


async def test_r2_last_agent() -> None:
    reviewer = host("reviewer", "fine", context="last_agent")
    await chain(host("writer", "draft"), reviewer)
    assert seen(reviewer) == [[("assistant", "draft")]]


async def test_r3_custom_filter() -> None:
    def users(messages: list[Message]) -> list[Message]:
        return [m for m in messages if m.role == "user"]

    reviewer = host("reviewer", "fine", context="custom", context_filter=users)
    await chain(host("writer", "draft"), reviewer)
    assert seen(reviewer) == [[("user", "topic")]]
    with pytest.raises(BuildArgumentError):
        host("x", context="custom")


async def test_r4_a_request_without_response_only_fills_the_cache() -> None:
    a = host("a", "ok")
    workflow = WorkflowBuilder(a, name="w").build()
    result = await workflow.run(AgentRequest((user("ctx"),), should_respond=False))
    assert (result.outputs, seen(a), workflow.superstep) == ((), [], 1)
    await workflow.run(AgentRequest((user("go"),)))
    assert seen(a) == [[("user", "ctx"), ("user", "go")]]


async def test_r5_streaming_yields_chunks_and_sends_the_whole() -> None:
    a, b = host("a", {"chunks": ["hel", "lo"]}), host("b", "fine")
    events: list[Any] = []
    result = await chain(a, b, data="q", stream=True, events=events)
    assert [output.text for output in result.outputs] == ["hel", "lo", "fine"]
    assert seen(b) == [[("user", "q"), ("assistant", "hello")]]
    tokens = [(t.node, t.text) for t in events if isinstance(t, e.TokensArrived)]
    assert tokens == [("a", "hel"), ("a", "lo"), ("b", "fine")]
    assert [c.node for c in events if isinstance(c, e.ModelCallStarted)] == ["a", "b"]


@pytest.mark.parametrize("approved", [True, False])
async def test_r6_approval(approved: bool) -> None:
    a, b = host("a", CALL, "done", tools=[tool()]), host("b", "ok")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    result = await workflow.run("q")
    (request,) = result.requests
    assert isinstance(request.data, ApprovalRequest)
    assert (result.outputs, request.id, request.node, request.response_type) == ((), request.data.id, "a", "content")
    answer = ApprovalResponse(request.data.id, approved, request.data.call)
    result = await workflow.run(answers={request.id: answer})
    assert [output.text for output in result.outputs] == ["done", "ok"]
    said = "deleted x" if approved else "Error: Tool call invocation was rejected by user."
    (results,) = [m.parts for m in a.agent.client.requests[1].messages if m.role == "tool"]  # type: ignore[attr-defined]
    assert [part.result for part in results] == [said]


async def test_r7_a_cancelled_approval_counts_as_refused() -> None:
    a = host("a", CALL, "done", tools=[tool()])
    workflow = WorkflowBuilder(a, name="w").build()
    result = await workflow.run("q")
    events: list[Any] = []
    result = await workflow.run(cancel=[result.requests[0].id], events=events)
    assert ([output.text for output in result.outputs], result.state) == (["done"], "IDLE")
    kinds = [type(event) for event in events]
    assert kinds.index(e.OutputYielded) < kinds.index(e.SuperstepStarted)
    assert e.RequestCancelled in kinds
    assert e.NodeStarted not in kinds


async def test_a_cancelled_tool_of_the_caller_is_an_error_result() -> None:
    a = host("a", CALL, "done", tools=[tool("caller")])
    workflow = WorkflowBuilder(a, name="w").build()
    result = await workflow.run("q")
    await workflow.run(cancel=[result.requests[0].id])
    assert a.agent.client.requests[1].messages[-1].parts[0].result == "Error: Tool call was cancelled."  # type: ignore[attr-defined]


async def test_r8_r9_a_shared_session_repeats_history_and_context() -> None:
    for context, expected in (
        ("full", [("user", "hi"), ("assistant", "x"), ("user", "hi"), ("assistant", "x")]),
        ("last_agent", [("user", "hi"), ("assistant", "x"), ("assistant", "x")]),
    ):
        session = Session()
        a, b = host("a", "x", session=session), host("b", "y", session=session, context=context)
        await chain(a, b, data="hi")
        assert seen(b) == [expected]


async def test_r10_a_second_run_sees_the_first_from_the_session() -> None:
    a = host("a", "1", "2")
    workflow = WorkflowBuilder(a, name="w").build()
    await workflow.run("one")
    await workflow.run("two")
    assert seen(a)[1] == [("user", "one"), ("assistant", "1"), ("user", "two")]


def test_r11_a_fan_in_of_responses_is_refused() -> None:
    s, a, b, c = passing("s"), host("a"), host("b"), host("c")
    with pytest.raises(TypeCompatibilityError) as raised:
        WorkflowBuilder(s, name="w").fan_out(s, [a, b]).fan_in([a, b], c).build()
    assert raised.value.nodes == ("a", "c")


async def test_r12_the_last_response_costs_a_superstep() -> None:
    a, b = host("a", "x"), host("b", "y")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    await workflow.run("hi")
    assert workflow.superstep == 3


async def test_five_inputs() -> None:
    for data, expected in (
        ("text", [("user", "text")]),
        (assistant("m"), [("assistant", "m")]),
        (["a", user("b")], [("user", "a"), ("user", "b")]),
        ([], []),
        (AgentRequest((user("r"),)), [("user", "r")]),
    ):
        a = host("a", "x")
        await chain(a, data=data)
        assert seen(a) == [expected]


async def test_trailing_user_turn_is_for_the_call_only() -> None:
    a, b = host("a", "x", trailing_user_turn=True), host("b", "y", trailing_user_turn=True)
    c = host("c", "z")
    await chain(a, b, c, data="hi")
    assert seen(b) == [[("user", "hi"), ("assistant", "x"), ("user", "please continue.")]]
    assert seen(c) == [[("user", "hi"), ("assistant", "x"), ("assistant", "y")]]


async def test_caller_run_tools_are_answered_in_request_order_whatever_comes_first() -> None:
    two = {"calls": [{"id": f"call_{n}", "tool": "delete", "arguments": {"q": str(n)}} for n in (1, 2)]}
    a = host("a", two, "done", tools=[tool("caller")])
    workflow = WorkflowBuilder(a, name="w").build()
    result = await workflow.run("q")
    first, second = result.requests
    assert [first.data.call_id, second.data.call_id] == ["call_1", "call_2"]
    result = await workflow.run(answers={second.id: ToolResult("call_2", "two")})
    assert (result.state, len(seen(a))) == ("IDLE_WITH_PENDING_REQUESTS", 1)
    await workflow.run(answers={first.id: ToolResult("call_1", "one")})
    last = a.agent.client.requests[1].messages[-1]  # type: ignore[attr-defined]
    assert (last.role, [part.result for part in last.parts]) == ("tool", ["one", "two"])


async def test_open_approvals_survive_a_checkpoint() -> None:
    kept = MemoryStore(Codec())
    two = {"calls": [{"id": f"call_{n}", "tool": "delete", "arguments": {"q": str(n)}} for n in (1, 2)]}
    a = host("a", two, tools=[tool()])
    workflow = WorkflowBuilder(a, name="w").build()
    first, second = (await workflow.run("q", store=kept)).requests
    await workflow.run(answers={second.id: ApprovalResponse(second.data.id, True, second.data.call)}, store=kept)
    last = (await kept.infos())[-1].id
    b = host("a", "done", tools=[tool()])
    fresh = WorkflowBuilder(b, name="w").build()
    answer = ApprovalResponse(first.data.id, False, first.data.call)
    result = await fresh.run(checkpoint=last, answers={first.id: answer}, store=kept)
    assert [output.text for output in result.outputs] == ["done"]
    results = b.agent.client.requests[0].messages[-1].parts  # type: ignore[attr-defined]
    assert [part.result for part in results] == ["Error: Tool call invocation was rejected by user.", "deleted 2"]


async def test_a_failed_turn_gives_no_output_and_fails_the_run() -> None:
    a = host("a", {"error": "down"})
    events: list[Any] = []
    with pytest.raises(Exception, match="down"):
        await chain(a, events=events)
    assert [c.error for c in events if isinstance(c, e.ModelCallFinished)] == ["down"]


async def test_the_gate_holds_a_model_call() -> None:
    calls: list[str] = []

    class Gate:
        async def before_superstep(self, *args: Any) -> None: ...
        async def before_node(self, *args: Any) -> None: ...
        async def before_model_call(self, node: str, messages: Any, inside: tuple[str, ...]) -> None:
            calls.append(f"{node}: {messages[-1].text}")

    await chain(host("a", "x"), data="hi", gate=Gate())
    assert calls == ["a: hi"]


async def test_messages_carry_invocation_and_purpose() -> None:
    async def ask(data: str, ctx: Context) -> None:
        ctx.send(AgentRequest((user(data),)), purpose="request")

    f, a = node("f", ask, sends=(AgentRequest,)), host("a", "x")
    events: list[Any] = []
    await chain(f, a, data="hi", events=events)
    queued = [(q.source, q.purpose, q.invocation) for q in events if isinstance(q, e.MessageQueued)]
    invocations = {s.node: s.invocation for s in events if isinstance(s, e.NodeStarted)}
    assert queued == [
        ("internal:f", "input", None),
        ("f", "request", invocations["f"]),
        ("a", "response", invocations["a"]),
    ]


def test_an_agent_is_what_the_host_wants() -> None:
    from studio.engine.hosts.agent import RunnableAgent

    agent: RunnableAgent = Agent("a", ScriptedClient([]))
    assert agent.name == "a"


async def test_two_agents_that_wait_for_a_call_with_the_same_id() -> None:
    call = {"calls": [{"id": "call_1", "tool": "delete", "arguments": {"q": "x"}}]}
    a, b = (host(id, call, f"{id} done", tools=[tool("caller")]) for id in "ab")
    start = host("s", "go")
    workflow = WorkflowBuilder(start, name="w").fan_out(start, [a, b]).build()
    result = await workflow.run("q")
    assert sorted((r.node, r.data.call_id) for r in result.requests) == [("a", "call_1"), ("b", "call_1")]
    answers = {r.id: ToolResult("call_1", r.node) for r in result.requests}
    result = await workflow.run(answers=answers)
    assert sorted(o.text for o in result.outputs) == ["a done", "b done"]
