"""Whatever a turn fails with, and wherever it is cancelled: its session is byte for byte what it was before."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from studio.agents import Tool
from studio.agents.runner import ConversationRunner, MemorySessions, RolledBack, RunnerAgent
from studio.files.sessions import SqliteSessions
from tests.fakes.scripted_client import ScriptedClient, ScriptedError


class WaitingSessions(MemorySessions):
    """A store that lets others run before and after each of its steps."""

    fails = False

    async def load(self, session: str) -> Any:
        await asyncio.sleep(0)
        found = await super().load(session)
        await asyncio.sleep(0)
        return found

    async def save(self, session: str, record: Mapping[str, Any]) -> None:
        await asyncio.sleep(0)
        await super().save(session, record)
        await asyncio.sleep(0)
        if self.fails:
            raise OSError("disk full")


class WaitingClient(ScriptedClient):
    """A client with waits of its own."""

    async def complete(self, request: Any, *, chunk: Any, hooks: Any) -> Any:
        await asyncio.sleep(0)
        reply = await super().complete(request, chunk=chunk, hooks=hooks)
        await asyncio.sleep(0)
        return reply


async def _work(arguments: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return "worked"


async def _fail(arguments: dict[str, Any]) -> str:
    await asyncio.sleep(0)
    raise ValueError("tool failed")


FIRST = {"text": "hello"}
WORK = {"calls": [{"id": "w", "tool": "work", "arguments": {}}, {"id": "w2", "tool": "work", "arguments": {}}]}
MOVE = {"calls": [{"id": "m", "tool": "transfer_to_billing", "arguments": {}}]}
FAIL = {"calls": [{"id": "f", "tool": "fail", "arguments": {}}]}
ERROR = {"error": "provider down"}


def conversation(sessions: Any, *replies: Any, **options: Any) -> ConversationRunner:
    tools = (Tool("work", "", None, _work), Tool("fail", "", None, _fail))
    billing = RunnerAgent("Billing", tools=tools)
    triage = RunnerAgent("Triage", tools=tools, handoffs=[billing])
    return ConversationRunner(triage, sessions, WaitingClient([FIRST, *replies]), **options)


async def begun(sessions: Any, *replies: Any, **options: Any) -> ConversationRunner:
    """A runner whose session has one whole turn."""
    runner = conversation(sessions, *replies, **options)
    await runner.run_async("hi", "s", metadata={"who": "ann"})
    return runner


SCENARIOS: dict[str, tuple[list[Any], type[Exception], tuple[str, ...]]] = {
    "B9 provider error at the first call": ([ERROR], ScriptedError, ()),
    "B9 provider error at the second call": ([WORK, ERROR], ScriptedError, ("work", "work")),
    "B13 provider error after a transfer": ([MOVE, ERROR], ScriptedError, ("transfer_to_billing",)),
    "B9 provider error at the fourth call": (
        [WORK, MOVE, WORK, ERROR],
        ScriptedError,
        ("work", "work", "transfer_to_billing", "work", "work"),
    ),
    "B10 tool error": ([WORK, FAIL], ValueError, ("work", "work", "fail")),
    "B10 tool error after a transfer": ([MOVE, FAIL], ValueError, ("transfer_to_billing", "fail")),
}


@pytest.mark.parametrize("history_turns", [40, 1], ids=["", "B12 pruned"])
@pytest.mark.parametrize("name", SCENARIOS)
async def test_failed_turn_leaves_the_store_as_it_was(name: str, history_turns: int) -> None:
    replies, error, executed = SCENARIOS[name]
    sessions = WaitingSessions()
    runner = await begun(sessions, *replies, "fine", history_turns=history_turns)
    before = dict(sessions.records)
    events: list[Any] = []
    with pytest.raises(error) as caught:
        await runner.run_async("again", "s", metadata={"who": "bob"}, events=events.append)
    assert sessions.records == before
    (rolled_back,) = [event for event in events if isinstance(event, RolledBack)]
    assert rolled_back.tools_executed == executed
    assert rolled_back.cause == error.__name__
    assert rolled_back.removed_count >= 1
    notes = getattr(caught.value, "__notes__", [])
    assert all(tool in notes[0] for tool in executed) if executed else notes == []
    assert (await runner.run_async("third", "s")).content == "fine"
    record = await sessions.load("s")
    assert record is not None
    assert record["active_agent"] == "Triage"
    assert record["metadata"] == {"who": "ann"}


async def test_b10_report_tells_the_model_with_a_trace_and_goes_on() -> None:
    sessions = MemorySessions()
    runner = await begun(sessions, FAIL, "sorry", tool_error="report")
    response = await runner.run_async("again", "s")
    assert (response.content, response.tool_calls_executed) == ("sorry", ("fail",))
    record = await sessions.load("s")
    assert record is not None
    (result,) = [p for m in record["messages"] for p in m["parts"] if p["type"] == "function_result"]
    assert result["result"].startswith("Error: Function failed (trace ")
    assert "tool failed" not in result["result"]


async def test_store_that_fails_is_told_and_the_next_turn_works() -> None:
    sessions = WaitingSessions()
    runner = await begun(sessions, "a", "b")
    sessions.fails = True
    with pytest.raises(OSError, match="disk full"):
        await runner.run_async("again", "s")


async def test_what_cannot_be_stored_undoes_the_turn() -> None:
    sessions = MemorySessions()
    runner = await begun(sessions, "a")
    before = dict(sessions.records)
    with pytest.raises(TypeError):
        await runner.run_async("again", "s", metadata={"x": object()})
    assert sessions.records == before


async def test_listener_that_raises_undoes_the_turn() -> None:
    sessions = MemorySessions()
    runner = await begun(sessions, "a")
    before = dict(sessions.records)

    def listen(event: Any) -> None:
        if type(event).__name__ == "EngineCalled":
            raise LookupError("listener")

    with pytest.raises(LookupError):
        await runner.run_async("again", "s", events=listen)
    assert sessions.records == before


async def steps(task: asyncio.Task[Any], number: int) -> None:
    """Lets the loop go round so many times."""
    for _ in range(number):
        if task.done():
            return
        await asyncio.sleep(0)


@pytest.mark.parametrize("fresh", [False, True], ids=["second turn", "first turn"])
async def test_b11_cancelled_at_every_point(fresh: bool) -> None:
    """Every point where the turn waits: the model, the tools, the store before and after it has written."""
    number, whole = 0, False
    while not whole:
        sessions = WaitingSessions()
        replies = [WORK, MOVE, WORK, "fine"]
        if fresh:
            runner = ConversationRunner(
                RunnerAgent(
                    "Triage",
                    tools=(Tool("work", "", None, _work),),
                    handoffs=[RunnerAgent("Billing", tools=(Tool("work", "", None, _work),))],
                ),
                sessions,
                WaitingClient(replies),
            )
        else:
            runner = await begun(sessions, *replies)
        before = dict(sessions.records)
        events: list[Any] = []
        turn = asyncio.create_task(runner.run_async("again", "s", metadata={"n": 1}, events=events.append))
        await steps(turn, number)
        whole = turn.done()
        if not whole:
            turn.cancel()
            with pytest.raises(asyncio.CancelledError):
                await turn
            assert sessions.records == before, f"cancelled after {number} steps"
            assert runner._lines._lines == {}
            started = any(type(event).__name__ == "TurnStarted" for event in events)
            assert started is any(isinstance(event, RolledBack) for event in events)
        number += 1
    assert number > 20


async def test_cancelled_again_while_the_old_record_is_put_back() -> None:
    sessions = WaitingSessions()
    runner = await begun(sessions, "fine")
    before = dict(sessions.records)
    turn = asyncio.create_task(runner.run_async("again", "s"))
    for _ in range(100):
        await asyncio.sleep(0)
        if sessions.records != before:
            break
    for _ in range(4):
        turn.cancel()
        await asyncio.sleep(0)
    with pytest.raises(asyncio.CancelledError):
        await turn
    assert sessions.records == before


# -------------------------------------------------------------------------------------------------------- SQLite


def rows(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT id, record FROM session ORDER BY id").fetchall()
    finally:
        connection.close()


@pytest.mark.parametrize("name", SCENARIOS)
async def test_b15_failed_turns_on_disk(name: str, tmp_path: Path) -> None:
    replies, error, _ = SCENARIOS[name]
    sessions = SqliteSessions(tmp_path / "sessions.db")
    runner = await begun(sessions, *replies)
    before = rows(tmp_path / "sessions.db")
    with pytest.raises(error):
        await runner.run_async("again", "s")
    assert rows(tmp_path / "sessions.db") == before
    await sessions.close()


async def test_b15_cancelled_turns_on_disk(tmp_path: Path) -> None:
    sessions = SqliteSessions(tmp_path / "sessions.db")
    await (await begun(sessions)).close()
    before = rows(tmp_path / "sessions.db")
    record = await sessions.load("s")
    assert record is not None
    cancelled = 0
    for number in range(0, 200, 4):
        turn = asyncio.create_task(conversation(sessions).run_async("again", "s"))
        await steps(turn, number)
        turn.cancel()
        try:
            await turn
        except asyncio.CancelledError:
            cancelled += 1
            assert rows(tmp_path / "sessions.db") == before
        else:
            await sessions.save("s", record)
    assert cancelled > 3
    await sessions.close()


async def test_b15_another_process_sees_whole_turns_only(tmp_path: Path) -> None:
    path = tmp_path / "sessions.db"
    sessions = SqliteSessions(path)
    runner = await begun(sessions, WORK, "fine")
    assert await sessions.ids() == ["s"]
    again = SqliteSessions(path)
    await runner.run_async("again", "s")
    record = await again.load("s")
    assert record is not None
    assert [m["role"] for m in record["messages"]] == ["user", "assistant", "user", "assistant", "tool", "assistant"]
    other = conversation(again)
    other._engine = ScriptedClient(["from another runner"])
    assert (await other.run_async("more", "s")).content == "from another runner"
    await again.delete("s")
    assert await again.load("s") is None
    await sessions.close()
    await again.close()
