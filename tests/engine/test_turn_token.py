"""Turn-token agents in whole workflows: chains, answers, checkpoints, resets, routing and joining of turns."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import (
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Text,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.tools import Tool
from studio.engine import Codec, Context, FunctionExecutor, Workflow, WorkflowBuilder, decode, encode
from studio.engine import events as e
from studio.engine.errors import AnswerRejected
from studio.engine.hosts import (
    ChatStart,
    TurnCollector,
    TurnJoin,
    TurnRouter,
    TurnTokenHost,
    TurnTokenOptions,
)
from studio.engine.hosts.turn_rules import MessageIds
from studio.engine.types import CONTENT, ListOf, UnionOf
from studio.engine.values import ResetChat, ResetNode, TurnToken

from tests.fakes.scripted_client import ScriptedClient

CALL = {"calls": [{"id": "c1", "tool": "place", "arguments": {}}]}
TWO_CALLS = {"calls": [{"id": i, "tool": "delete", "arguments": {}} for i in ("c1", "c2")]}


async def _deleted(arguments: dict[str, Any]) -> str:
    return "deleted"


PLACE = Tool("place")
DELETE = Tool("delete", run=_deleted, approval="always")
LOOK = Tool("look", run=_deleted)


def host(id: str, *replies: Any, tools: tuple[Tool, ...] = (), **options: Any) -> TurnTokenHost:
    agent = Agent(id, ScriptedClient(replies), tools=tools, node=id)
    return TurnTokenHost(agent, id, TurnTokenOptions(**options))


def seen(host: TurnTokenHost) -> list[list[tuple[str, str | None, str]]]:
    client: ScriptedClient = host.agent.client  # type: ignore[attr-defined]
    return [[(m.role, m.author, m.text) for m in request.messages] for request in client.requests]


def sent(events: list[Any], id: str) -> list[Any]:
    """What a node sent: texts with roles, tokens, content types."""

    def one(data: Any) -> Any:
        if isinstance(data, TurnToken):
            return data.emit_events
        return [f"{m.role[0]}:{m.text}" for m in data] if isinstance(data, list) else data.type

    return [one(x.data) for x in events if isinstance(x, e.MessageQueued) and x.source == id]


def recorder(id: str = "out", got: list[Any] | None = None) -> FunctionExecutor:
    async def run(data: Any, ctx: Context) -> None:
        if got is not None:
            got.append(data)

    return FunctionExecutor(id, run, accepts=UnionOf(ListOf(Message), TurnToken, CONTENT), sends=())


def chain(*nodes: Any) -> Workflow:
    return WorkflowBuilder(nodes[0], name="w").chain(nodes).build()


async def test_first_node_decides_whether_a_chain_streams() -> None:
    a, b = host("A", "one"), host("B", "two", emit_agent_update_events=True)
    events: list[Any] = []
    result = await chain(ChatStart("start", emit_events=None), a, b, recorder()).run("hi", events=events)
    assert sent(events, "B") == [["u:hi", "a:one"], ["a:two"], False]
    assert seen(b)[0] == [("user", None, "hi"), ("user", "A", "one")]
    assert result.outputs == ()
    purposes = [x.purpose for x in events if isinstance(x, e.MessageQueued) and x.source == "A"]
    assert purposes == ["forward", "response", "token"]


async def test_without_forwarding_the_next_agent_sees_the_answer_only() -> None:
    off = {"forward_incoming_messages": False}
    b = host("B", "two", **off)
    events: list[Any] = []
    await chain(ChatStart("start", emit_events=None), host("A", "one", **off), b, recorder()).run("hi", events=events)
    assert seen(b) == [[("user", "A", "one")]]
    assert sent(events, "B") == [["a:two"], False]


async def test_two_hosts_before_a_third_give_it_two_turns() -> None:
    off = {"forward_incoming_messages": False}
    start, a, b, c = ChatStart("start"), host("A", "one", **off), host("B", "two", **off), host("C", "x", "y", **off)
    out = recorder()
    builder = WorkflowBuilder(start, name="w").fan_out(start, [a, b]).edge(a, c).edge(b, c).edge(c, out)
    events: list[Any] = []
    await builder.build().run("hi", events=events)
    assert len(seen(c)) == 2
    assert sent(events, "C") == [["a:x"], True, ["a:y"], True]


@pytest.mark.parametrize(("stream", "streams"), [(False, True), (True, False)])
async def test_implicit_start_token(stream: bool, streams: bool) -> None:
    """A run as a whole always streams updates, a streaming run asks the option."""
    a = host("A", {"chunks": ["o", "k"]}, emit_agent_update_events=False)
    result = await chain(ChatStart("start"), a).run("hi", stream=stream)
    assert [x.text for x in result.outputs if isinstance(x, AgentUpdate)] == (["o", "k"] if streams else [])


async def test_start_passes_a_token_on_and_takes_messages() -> None:
    a = host("A", "x", "y")
    workflow = chain(ChatStart("start"), a)
    await workflow.run([user("1"), user("2")])
    await workflow.run(user("3"))
    assert [[t for _, _, t in call] for call in seen(a)] == [["1", "2"], ["1", "2", "x", "3"]]
    events: list[Any] = []
    await chain(ChatStart("start"), host("A", "z")).run(TurnToken(False), events=events)
    assert sent(events, "A") == [[], ["a:z"], False]


async def test_failed_turn_keeps_the_buffer_and_a_later_token_takes_it_again() -> None:
    a = host("A", {"error": "down"}, "ok")
    workflow = chain(a, recorder())
    await workflow.run([user("hi")])
    checkpoint = await workflow.capture()
    events: list[Any] = []
    with pytest.raises(Exception, match="down"):
        await workflow.run(TurnToken(), events=events)
    assert sent(events, "A") == [["u:hi"]]
    assert [m.text for m in a.buffer] == ["hi"]
    await workflow.restore(checkpoint)
    await workflow.run(TurnToken())
    assert a.buffer == ()


async def test_each_answer_is_a_turn_and_one_token_ends_them() -> None:
    """Row 43 and 44: a token that comes while a call is open is absorbed."""
    a = host("A", CALL, "busy", "done", tools=(PLACE,))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken())
    assert a.waiting == ("c1",)
    await workflow.run([user("more")])
    events: list[Any] = []
    await workflow.run(TurnToken(True), events=events)
    assert sent(events, "A") == [["u:more"], ["a:busy"]]
    events.clear()
    result = await workflow.run(answers={"14:A_FunctionCall:c1": ToolResult("c1", "here")}, events=events)
    assert sent(events, "A") == [["t:"], ["a:done"], True]
    assert [x.text for x in result.outputs] == ["done"]
    assert a.waiting == ()


async def test_call_asked_for_again_raises_no_second_request() -> None:
    a = host("A", CALL, CALL, tools=(PLACE,))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken())
    await workflow.run([user("again")])
    result = await workflow.run(TurnToken())
    assert [r.id for r in result.requests] == ["14:A_FunctionCall:c1"]
    assert result.raised == ()


async def test_approvals_of_a_real_agent_resume_it_one_by_one() -> None:
    a = host("A", TWO_CALLS, "done", tools=(DELETE,), emit_agent_response_events=True)
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    first = await workflow.run(TurnToken(True))
    asked = [r.data for r in first.requests]
    assert all(isinstance(part, ApprovalRequest) for part in asked)
    assert len(asked) == 2
    one, two = first.requests
    half = await workflow.run(answers={one.id: ApprovalResponse(asked[0].id, True, asked[0].call)})
    assert [r.id for r in half.requests] == [two.id]
    events: list[Any] = []
    await workflow.run(answers={two.id: ApprovalResponse(asked[1].id, False, asked[1].call)}, events=events)
    assert sent(events, "A")[-1] is True
    client: ScriptedClient = a.agent.client  # type: ignore[attr-defined]
    results = [p.result for p in client.requests[-1].messages[-1].parts if isinstance(p, ToolResult)]
    assert results == ["deleted", "Error: Tool call invocation was rejected by user."]


async def test_sibling_that_waits_for_an_approval_is_nobody_elses_call() -> None:
    calls = {"calls": [{"id": "c1", "tool": "look"}, {"id": "c2", "tool": "delete"}]}
    a = host("A", calls, "done", tools=(LOOK, DELETE))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    result = await workflow.run(TurnToken())
    assert [type(r.data) for r in result.requests] == [ApprovalRequest]


async def test_cancelled_request_goes_on_as_refused() -> None:
    a = host("A", CALL, "sorry", tools=(PLACE,))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken())
    events: list[Any] = []
    await workflow.run(cancel=["14:A_FunctionCall:c1"], events=events)
    assert sent(events, "A") == [["t:"], ["a:sorry"], False]


async def test_answer_of_another_kind_is_rejected_and_uses_nothing_up() -> None:
    a = host("A", CALL, "done", tools=(PLACE,))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken())
    with pytest.raises(AnswerRejected):
        await workflow.run(answers={"14:A_FunctionCall:c1": Text("no result")})
    with pytest.raises(Exception, match="no pending call 'other'"):
        await workflow.run(answers={"14:A_FunctionCall:c1": ToolResult("other")})


async def test_intercepted_calls_go_to_the_next_node_and_come_back_as_messages() -> None:
    a = host("A", CALL, "done", tools=(PLACE,), intercept_unterminated_function_calls=True)

    async def serve(data: Any, ctx: Context) -> None:
        ctx.send(ToolResult(data.call_id, "here"))

    server = FunctionExecutor("server", serve, accepts=CONTENT, sends=(ToolResult,))
    out: list[Any] = []
    end = recorder(got=out)
    start = ChatStart("start", emit_events=None)
    builder = WorkflowBuilder(start, name="w").edge(start, a).edge(a, server).edge(server, a).edge(a, end)
    result = await builder.build().run("q")
    assert result.requests == ()
    assert out[-1] == TurnToken(False)
    assert [type(x).__name__ for x in out] == ["list", "ToolCall", "list", "list", "list", "TurnToken"]


async def test_answer_without_interception_finds_no_handler() -> None:
    a = host("A", "x")
    assert a.handler_for(ToolResult("c1")) is None
    assert a.handler_for(ApprovalResponse("p", True, DELETE_CALL)) is None
    b = host("B", "x", intercept_user_input_requests=True)
    assert b.handler_for(ToolResult("c1")) is None
    assert b.handler_for(ApprovalResponse("p", True, DELETE_CALL)) is not None


DELETE_CALL = ToolCall("c", "delete")


async def test_suspended_turn_goes_on_in_a_new_instance() -> None:
    """Row 50: the emit flag, the open calls and the session survive; the request is shown again."""
    two = {"calls": [{"id": i, "tool": "place"} for i in ("c1", "c2")]}
    workflow = chain(host("A", two, tools=(PLACE,)), recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken(True))
    codec = Codec()
    saved = decode(encode(await workflow.capture(), codec), codec)
    assert saved.executors["A"]["emit"] is True
    assert set(saved.executors["A"]["calls"]) == {"c1", "c2"}
    b = host("A", "half", "done", tools=(PLACE,))
    other = chain(b, recorder())
    events: list[Any] = []
    await other.run(checkpoint=saved, events=events)
    assert [x.again for x in events if isinstance(x, e.RequestRaised)] == [True, True]
    events.clear()
    await other.run(answers={"14:A_FunctionCall:c1": ToolResult("c1", 1)}, events=events)
    assert sent(events, "A") == [["t:"], ["a:half"]]
    await other.run(answers={"14:A_FunctionCall:c2": ToolResult("c2", 2)}, events=events)
    assert sent(events, "A")[-1] is True
    assert next(t for _, _, t in seen(b)[0]) == "q"


async def test_restore_on_a_live_instance_resets_every_field() -> None:
    """Upstream keeps the buffer and a session of the abandoned line; ours does not."""
    a = host("A", CALL, "x", tools=(PLACE,))
    workflow = chain(a, recorder())
    empty = await workflow.capture()
    await workflow.run([user("q")])
    await workflow.run(TurnToken(True))
    await workflow.run([user("late")])
    await workflow.restore(empty)
    assert (a.buffer, a.waiting, await a.save()) == ((), (), {})


async def test_reset_of_the_chat_keeps_buffer_and_questions_reset_of_the_node_nothing() -> None:
    a = host("A", CALL, "x", tools=(PLACE,))
    workflow = chain(a, recorder())
    await workflow.run([user("q")])
    await workflow.run(TurnToken(True))
    await workflow.run([user("more")])
    await workflow.run(ResetChat())
    assert set(await a.save()) == {"buffer", "calls"}
    await workflow.run(ResetNode())
    assert await a.save() == {}


async def test_updates_without_id_share_one_and_the_message_has_it() -> None:
    """Row 54: an empty update keeps its missing id."""
    a = host("A", {"chunks": ["hello ", "world"]})
    got: list[Any] = []
    workflow = chain(a, recorder(got=got))
    await workflow.run([user("hi")])
    result = await workflow.run(TurnToken(True))
    ids = {x.message_id for x in result.outputs}
    assert len(ids) == 1
    assert None not in ids
    (reply,) = [m for batch in got if isinstance(batch, list) for m in batch if m.role == "assistant"]
    assert (reply.text, {reply.id}) == ("hello world", ids)


def test_generated_ids_change_with_role_response_and_own_ids() -> None:
    ids = MessageIds()

    def named(text: str, role: Any = "assistant", id: str | None = None, response: str | None = None) -> str | None:
        return ids.named(AgentUpdate((Text(text),), role, None, id, response)).message_id

    assert named("") is None
    first = named("a")
    assert named("b") == first
    assert named("c", response="r2") != first
    tool = named("d", "tool")
    assert named("e") != tool
    assert named("f", id="own") == "own"
    assert named("g", id=" ") not in (first, tool, "own", " ", None)


async def test_router_sends_a_whole_turn_to_the_chosen_branch() -> None:
    start, a = ChatStart("start", emit_events=None), host("A", "yes")
    b, c = host("B", "from b"), host("C", "from c")

    def select(messages: list[Message]) -> list[str]:
        return ["B"] if messages[-1].text == "yes" else ["C"]

    router = TurnRouter("router", select)
    out = recorder()
    builder = WorkflowBuilder(start, name="w").edge(start, a).edge(a, router)
    workflow = builder.fan_out(router, [b, c]).edge(b, out).edge(c, out).build()
    events: list[Any] = []
    await workflow.run("hi", events=events)
    assert sent(events, "B") == [["u:hi", "a:yes"], ["a:from b"], False]
    assert seen(c) == []


async def test_router_lets_requests_through_before_the_turn_ends() -> None:
    a = host("A", CALL, "done", tools=(PLACE,), intercept_unterminated_function_calls=True)
    got: list[Any] = []
    router = TurnRouter("router", lambda messages: ["out"])
    workflow = chain(a, router, recorder(got=got))
    await workflow.run([user("q")])
    await workflow.run(TurnToken())
    assert [type(x).__name__ for x in got] == ["ToolCall"]
    await workflow.run(ToolResult("c1", "here"))
    assert [type(x).__name__ for x in got] == ["ToolCall", "list", "list", "list", "list", "TurnToken"]


async def test_collectors_and_join_make_one_turn_of_two() -> None:
    start, a, b, c = ChatStart("start"), host("A", "one"), host("B", "two"), host("C", "sum")
    ca, cb, join, out = TurnCollector("ca"), TurnCollector("cb"), TurnJoin("join"), recorder()
    builder = WorkflowBuilder(start, name="w").fan_out(start, [a, b]).edge(a, ca).edge(b, cb)
    workflow = builder.fan_in([ca, cb], join).edge(join, c).edge(c, out).build()
    events: list[Any] = []
    await workflow.run("hi", events=events)
    assert [t for _, _, t in seen(c)[0]] == ["hi", "one", "hi", "two"]
    assert len(seen(c)) == 1
    assert sent(events, "C")[-1] is False


async def test_collected_turn_survives_a_checkpoint() -> None:
    collector = TurnCollector("c")
    workflow = chain(collector, recorder())
    await workflow.run([user("kept")])
    saved = await workflow.capture()
    got: list[Any] = []
    other = chain(TurnCollector("c"), recorder(got=got))
    await other.restore(saved)
    await other.run(TurnToken())
    assert [[m.text for m in batch] for batch in got] == [["kept"]]
    await other.restore(saved)
    await other.run(TurnToken())
    assert len(got) == 2
