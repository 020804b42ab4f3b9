"""Rows A5.1 to A5.10, failures, and histories around each model call."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from studio.agents import (
    ApprovalRequest,
    ApprovalResponse,
    HistoryProvider,
    InMemoryHistory,
    Message,
    Middleware,
    RunContext,
    Session,
    Text,
    assistant,
    user,
)
from tests.agents.pipeline import Log, LoggedClient, Noted, NotedHistory, add_tool, agent, around, call, shapes


@pytest.fixture
def log() -> Log:
    return []


async def test_a5_1_without_session_and_provider_nothing_is_remembered(log: Log) -> None:
    client = LoggedClient(["a", "b"], log)
    bot = agent(client)
    await bot.run([user("1")])
    await bot.run([user("2")])
    assert [len(r.messages) for r in client.requests] == [1, 1]


async def test_a5_2_with_providers_a_session_of_its_own_per_run(log: Log) -> None:
    sessions: list[Session] = []

    class Look(Noted):
        async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
            sessions.append(session)
            state["n"] = state.get("n", 0) + 1

    client = LoggedClient(["a", "b"], log)
    bot = agent(client, providers=(Look("p", log),))
    await bot.run([user("1")])
    await bot.run([user("2")])
    assert sessions[0] is not sessions[1]
    assert [s.state for s in sessions] == [{"p": {"n": 1}}] * 2


async def test_a5_3_a_session_without_history_is_its_own_history_behind_the_providers(log: Log) -> None:
    client = LoggedClient(["a", "b"], log)
    bot = agent(client, providers=(Noted("p", log, messages=[user("fact")]),))
    session = bot.new_session()
    await bot.run([user("1")], session=session)
    await bot.run([user("2")], session=session)
    assert shapes(client.requests[1].messages) == [
        ("user", t) if t != "a" else ("assistant", t) for t in ("fact", "1", "a", "2")
    ]
    assert shapes(session.messages)[:2] == [("user", "1"), ("assistant", "a")]
    assert session.state == {}


async def test_history_stands_where_the_list_says(log: Log) -> None:
    client = LoggedClient(["a", "b"], log)
    facts = Noted("p", log, messages=[user("fact")])
    bot = agent(client, providers=(InMemoryHistory(), facts))
    session = bot.new_session()
    await bot.run([user("1")], session=session)
    await bot.run([user("2")], session=session)
    assert [m.text for m in client.requests[1].messages] == ["1", "a", "fact", "2"]
    assert [m.text for m in session.messages] == ["1", "a", "2", "b"]


async def test_a5_5_what_is_stored(log: Log) -> None:
    facts = Noted("facts", log, messages=[user("fact")])
    other = Noted("other", log, messages=[user("noise")])
    full = NotedHistory(log, "full", load=False, store_context=True)
    some = NotedHistory(log, "some", load=False, store_context=True, store_context_from=("facts",), store_outputs=False)
    out = NotedHistory(log, "out", load=False, store_inputs=False)
    bot = agent(LoggedClient(["a"], log), providers=(facts, other, full, some, out))
    await bot.run([user("q")])
    assert [m.text for m in full.stored] == ["fact", "noise", "q", "a"]
    assert [m.text for m in some.stored] == ["fact", "q"]
    assert [m.text for m in out.stored] == ["a"]
    assert not any("load" in entry for entry in log)
    assert all(m.extra == {} for m in full.stored)


async def test_a_write_only_history_leaves_the_session_its_own(log: Log) -> None:
    client = LoggedClient(["a", "b"], log)
    audit = NotedHistory(log, "audit", load=False)
    bot = agent(client, providers=(audit,))
    session = bot.new_session()
    await bot.run([user("1")], session=session)
    await bot.run([user("2")], session=session)
    assert len(client.requests[1].messages) == 3
    assert [m.text for m in audit.stored] == ["1", "a", "2", "b"]


async def test_a5_6_a_repeated_transcript_is_not_stored_twice(log: Log) -> None:
    bot = agent(LoggedClient(["a", "b"], log), providers=(InMemoryHistory(),))
    session = bot.new_session()
    await bot.run([user("1")], session=session)
    await bot.run([user("1"), assistant("a"), user("2")], session=session)
    assert [m.text for m in session.messages] == ["1", "a", "2", "b"]


@pytest.mark.parametrize("failing_call", [1, 2])
async def test_a5_7_a_failure_before_the_after_phase_stores_nothing(log: Log, failing_call: int) -> None:
    replies: list[Any] = [call(1), "done"]
    replies[failing_call - 1] = {"error": "down"}
    history = NotedHistory(log)
    bot = agent(LoggedClient(replies, log), tools=(add_tool(log),), providers=(history,))
    session = bot.new_session()
    before = session.to_dict()
    with pytest.raises(Exception, match="down"):
        await bot.run([user("q")], session=session)
    assert (history.stored, session.to_dict()) == ([], before)
    assert ("TOOL" in log) is (failing_call == 2)


async def test_a5_8_a_failing_after_phase_stops_those_earlier_in_the_list(log: Log) -> None:
    history = NotedHistory(log)
    late = NotedHistory(log, "late", load=False)
    broken = Noted("broken", log, fails_after=RuntimeError("after"))
    bot = agent(LoggedClient(["a"], log), providers=(history, broken, late))
    with pytest.raises(RuntimeError, match="after"):
        await bot.run([user("q")])
    assert history.stored == []
    assert len(late.stored) == 2


async def test_a_failing_before_phase_asks_no_model(log: Log) -> None:
    bot = agent(LoggedClient(["a"], log), providers=(Noted("p", log, fails_before=RuntimeError("before")),))
    with pytest.raises(RuntimeError, match="before"):
        await bot.run([user("q")])
    assert log == ["p.before"]


async def test_a5_9_concurrent_runs_on_one_session_are_not_in_line(log: Log) -> None:
    go = asyncio.Event()

    async def wait(seconds: float) -> None:
        await go.wait()

    client = LoggedClient([{"text": "a", "wait_ms": 1}, {"text": "b", "wait_ms": 1}], log, wait=wait)
    bot = agent(client)
    session = bot.new_session()
    async with asyncio.TaskGroup() as group:
        group.create_task(bot.run([user("1")], session=session))
        group.create_task(bot.run([user("2")], session=session))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        go.set()
    assert [len(r.messages) for r in client.requests] == [1, 1]
    assert sorted(m.text for m in session.messages) == ["1", "2", "a", "b"]


async def test_a5_10_shared_session_and_forwarded_context_double_messages(log: Log) -> None:
    one, two = LoggedClient(["x"], log), LoggedClient(["y"], log)
    session = Session()
    await agent(one).run([user("hi")], session=session)
    await agent(two).run([user("hi"), Message("assistant", (Text("x"),), "bot")], session=session)
    assert [m.text for m in two.requests[0].messages] == ["hi", "x", "hi", "x"]


async def test_state_of_providers_stays_with_the_session_and_only_after_success(log: Log) -> None:
    class Counting(Noted):
        async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
            state["n"] = state.get("n", 0) + 1

    bot = agent(LoggedClient(["a", {"error": "down"}, "b"], log), providers=(Counting("count", log),))
    session = bot.new_session()
    await bot.run([user("1")], session=session)
    with pytest.raises(Exception, match="down"):
        await bot.run([user("2")], session=session)
    assert session.state == {"count": {"n": 1}}
    await bot.run([user("2")], session=session)
    assert session.state == {"count": {"n": 2}}


# ----------------------------------------------------------------------------------- around each model call


@pytest.mark.parametrize("stream", [False, True])
async def test_sequence_of_histories_around_each_call(log: Log, stream: bool) -> None:
    history = NotedHistory(log)
    bot = agent(
        LoggedClient([call(1), "done"], log),
        tools=(add_tool(log),),
        providers=(Noted("p", log, messages=[user("fact")]), history),
        middleware=Middleware(chat=(around("m", log),)) if not stream else Middleware(),
        store_per_call=True,
    )
    await bot.run([user("q")], updates=(lambda u: None) if stream else None)
    wrapped = [entry for entry in log if not entry.startswith("m")]
    assert wrapped == [
        "p.before",
        "history.load(0)",
        "history.save[user, assistant]",
        "TOOL",
        "history.load(2)",
        "history.save[tool, assistant]",
        "p.after",
    ]
    assert [e for e in log if e.startswith("model")] == ["model#1(2)", "model#2(4)"]
    assert [(m.role, m.author) for m in history.stored] == [
        ("user", None),
        ("assistant", "bot"),
        ("tool", None),
        ("assistant", "bot"),
    ]


async def test_per_call_history_keeps_the_calls_before_a_failure(log: Log) -> None:
    bot = agent(LoggedClient([call(1), {"error": "down"}], log), tools=(add_tool(log),), store_per_call=True)
    session = bot.new_session()
    with pytest.raises(Exception, match="down"):
        await bot.run([user("q")], session=session)
    assert [m.role for m in session.messages] == ["user", "assistant"]


async def test_per_call_history_over_turns_and_approvals(log: Log) -> None:
    client = LoggedClient([call(1), "done", "more"], log)
    bot = agent(client, tools=(add_tool(log, approval="always"),), store_per_call=True)
    session = bot.new_session()
    asked = await bot.run([user("q")], session=session)
    (request,) = asked.requests
    assert isinstance(request, ApprovalRequest)
    answer = Message("user", (ApprovalResponse(request.id, True, request.call),))
    await bot.run([answer], session=session)
    await bot.run([user("and?")], session=session)
    assert [m.role for m in session.messages] == ["user", "assistant", "tool", "assistant", "user", "assistant"]
    assert [m.role for m in client.requests[2].messages] == ["user", "assistant", "tool", "assistant", "user"]


async def test_whole_and_per_call_leave_the_same_session(log: Log) -> None:
    stored: list[list[tuple[str, str]]] = []
    for per_call in (False, True):
        bot = agent(LoggedClient([call(1), call(2), "done"], log), tools=(add_tool(log),), store_per_call=per_call)
        session = bot.new_session()
        await bot.run([user("q")], session=session)
        stored.append(shapes(session.messages))
    assert stored[0] == stored[1]


def test_a_history_must_say_how_it_stores() -> None:
    base = HistoryProvider()
    with pytest.raises(NotImplementedError):
        asyncio.run(base.get_messages(Session(), {}))
    with pytest.raises(NotImplementedError):
        asyncio.run(base.save_messages(Session(), [], {}))
