"""The conversation runner: statements B1 to B32, but for failures (their own file)."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest
from studio.agents import ClientSettings, Message, Text, Tool, ToolCall, ToolResult, Usage
from studio.agents.runner import (
    ConversationRunner,
    EngineCalled,
    HandedOff,
    Handoff,
    LimitReached,
    MemorySessions,
    ReentrantTurnError,
    RunnerAgent,
    RunnerClosedError,
    RunnerError,
    RunnerSetupError,
    RunningLoopError,
    TurnFinished,
    TurnStarted,
    UnknownAgentError,
    handoff_tool_name,
)
from studio.agents.runner.turn import LIMIT_TEXT, NOT_EXECUTED
from studio.agents.runner.window import windowed
from studio.agents.threads import threaded
from tests.fakes.scripted_client import ScriptedClient


def transfer(*targets: str, reason: str | None = None) -> dict[str, Any]:
    arguments = {} if reason is None else {"reason": reason}
    return {
        "calls": [{"id": f"t{n}", "tool": f"transfer_to_{t}", "arguments": arguments} for n, t in enumerate(targets)]
    }


def calling(*tools: str) -> dict[str, Any]:
    return {"calls": [{"id": f"c{n}_{t}", "tool": t, "arguments": {}} for n, t in enumerate(tools)]}


def tool(name: str = "look", result: Any = "found") -> Tool:
    async def run(arguments: dict[str, Any]) -> Any:
        if isinstance(result, BaseException):
            raise result
        return result

    return Tool(name, "", None, run)


def pair(*replies: Any, **options: Any) -> tuple[ConversationRunner, ScriptedClient, RunnerAgent, RunnerAgent]:
    """Triage and billing, who may hand over to each other."""
    client = ScriptedClient(replies, usage=Usage(1, 1))
    triage = RunnerAgent("Triage", "route", (tool(),), specialty="Routes people.")
    billing = RunnerAgent("Billing", "bills", (tool("refund", "done"),), [triage], "Knows invoices.")
    triage.handoffs.append(billing)
    return ConversationRunner(triage, engine=client, **options), client, triage, billing


def results(session: dict[str, Any]) -> list[Any]:
    return [p["result"] for m in session["messages"] for p in m["parts"] if p["type"] == "function_result"]


async def test_b1_defaults() -> None:
    runner, *_ = pair("hi")
    assert (runner._settings.max_handoffs, runner._settings.max_iterations) == (5, 10)
    assert isinstance(runner._sessions, MemorySessions)
    assert runner._settings.tool_error == "rollback"


async def test_b2_all_reachable_agents_are_known_also_in_circles_and_later() -> None:
    runner, *_ = pair("hi")
    assert runner.agents == ("Triage", "Billing")
    other = RunnerAgent("Other")
    runner.register_agent(RunnerAgent("Third", handoffs=[other]))
    assert runner.agents == ("Triage", "Billing", "Third", "Other")


async def test_b3_two_agents_with_one_name() -> None:
    with pytest.raises(RunnerSetupError, match="'B'"):
        ConversationRunner(RunnerAgent("A", handoffs=[RunnerAgent("B"), RunnerAgent("C", handoffs=[RunnerAgent("B")])]))
    runner, *_ = pair("hi")
    with pytest.raises(RunnerSetupError):
        runner.register_agent(RunnerAgent("Billing"))
    assert runner.agents == ("Triage", "Billing")


async def test_b4_active_agent_stays_over_turns() -> None:
    runner, client, *_ = pair(transfer("billing"), "billing here", "still billing", "new: triage")
    assert (await runner.run_async("q", "s")).active_agent_name == "Billing"
    assert (await runner.run_async("q2", "s")).content == "still billing"
    assert client.requests[2].instructions == "bills"
    assert (await runner.run_async("q", "other")).active_agent_name == "Triage"


async def test_b5_agents_own_engine_then_its_connection_then_the_runners() -> None:
    own, shared, opened = ScriptedClient(["own"]), ScriptedClient(["shared"]), ScriptedClient(["opened"])
    built: list[ClientSettings] = []

    def connect(settings: ClientSettings) -> ScriptedClient:
        built.append(settings)
        return opened

    settings = ClientSettings("http://127.0.0.1:1/v1")
    for agent, expected in (
        (RunnerAgent("A", client=own, connection=settings), "own"),
        (RunnerAgent("A", connection=settings), "opened"),
        (RunnerAgent("A"), "shared"),
    ):
        runner = ConversationRunner(agent, engine=shared, connect=connect)
        assert (await runner.run_async("q")).content == expected
    assert built == [settings]
    with pytest.raises(RunnerError, match="no engine"):
        await ConversationRunner(RunnerAgent("A")).run_async("q")
    keyed = ConversationRunner(RunnerAgent("A"), api_key="k", connect=connect)
    with pytest.raises(Exception, match="exhausted"):
        await keyed.run_async("q")
    assert (built[1].api_key, built[1].base_url) == ("k", "https://api.openai.com/v1")


async def test_b6_one_session_in_line_others_beside() -> None:
    order: list[str] = []
    doors = {name: asyncio.Event() for name in ("s1", "s2", "s3", "t1")}

    class Doors(ScriptedClient):
        async def complete(self, request: Any, *, chunk: Any, hooks: Any) -> Any:
            name = request.messages[-1].text
            order.append(f"{name}>")
            await doors[name].wait()
            order.append(f"{name}<")
            return await super().complete(request, chunk=chunk, hooks=hooks)

    runner = ConversationRunner(RunnerAgent("A"), engine=Doors(["x"], then="repeat_last"))
    async with asyncio.TaskGroup() as group:
        for name in ("s1", "s2", "s3", "t1"):
            group.create_task(runner.run_async(name, name[0]))
            await asyncio.sleep(0)
        for _ in range(20):
            await asyncio.sleep(0)
        assert order == ["s1>", "t1>"]
        for name in ("t1", "s3", "s2", "s1"):
            doors[name].set()
    assert [entry for entry in order if entry[0] == "s"] == ["s1>", "s1<", "s2>", "s2<", "s3>", "s3<"]
    assert runner._lines._lines == {}


async def test_cancelled_while_waiting_gives_the_place_up() -> None:
    door = asyncio.Event()

    async def wait(seconds: float) -> None:
        await door.wait()

    client = ScriptedClient([{"text": "a", "wait_ms": 1}, "b", "c"], wait=wait)
    runner = ConversationRunner(RunnerAgent("A"), engine=client)
    first = asyncio.ensure_future(runner.run_async("1"))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(runner.run_async("2"))
    third = asyncio.ensure_future(runner.run_async("3"))
    await asyncio.sleep(0)
    second.cancel()
    door.set()
    assert (await first).content == "a"
    assert (await third).content == "b"
    assert second.cancelled()


async def test_b7_b8_order_of_a_turn_and_one_message_of_results() -> None:
    runner, client, *_ = pair(calling("look", "look"), "done")
    events: list[Any] = []
    response = await runner.run_async("q", "s", events=events.append)
    names = [type(event).__name__ for event in events]
    assert names == [
        "TurnStarted",
        "MessageAdded",
        "EngineCalled",
        "MessageAdded",
        "RunnerToolStarted",
        "RunnerToolFinished",
        "RunnerToolStarted",
        "RunnerToolFinished",
        "MessageAdded",
        "EngineCalled",
        "MessageAdded",
        "TurnFinished",
    ]
    assert events[0] == TurnStarted("s", 0)
    assert [m.role for m in client.requests[1].messages] == ["user", "assistant", "tool"]
    assert len(client.requests[1].messages[2].parts) == 2
    assert [e.number for e in events if isinstance(e, EngineCalled)] == [1, 2]
    assert events[-1] == TurnFinished("s", response)
    assert response.usage == Usage(2, 2)
    assert [m.role for m in response.messages] == ["assistant", "tool", "assistant"]


async def test_b16_handoff_tools() -> None:
    assert handoff_tool_name("Tech  Support (Level-2)!") == "transfer_to_tech_support_level_2"
    runner, client, *_ = pair("hi")
    await runner.run_async("q")
    (look, handoff) = client.requests[0].tools
    assert (look.name, handoff.name) == ("look", "transfer_to_billing")
    assert "Billing" in handoff.description
    assert "invoices" in handoff.description
    assert handoff.schema["properties"]["reason"]["type"] == "string"
    assert "required" not in handoff.schema


@pytest.mark.parametrize(
    "agent",
    [
        RunnerAgent("A", tools=(tool("transfer_to_b"),), handoffs=[RunnerAgent("B")]),
        RunnerAgent("A", handoffs=[RunnerAgent("B b"), RunnerAgent("b-B")]),
        RunnerAgent("A", tools=(Tool("ask", run=tool().run, approval="always"),)),
        RunnerAgent("A", tools=(Tool("declared"),)),
        RunnerAgent("A", handoffs=[RunnerAgent("A")]),
    ],
)
async def test_b16_b17_agents_that_cannot_be(agent: RunnerAgent) -> None:
    with pytest.raises(RunnerSetupError):
        ConversationRunner(agent)


async def test_b18_transfer_takes_effect_at_once_with_the_whole_history() -> None:
    runner, client, *_ = pair(transfer("billing", reason="invoice"), "hello")
    events: list[Any] = []
    response = await runner.run_async("q", events=events.append)
    assert client.requests[1].instructions == "bills"
    assert [m.role for m in client.requests[1].messages] == ["user", "assistant", "tool"]
    (result,) = client.requests[1].messages[2].parts
    assert isinstance(result, ToolResult)
    assert result.result == '{"status": "success", "target": "Billing", "reason": "invoice"}'
    assert HandedOff("default", "Triage", "Billing", "invoice") in events
    assert (response.handoff, response.handoff_count) == (Handoff("Billing", "invoice"), 1)
    assert response.tool_calls_executed == ("transfer_to_billing",)
    assert response.messages[-1].author == "Billing"


async def test_b19_target_that_is_not_registered() -> None:
    sessions = MemorySessions()
    runner, _, triage, _ = pair(transfer("late"), sessions=sessions)
    triage.handoffs.append(RunnerAgent("Late"))
    with pytest.raises(UnknownAgentError, match="Late"):
        await runner.run_async("q")
    assert sessions.records == {}


async def test_b20_one_transfer_too_many() -> None:
    sessions = MemorySessions()
    both = {"calls": [*transfer("triage")["calls"], *calling("refund")["calls"]]}
    runner, _, *_ = pair(transfer("billing"), both, "I do it", sessions=sessions, max_handoffs_per_turn=1)
    events: list[Any] = []
    response = await runner.run_async("q", "s", events=events.append)
    assert response.active_agent_name == "Billing"
    assert response.content == "I do it"
    assert LimitReached("s", "handoffs") in events
    stored = await sessions.load("s")
    assert stored is not None
    told = results(stored)
    assert "limit of 1 hand-offs" in told[1]
    assert told[2] == NOT_EXECUTED
    assert response.tool_calls_executed == ("transfer_to_billing", "transfer_to_triage")
    assert response.handoff_count == 1


async def test_b21_first_transfer_of_a_batch_wins() -> None:
    client = ScriptedClient([transfer("b", "c"), "from b"])
    agents = [RunnerAgent("B"), RunnerAgent("C")]
    sessions = MemorySessions()
    runner = ConversationRunner(RunnerAgent("A", handoffs=agents), sessions, client)
    response = await runner.run_async("q", "s")
    assert (response.active_agent_name, response.handoff_count) == ("B", 1)
    stored = await sessions.load("s")
    assert stored is not None
    assert results(stored)[1] == "Error: the conversation was handed over already."


async def test_b22_unknown_tool_and_wrong_arguments_are_told() -> None:
    runner, client, *_ = pair(calling("nothing"), "done")
    response = await runner.run_async("q")
    assert response.tool_calls_executed == ("nothing",)
    (result,) = client.requests[1].messages[2].parts
    assert isinstance(result, ToolResult)
    assert "not found" in str(result.result)


async def test_b23_too_many_model_calls() -> None:
    sessions = MemorySessions()
    runner, client, *_ = pair(calling("look"), calling("look"), sessions=sessions, max_tool_iterations=2)
    response = await runner.run_async("q", "s")
    assert (response.content, response.limit_reached, response.iterations) == (LIMIT_TEXT, True, 2)
    assert len(client.requests) == 2
    stored = await sessions.load("s")
    assert stored is not None
    assert stored["messages"][-1]["parts"] == [{"type": "text", "text": LIMIT_TEXT}]


async def test_b24_response_without_anything_special() -> None:
    runner, *_ = pair("hi")
    response = await runner.run_async("q")
    assert (response.content, response.active_agent_name, response.tool_calls_executed) == ("hi", "Triage", ())
    assert (response.handoff, response.iterations, response.handoff_count, response.limit_reached) == (
        None,
        1,
        0,
        False,
    )


async def test_b25_metadata_is_merged_every_time() -> None:
    sessions = MemorySessions()
    runner, *_ = pair("a", "b", sessions=sessions)
    await runner.run_async("1", "s", metadata={"a": 1, "b": 1})
    await runner.run_async("2", "s", metadata={"b": 2})
    stored = await sessions.load("s")
    assert stored is not None
    assert stored["metadata"] == {"a": 1, "b": 2}


def test_b26_run_outside_a_loop() -> None:
    runner, *_ = pair("hi", "again")
    assert runner.run("q").content == "hi"
    assert runner.run("q").content == "again"


async def test_b26_run_inside_a_loop_is_refused_before_anything() -> None:
    runner, client, *_ = pair("hi")
    with pytest.raises(RunningLoopError, match="run_async"):
        runner.run("q")
    assert client.requests == []


async def test_b27_context_manager_closes_what_the_runner_opened() -> None:
    opened, shared = ScriptedClient(["x"]), ScriptedClient([])
    agent = RunnerAgent("A", connection=ClientSettings("http://127.0.0.1:1/v1"))
    async with ConversationRunner(agent, engine=shared, connect=lambda settings: opened) as runner:
        await runner.run_async("q")
        assert not opened.closed
    assert (opened.closed, shared.closed) == (True, False)
    with pytest.raises(RunnerClosedError):
        await runner.run_async("q")
    with pytest.raises(RunnerClosedError):
        async with runner:
            pass


@pytest.mark.parametrize("thread", [False, True])
@pytest.mark.parametrize("same", [True, False])
async def test_b28_b29_a_tool_that_calls_the_runner(thread: bool, same: bool) -> None:
    """The same session is refused at once, another one works; also from a worker thread."""
    session = "s" if same else "other"

    async def inside(arguments: dict[str, Any]) -> str:
        return (await runner.run_async("inner", session)).content

    def blocking(arguments: dict[str, Any]) -> str:
        return runner.run("inner", session).content

    nested = Tool("nested", "", None, threaded(blocking) if thread else inside)
    client = ScriptedClient([calling("nested"), "inner answer", "done"] if not same else [calling("nested"), "done"])
    sessions = MemorySessions()
    runner = ConversationRunner(RunnerAgent("A", tools=(nested,)), sessions, client, tool_error="report")
    response = await runner.run_async("q", "s")
    assert response.content == "done"
    stored = await sessions.load("s")
    assert stored is not None
    (told,) = results(stored)
    assert ("Function failed" in told) if same else told == "inner answer"


async def test_b28_under_rollback_the_error_itself_comes_out() -> None:
    async def inside(arguments: dict[str, Any]) -> str:
        return (await runner.run_async("inner", "s")).content

    client = ScriptedClient([calling("nested")])
    runner = ConversationRunner(RunnerAgent("A", tools=(Tool("nested", "", None, inside),)), engine=client)
    with pytest.raises(ReentrantTurnError):
        await runner.run_async("q", "s")


async def test_a_task_that_outlives_its_turn_may_start_another() -> None:
    tasks: list[asyncio.Task[Any]] = []
    go = asyncio.Event()

    async def later() -> Any:
        await go.wait()
        return await runner.run_async("later", "s")

    async def start(arguments: dict[str, Any]) -> str:
        tasks.append(asyncio.create_task(later()))
        return "started"

    client = ScriptedClient([calling("start"), "done", "later too"])
    runner = ConversationRunner(RunnerAgent("A", tools=(Tool("start", "", None, start),)), engine=client)
    await runner.run_async("q", "s")
    go.set()
    assert (await tasks[0]).content == "later too"


async def test_b30_cancelled_while_a_blocking_tool_runs_holds_the_line_until_it_ended() -> None:
    entered, leave, over = threading.Event(), threading.Event(), threading.Event()

    def blocking(arguments: dict[str, Any]) -> str:
        entered.set()
        leave.wait(5)
        over.set()
        return "late"

    sessions = MemorySessions()
    client = ScriptedClient([calling("block"), "second"])
    agent = RunnerAgent("A", tools=(Tool("block", "", None, threaded(blocking)),))
    runner = ConversationRunner(agent, sessions, client)
    turn = asyncio.ensure_future(runner.run_async("q", "s"))
    await asyncio.to_thread(entered.wait, 5)
    turn.cancel()
    second = asyncio.ensure_future(runner.run_async("q2", "s"))
    for _ in range(5):
        await asyncio.sleep(0)
    assert not turn.done()
    assert len(client.requests) == 1
    leave.set()
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert over.is_set()
    assert (await second).content == "second"
    assert len(client.requests[1].messages) == 1


async def test_b30_a_thread_that_does_not_end_is_abandoned() -> None:
    entered, leave = threading.Event(), threading.Event()

    def blocking(arguments: dict[str, Any]) -> str:
        entered.set()
        leave.wait(5)
        raise ValueError("nobody hears this")

    client = ScriptedClient([calling("block")])
    agent = RunnerAgent("A", tools=(Tool("block", "", None, threaded(blocking, abandon_after=0.02)),))
    runner = ConversationRunner(agent, engine=client)
    turn = asyncio.ensure_future(runner.run_async("q"))
    await asyncio.to_thread(entered.wait, 5)
    turn.cancel()
    with pytest.raises(asyncio.CancelledError):
        await turn
    leave.set()


def said(role: Any, text: str, *parts: Any) -> Message:
    return Message(role, (Text(text), *parts))


def test_b31_window_takes_whole_turns() -> None:
    messages = [
        said("system", "rules"),
        said("user", "1"),
        said("assistant", "", ToolCall("a", "t")),
        Message("tool", (ToolResult("a"),)),
        said("assistant", "one"),
        said("user", "2"),
        said("system", "more rules"),
        said("assistant", "two"),
        said("user", "3"),
    ]
    assert [m.text for m in windowed(messages, 2)] == ["rules", "2", "more rules", "two", "3"]
    assert [m.text for m in windowed(messages, 1)] == ["rules", "more rules", "3"]
    assert windowed(messages, 3) == messages
    assert windowed(messages, None) == messages


async def test_b31_the_model_and_the_store_have_the_window() -> None:
    sessions = MemorySessions()
    runner, client, *_ = pair("a", "b", "c", sessions=sessions, history_turns=2)
    for text in ("1", "2", "3"):
        await runner.run_async(text, "s")
    assert [m.text for m in client.requests[2].messages] == ["2", "b", "3"]
    stored = await sessions.load("s")
    assert stored is not None
    assert len(stored["messages"]) == 4


async def test_b32_many_sessions_of_one_runner() -> None:
    runner, client, *_ = pair(*(f"r{n}" for n in range(20)))
    async with asyncio.TaskGroup() as group:
        for n in range(20):
            group.create_task(runner.run_async(f"q{n}", f"s{n}"))
    assert [len(r.messages) for r in client.requests] == [1] * 20


async def test_streams_with_the_name_of_the_agent_that_speaks() -> None:
    runner, *_ = pair(transfer("billing"), {"chunks": ["hel", "lo"]})
    updates: list[Any] = []
    await runner.run_async("q", updates=updates.append)
    assert [(u.author, u.text) for u in updates if u.text] == [("Billing", "hel"), ("Billing", "lo")]
