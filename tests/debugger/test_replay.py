"""Pins, mutes and mocks; recording a run and giving it again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.client import ChatRequest, NoHooks
from studio.agents.messages import (
    AgentReply,
    AgentResponse,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
    user,
)
from studio.agents.tools import Tool
from studio.assembly.texts import value_text
from studio.debugger.instrument import ReplayingClient
from studio.debugger.overrides import Mock, Overrides, Pin
from studio.debugger.recording import LeftRecording, RecordedCall, Recording, Tape, recorded
from studio.debugger.run_tests import made_from
from studio.debugger.session import RunSession
from studio.debugger.states import RunState
from studio.engine import AgentHost, Context, FunctionExecutor, Workflow, WorkflowBuilder
from studio.engine import events as ev
from studio.engine.hosts.subworkflow import SubWorkflowExecutor
from studio.engine.types import ANY

from tests.debugger.graphs import Asker, Bench, chain, diamond, until, upper
from tests.fakes.scripted_client import ScriptedClient

S = RunState


def text(id: str, wait: Callable[[], Awaitable[object]] | None = None, *, yields: bool = False) -> FunctionExecutor:
    """Takes anything, and gives its text with the id behind it."""

    async def run(data: Any, ctx: Context) -> None:
        if wait is not None:
            await wait()
        made = f"{value_text(data)}-{id}"
        ctx.yield_output(made) if yields else ctx.send(made)

    return FunctionExecutor(id, run, accepts=ANY, sends=(str,), yields=(str,) if yields else ())


def end() -> FunctionExecutor:
    return text("end", yields=True)


def host(id: str, client: ScriptedClient, *tools: Tool) -> AgentHost:
    return AgentHost(Agent(id, client, tools=tools), id)


async def completed(session: RunSession) -> RunSession:
    session.run()
    await session.ended()
    assert session.state is S.COMPLETED, session.failure
    return session


def texts(bench: Bench) -> list[str]:
    return [getattr(o, "text", o) for o in bench.outputs]


# ------------------------------------------------------------------------------------------- pins, mutes, mocks


async def test_a_pinned_agent_is_not_called_and_the_next_one_gets_the_reply() -> None:
    first, second = ScriptedClient(["real"]), ScriptedClient([{"echo": "got "}])
    bench = Bench(lambda: chain(host("a", first), host("b", second)))
    overrides = Overrides(pins={"a": Pin("pinned reply", "run 3")})
    await completed(bench.session(overrides=overrides))
    assert first.requests == []
    assert second.requests[0].messages[-1].text == "pinned reply"
    assert [e.kind for e in bench.kinds(ev.NodeEvent)] == ["pinned"]
    assert [e.node for e in bench.kinds(ev.ModelCallStarted)] == ["b"]


async def test_a_pinned_agent_of_a_workflow_inside_is_named_by_its_path() -> None:
    client = ScriptedClient(["real"])

    def graph() -> Workflow:
        inner = WorkflowBuilder(host("x", client), name="inner").build()
        return chain(SubWorkflowExecutor(inner, "sub"), end())

    bench = Bench(graph)
    await completed(bench.session(overrides=Overrides(pins={"sub/x": Pin("inside")})))
    assert client.requests == []


async def test_a_muted_node_passes_its_input() -> None:
    client = ScriptedClient(["real"])
    bench = Bench(lambda: chain(upper("a"), host("w", client), text("b"), end()))
    await completed(bench.session(overrides=Overrides(muted={"w"})))
    assert client.requests == []
    assert bench.outputs == ["go-a-b-end"]


async def test_a_mocked_tool_is_not_run() -> None:
    ran: list[Any] = []

    async def search(arguments: dict[str, Any]) -> Any:
        ran.append(arguments)
        return "real"

    call = {"calls": [{"id": "c", "tool": "search", "arguments": {"q": "x"}}]}
    for mock, wanted in ((Mock({"hits": 3}), '{"hits": 3}'), (Mock(error="no network"), "Error: no network")):
        client = ScriptedClient([call, "end"])
        tool = Tool("search", "", {"type": "object"}, search)
        bench = Bench(lambda c=client, t=tool: chain(host("a", c, t), end()))  # type: ignore[misc]
        await completed(bench.session(overrides=Overrides(mocks={"search": mock})))
        assert ran == []
        assert client.requests[1].messages[-1].parts[0].result == wanted  # type: ignore[union-attr]


def test_a_configuration_is_kept_as_json() -> None:
    overrides = Overrides({"a": Pin({"x": 1}, "run 2")}, {"b"}, {"t": Mock(None, "broken")})
    again = Overrides()
    again.take(overrides.to_json())
    assert again == overrides
    assert overrides.note() == "1 pinned, 1 muted, 1 tool mocked"
    again.take({"pins": 3, "muted": {}, "mocks": {"x": 1}})
    assert not again


# ------------------------------------------------------------------------------------------------------ replay


def research(ran: list[str]) -> tuple[Callable[[], Workflow], list[ScriptedClient]]:
    """Two agents side by side, one with a tool, then code."""

    async def search(arguments: dict[str, Any]) -> Any:
        ran.append("search")
        return f"found {arguments['q']}"

    call = {"calls": [{"id": "c", "tool": "search", "arguments": {"q": "x"}}]}
    clients = [ScriptedClient([call, "left done"], usage=Usage(10, 2)), ScriptedClient(["right done"])]

    async def code() -> None:
        ran.append("code")

    def graph() -> Workflow:
        tool = Tool("search", "", {"type": "object"}, search)
        left, right = host("left", clients[0], tool), host("right", clients[1])
        start, after = upper("start", code), text("after", code)
        return WorkflowBuilder(start, name="r").fan_out(start, [left, right]).chain([left, after, end()]).build()

    return graph, clients


async def test_a_replay_is_exact_and_calls_neither_model_nor_tool() -> None:
    ran: list[str] = []
    graph, clients = research(ran)
    bench = Bench(graph)
    first = await completed(bench.session())
    events, told = list(bench.events), list(ran)
    bench.events.clear()
    asked = [len(c.requests) for c in clients]
    tape = Tape(recorded(events))
    again = await completed(bench.session(id="again", tape=tape))
    assert [len(c.requests) for c in clients] == asked
    assert ran == told == ["code", "search", "code"]
    assert tape.left == {}

    def outline(seen: list[ev.Event]) -> list[Any]:
        return [
            (type(e).__name__, getattr(e, "node", ""), getattr(e, "data", None))
            for e in seen
            if isinstance(e, ev.NodeFinished | ev.ModelCallFinished | ev.ToolFinished)
        ]

    assert sorted(map(repr, outline(bench.events))) == sorted(map(repr, outline(events)))
    assert texts(bench) == [getattr(e.data, "text", e.data) for e in events if isinstance(e, ev.OutputYielded)]
    assert [getattr(o, "text", o) for o in again.outputs] == [getattr(o, "text", o) for o in first.outputs]


async def test_a_replay_stops_at_breakpoints() -> None:
    graph, clients = research([])
    bench = Bench(graph)
    await completed(bench.session())
    tape = Tape(recorded(bench.events))
    session = bench.session(id="again", tape=tape, breakpoints={"right"})
    session.run()
    await until(lambda: session.state is S.PAUSED)
    session.continue_()
    await session.ended()
    assert [len(c.requests) for c in clients] == [2, 1]


async def test_a_replay_that_asks_something_else_calls_the_model_from_there_on_and_says_so() -> None:
    clients = [ScriptedClient(["one", "other"]), ScriptedClient([{"echo": "b: "}, {"echo": "b again: "}])]
    bench = Bench(lambda: chain(host("a", clients[0]), host("b", clients[1])))
    await completed(bench.session())
    recording = recorded(bench.events)
    bench.events.clear()
    tape = Tape(recording.without({"a": "its prompt has changed"}), name_of=str.upper)
    await completed(bench.session(id="again", tape=tape))
    assert [len(c.requests) for c in clients] == [2, 2]
    warned = [e.message for e in bench.kinds(ev.RunWarned)]
    assert warned == [
        "A leaves the recording: its prompt has changed. From here on the model is called.",
        "B leaves the recording: it asks something else than in the recording. From here on the model is called.",
    ]
    assert set(tape.left) == {"a", "b"}


async def test_a_strict_replay_fails_instead() -> None:
    client = ScriptedClient(["one", "two"])
    bench = Bench(lambda: chain(host("a", client), end()))
    await completed(bench.session())
    tape = Tape(recorded(bench.events).without({"a"}), strict=True)
    session = bench.session(id="again", tape=tape)
    session.run()
    await session.ended()
    assert session.state is S.FAILED
    assert isinstance(session.error, LeftRecording)
    assert len(client.requests) == 1


async def test_by_position_the_replies_are_given_whatever_is_asked() -> None:
    client = ScriptedClient(["one"])
    bench = Bench(lambda: chain(host("a", client), end()))
    await completed(bench.session())
    tape = Tape(recorded(bench.events), by_position=True)
    await completed(bench.session("another input", id="again", tape=tape))
    assert len(client.requests) == 1
    assert tape.left == {}


async def test_answers_of_people_are_given_again() -> None:
    bench = Bench(lambda: diamond(Asker("left"), Asker("right")))
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    by_node = {r.node: r.id for r in session.requests}
    session.answer({by_node["right"]: "r"})
    await until(lambda: session.state is S.WAITING and len(session.requests) == 1)
    session.answer({by_node["left"]: "l"})
    await session.ended()
    recording = recorded(bench.events)
    assert recording.answers == [[("right", "r")], [("left", "l")]]
    bench.events.clear()
    await completed(bench.session(id="again", tape=Tape(recording)))
    assert bench.outputs == ["l+r"]


async def test_a_node_that_asks_for_two_things_gets_each_answer_where_it_was_given() -> None:
    """A call that the caller runs and an approval, given together, in another order than they were asked for."""
    calls = [{"id": "c1", "tool": "ask", "arguments": {}}, {"id": "c2", "tool": "mail", "arguments": {}}]
    client = ScriptedClient([{"calls": calls}, "done"])

    async def mail(_arguments: dict[str, Any]) -> str:
        return "mailed"

    tools = (Tool("ask", "", {"type": "object"}), Tool("mail", "", {"type": "object"}, mail, "always"))
    bench = Bench(lambda: chain(host("clerk", client, *tools), end()))
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    asked = {type(r.data): r for r in session.requests}
    request = asked[ApprovalRequest]
    approved = ApprovalResponse(request.data.id, True, request.data.call)
    session.answer({request.id: approved, asked[ToolCall].id: ToolResult("c1", "by Friday")})
    await session.ended()
    recording = recorded(bench.events)
    assert [[type(value) for _node, value in batch] for batch in recording.answers] == [[ApprovalResponse, ToolResult]]
    made = made_from(recording, "t", "t.workflow.json", "go", [])
    assert made.answers == [
        [
            {"node": "clerk", "tool": "mail", "value": True},
            {"node": "clerk", "tool": "ask", "value": "by Friday"},
        ]
    ]
    steps, bench.events[:] = len(bench.kinds(ev.SuperstepStarted)), []
    tape = Tape(recording)
    await completed(bench.session(id="again", tape=tape))
    assert (len(bench.kinds(ev.SuperstepStarted)), len(client.requests), tape.left) == (steps, 2, {})


async def test_the_speed_stretches_what_the_model_took() -> None:
    recording = Recording(calls={"a": [RecordedCall(None, AgentReply((assistant("x"),)), 0.04)]})
    loop = asyncio.get_running_loop()
    took = []
    for speed in (0.5, 0):
        client = ReplayingClient(ScriptedClient([]), "a", Tape(recording, speed=speed))
        began = loop.time()
        await client.complete(ChatRequest(()), chunk=None, hooks=NoHooks())
        took.append(loop.time() - began)
    assert took[0] >= 0.075
    assert took[1] < took[0]


async def test_a_streamed_answer_is_streamed_again() -> None:
    client = ScriptedClient([{"chunks": ["a long answer ", "that comes ", "in pieces"]}])
    bench = Bench(lambda: chain(host("a", client), end()))
    await completed(bench.session())
    recording = recorded(bench.events)
    bench.events.clear()
    await completed(bench.session(id="again", tape=Tape(recording)))
    tokens = bench.kinds(ev.TokensArrived)
    assert len(tokens) > 1
    assert "".join(t.text for t in tokens) == "a long answer that comes in pieces"


@pytest.mark.parametrize("excluded", [{"sub"}, {"sub/x"}])
def test_what_is_inside_an_excluded_node_is_excluded(excluded: set[str]) -> None:
    events = [
        ev.NodeStarted(0.0, 1, "x", "i1", (), "d", ("sub",)),
        ev.NodeFinished(0.1, 1, "x", "i1", ("e",), ("sub",)),
        ev.NodeStarted(0.2, 1, "y", "i2", (), "d"),
        ev.NodeFinished(0.3, 1, "y", "i2", ("e",)),
    ]
    assert [i.path for i in recorded(events).invocations] == ["sub/x", "y"]
    assert [i.path for i in recorded(events).without(excluded).invocations] == ["y"]


def test_ids_of_approvals_are_made_anew_in_every_run() -> None:
    def response(id: str, tool: str = "send") -> AgentResponse:
        call = ToolCall("c1", tool)
        asked = Message("assistant", (call, ApprovalRequest(id, call)))
        said = (user("go"), asked, Message("user", (ApprovalResponse(id, True, call),)))
        return AgentResponse("a", AgentReply((assistant("sent"),)), said)

    events: list[ev.Event] = [
        ev.NodeStarted(0.0, 1, "f", "i1", (), [response("approval_1")]),
        ev.NodeFinished(0.1, 1, "f", "i1", ("x",)),
    ]
    assert Tape(recorded(events)).invocation("f", [response("approval_2")]) is not None
    tape = Tape(recorded(events))
    assert tape.invocation("f", [response("approval_2", "other")]) is None
    assert set(tape.left) == {"f"}
