"""Rows of histories in files and in SQLite, and a history of an agent in each."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from studio.agents import (
    Agent,
    ApprovalRequest,
    ApprovalResponse,
    Data,
    ErrorPart,
    Message,
    Reasoning,
    Session,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    UsagePart,
    user,
)
from studio.agents.plain import message_from_plain, message_to_plain
from studio.agents.stored_history import StoredHistory
from studio.files.histories import FileHistoryRows, SqliteHistoryRows
from studio.files.sessions import SqliteSessions

from tests.fakes.scripted_client import ScriptedClient

Open = Callable[[], Any]


@pytest.fixture(params=["file", "sqlite"])
async def opened(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Open]:
    """Opens the same rows, as each process would; closed after the test."""
    databases: list[SqliteHistoryRows] = []

    def open_rows() -> Any:
        if request.param == "file":
            return FileHistoryRows(tmp_path / "h")
        databases.append(SqliteHistoryRows(tmp_path / "h" / "h.db"))
        return databases[-1]

    yield open_rows
    for database in databases:
        await database.close()


@pytest.fixture
def rows(opened: Open) -> Any:
    return opened()


async def test_rows_keep_their_order_by_session(rows: Any, opened: Open) -> None:
    assert await rows.load("a") == []
    await rows.append("a", [{"n": 1}, {"n": 2}])
    await rows.append("b", [{"n": 9}])
    await rows.append("a", [{"n": 3, "text": "ünï\u2028\n"}])
    other = opened()
    assert await other.load("a") == [{"n": 1}, {"n": 2}, {"n": 3, "text": "ünï\u2028\n"}]
    assert await other.load("b") == [{"n": 9}]


@pytest.mark.parametrize("name", ["../../etc/passwd", "a/b", "", "..", "x" * 300, "CON\0", "é"])
async def test_any_name_of_a_session_is_a_file_in_the_folder(name: str, tmp_path: Path) -> None:
    rows = FileHistoryRows(tmp_path / "h")
    await rows.append(name, [{"n": 1}])
    assert await rows.load(name) == [{"n": 1}]
    assert [path.parent for path in tmp_path.rglob("*.jsonl")] == [tmp_path / "h"]


async def test_a_line_that_was_cut_is_a_call_that_never_was(tmp_path: Path) -> None:
    rows = FileHistoryRows(tmp_path)
    await rows.append("s", [{"n": 1}])
    with rows.path("s").open("ab") as file:
        file.write(b'[{"n": 2}, {"n"')
    assert await rows.load("s") == [{"n": 1}]
    await rows.append("s", [{"n": 3}])
    assert await rows.load("s") == [{"n": 1}, {"n": 3}]


async def test_all_rows_of_a_call_or_none(tmp_path: Path) -> None:
    rows = SqliteHistoryRows(tmp_path / "h.db")
    await rows.append("s", [{"n": 1}])
    with pytest.raises(TypeError):
        await rows.append("s", [{"n": 2}, {"n": object()}])
    assert await rows.load("s") == [{"n": 1}]
    await rows.close()


async def test_many_at_once(rows: Any) -> None:
    async with asyncio.TaskGroup() as group:
        for n in range(12):
            group.create_task(rows.append("s", [{"n": n}, {"n": n}]))
    found = [row["n"] for row in await rows.load("s")]
    assert sorted(found) == sorted([*range(12), *range(12)])
    assert [a == b for a, b in zip(found[::2], found[1::2], strict=True)] == [True] * 12


async def test_agent_with_a_stored_history_goes_on_in_another_process(rows: Any, opened: Open) -> None:
    first = Agent("bot", ScriptedClient(["one"]), providers=(StoredHistory(rows),))
    await first.run([user("1")], session=Session("s"))
    client = ScriptedClient(["two"])
    second = Agent("bot", client, providers=(StoredHistory(opened()),))
    await second.run([user("2")], session=Session("s"))
    assert [(m.role, m.text) for m in client.requests[0].messages] == [
        ("user", "1"),
        ("assistant", "one"),
        ("user", "2"),
    ]
    assert len(await rows.load("s")) == 4


async def test_nothing_is_stored_by_a_failed_run(rows: Any) -> None:
    bot = Agent("bot", ScriptedClient([{"error": "down"}]), providers=(StoredHistory(rows),))
    with pytest.raises(Exception, match="down"):
        await bot.run([user("1")], session=Session("s"))
    assert await rows.load("s") == []


CALL = ToolCall("c", "look", '{"q": 1}', {"origin": "x", "fields": {"sig": "y"}})


@pytest.mark.parametrize(
    "part",
    [
        Text("a"),
        Reasoning("b"),
        Data("data:,x", "text/plain", "data"),
        Data("http://x", "image/png"),
        Data("file-1", "", "hosted_file"),
        CALL,
        ToolCall("c", "look"),
        ToolResult("c", {"n": [1, None]}, None),
        ToolResult("c", "failed", "ValueError"),
        ApprovalRequest("a", CALL),
        ApprovalResponse("a", False, CALL),
        ErrorPart("m", "code"),
        UsagePart(Usage(1, None, 2, None, True)),
    ],
)
def test_every_part_survives(part: Any) -> None:
    message = Message("assistant", (part, Text("x")), "bot", "id1", {"k": [1]})
    assert message_from_plain(json.loads(json.dumps(message_to_plain(message)))) == message


def test_unknown_parts_are_refused() -> None:
    with pytest.raises(ValueError, match="unknown type"):
        message_from_plain({"role": "user", "parts": [{"type": "hologram"}]})


async def test_sessions_are_replaced_whole(tmp_path: Path) -> None:
    sessions = SqliteSessions(tmp_path / "deep" / "s.db")
    await sessions.save("a", {"n": 1})
    await sessions.save("a", {"n": 2, "é": "ü"})
    await sessions.save("b", {})
    assert await sessions.load("a") == {"n": 2, "é": "ü"}
    assert await sessions.ids() == ["a", "b"]
    await sessions.delete("b")
    await sessions.delete("never there")
    assert await sessions.ids() == ["a"]
    await sessions.close()
    with closing(sqlite3.connect(tmp_path / "deep" / "s.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
