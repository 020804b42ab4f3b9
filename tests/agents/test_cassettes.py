"""Cassettes: recording lets everything through as it comes; replay is exact, offline, and says what is missing."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from studio.agents import (
    Agent,
    ChatRequest,
    ClientSettings,
    LoopSettings,
    Middleware,
    OpenAIChatClient,
    ProviderError,
    Tool,
    ToolFailure,
    ToolResult,
    Usage,
    user,
)
from studio.agents.cassettes import (
    CallEntry,
    Cassette,
    CassetteProblem,
    NotRecorded,
    ToolEntry,
    call_key,
    recording,
    recording_tools,
    replaying,
    replaying_tools,
)
from studio.agents.cassettes.tape import Tape
from tests.agents.conftest import Notes
from tests.fakes.scripted_client import ScriptedClient
from tests.fakes.scripted_server import HOLD, Given, ScriptedServer

KEY = "sk-canary-0123456789"


def chunk(text: str = "", **more: Any) -> bytes:
    choice = {"index": 0, "delta": {"content": text}, "finish_reason": None, **more}
    return b"data: " + json.dumps({"model": "big", "choices": [choice]}).encode() + b"\n\n"


END = b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'
USAGE = b'data: {"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}\n\ndata: [DONE]\n\n'


def answer(*texts: str) -> Given:
    return Given([*(chunk(text) for text in texts), END, USAGE])


def settings(url: str, **more: Any) -> ClientSettings:
    return ClientSettings(url, **{"api_key": KEY, "model": "m", "tries": 1, **more})


async def ask(given: ClientSettings, text: str = "hi", node: str = "Writer") -> tuple[str, list[str], Usage | None]:
    """The answer, its pieces and its usage."""
    client = OpenAIChatClient(given)
    pieces: list[str] = []
    try:
        request = ChatRequest((user(text),), node=node, call="m1")
        reply = await client.complete(request, chunk=lambda u: pieces.append(u.text), hooks=Notes())
    finally:
        await client.close()
    return reply.text, [piece for piece in pieces if piece], reply.usage


async def test_record_and_replay(tmp_path: Path) -> None:
    cassette = Cassette()
    async with ScriptedServer(answer("hel", "lo ", "wörld")) as server:
        recorded = await ask(recording(settings(server.url), cassette))
        assert recorded == ("hello wörld", ["hel", "lo ", "wörld"], Usage(3, 2))
        assert "x-superstep-node" not in server.received[0].headers
    (entry,) = cassette.calls
    assert (entry.node, entry.call_index, entry.model, entry.end) == ("Writer", 1, "big", "complete")
    assert entry.usage == {"prompt_tokens": 3, "completion_tokens": 2}
    cassette.save(tmp_path / "run.cassette.jsonl")
    again = Cassette.load(tmp_path / "run.cassette.jsonl")
    # Another provider, nothing listens there:
    assert await ask(replaying(settings("https://other.invalid/v9", api_key=""), again)) == recorded


async def test_pieces_pass_live_while_recording() -> None:
    arrived = asyncio.Event()
    async with ScriptedServer(Given([chunk("first"), HOLD])) as server:
        client = OpenAIChatClient(recording(settings(server.url), Cassette()))
        request = ChatRequest((user("hi"),), call="m1")
        call = asyncio.create_task(
            client.complete(request, chunk=lambda u: arrived.set() if u.text else None, hooks=Notes())
        )
        await asyncio.wait_for(arrived.wait(), 60)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await client.close()


async def test_answer_that_we_closed_is_kept_as_part() -> None:
    cassette = Cassette()
    arrived = asyncio.Event()
    async with ScriptedServer(Given([chunk("part"), HOLD])) as server:
        client = OpenAIChatClient(recording(settings(server.url), cassette))
        request = ChatRequest((user("hi"),), node="Writer", call="m1")
        call = asyncio.create_task(
            client.complete(request, chunk=lambda u: arrived.set() if u.text else None, hooks=Notes())
        )
        await asyncio.wait_for(arrived.wait(), 60)
        call.cancel()
        await asyncio.wait({call})
        await client.close()
    assert [e.end for e in cassette.calls] == ["closed by us"]
    with pytest.raises(ProviderError) as caught:
        await ask(replaying(settings("http://127.0.0.1:1/v1"), cassette))
    assert (caught.value.kind, caught.value.partial) == ("cut_off", "part")


async def test_times_are_kept_at_speed_one_and_not_at_speed_zero() -> None:
    cassette = Cassette()
    async with ScriptedServer(answer("a", "b")) as server:
        await ask(recording(settings(server.url), cassette))
    (entry,) = cassette.calls
    slow = tuple((n * 40.0, piece) for n, (_, piece) in enumerate(entry.chunks)) or ()
    total = slow[-1][0] / 1000
    for speed, least in ((1.0, total * 0.9), (0.0, 0.0)):
        client = replaying(settings("http://127.0.0.1:1/v1"), Cassette([replace(entry, chunks=slow)]), speed=speed)
        begun = time.monotonic()
        await ask(client)
        assert least <= time.monotonic() - begun


@pytest.mark.parametrize("full", [False, True])
async def test_a_call_that_was_never_recorded_fails_at_once_and_clearly(full: bool) -> None:
    cassette = Cassette(full=full)
    with pytest.raises(ProviderError) as caught:
        await ask(replaying(settings("http://127.0.0.1:1/v1", tries=3), cassette))
    assert str(caught.value).startswith("The recording has no answer: Call 1 of Writer was never recorded")
    assert ("was full" in caught.value.detail) is full


async def test_each_recorded_answer_is_used_once_in_order() -> None:
    cassette = Cassette()
    async with ScriptedServer(answer("one"), answer("two")) as server:
        tape = Tape(cassette)
        await ask(recording(settings(server.url), tape))
        await ask(recording(settings(server.url), tape))
    assert [e.call_index for e in cassette.calls] == [1, 2]
    tape = Tape(cassette)
    given = replaying(settings("http://127.0.0.1:1/v1"), tape)
    assert [(await ask(given))[0] for _ in range(2)] == ["one", "two"]
    with pytest.raises(ProviderError, match="Call 3"):
        await ask(given)


async def test_by_position_gives_the_same_answer_to_another_prompt_and_shows_the_difference() -> None:
    cassette = Cassette()
    async with ScriptedServer(answer("one")) as server:
        await ask(recording(settings(server.url), cassette))
    given = replaying(settings("http://127.0.0.1:1/v1"), cassette, "by position")
    assert (await ask(given, "changed prompt"))[0] == "one"
    (difference,) = cassette.differences
    assert difference.recorded["messages"][-1]["content"] == "hi"
    assert difference.asked["messages"][-1]["content"] == "changed prompt"
    with pytest.raises(ProviderError, match="of Reader"):
        await ask(given, node="Reader")


async def test_new_replays_what_is_there_and_records_the_rest() -> None:
    cassette = Cassette()
    async with ScriptedServer(answer("one"), answer("two")) as server:
        await ask(recording(settings(server.url), cassette))
        tape = Tape(cassette, "new")
        given = replaying(settings(server.url), tape)
        assert (await ask(given))[0] == "one"
        assert (await ask(given, "other"))[0] == "two"
        assert len(server.received) == 2
    assert len(cassette.calls) == 2


async def test_errors_are_replayed_too() -> None:
    cassette = Cassette()
    refused = Given([b'{"error": {"message": "no credit", "code": "insufficient_quota"}}'], 402, "application/json")
    async with ScriptedServer(refused) as server:
        with pytest.raises(ProviderError):
            await ask(recording(settings(server.url), cassette))
        url = server.url
    with pytest.raises(ProviderError):  # nobody listens any more
        await ask(recording(settings(url), cassette), "two")
    given = replaying(settings("http://127.0.0.1:1/v1"), cassette)
    with pytest.raises(ProviderError) as caught:
        await ask(given)
    assert caught.value.kind == "no_credit"
    with pytest.raises(ProviderError) as caught:
        await ask(given, "two")
    assert caught.value.kind == "unreachable"


async def test_the_built_in_model_on_a_cassette() -> None:
    from studio.agents.offline import OfflineModel, offline_client

    cassette = Cassette()
    client = offline_client(OfflineModel({"Writer": ["from the script"]}, {}))
    client._settings = recording(client._settings, cassette)
    reply = await client.complete(ChatRequest((user("hi"),), node="Writer"), chunk=None, hooks=Notes())
    await client.close()
    assert cassette.calls[0].node == "Writer"
    replayed = OpenAIChatClient(replaying(client._settings, cassette))
    again = await replayed.complete(ChatRequest((user("hi"),), node="Writer"), chunk=None, hooks=Notes())
    await replayed.close()
    assert again.text == reply.text


def test_key_leaves_out_what_says_nothing_about_the_question() -> None:
    body = {"messages": [1], "model": "m"}
    key = call_key("POST", "/v1/chat/completions", body)
    assert key == call_key(
        "POST", "/openai/deployments/x/chat/completions", {**body, "user": "u", "stream_options": {}}
    )
    assert key != call_key("POST", "/v1/chat/completions", {**body, "model": "n"})


# ---------------------------------------------------------------------------------------------------------- files


async def test_no_secret_reaches_the_file(tmp_path: Path) -> None:
    cassette = Cassette()
    path = tmp_path / "c.jsonl"
    leaky = [chunk("your key is sk-"), chunk("other-canary-key12345"), chunk("and known-canary-value"), END, USAGE]
    async with ScriptedServer(Given(leaky)) as server:
        given = settings(server.url, headers={"X-Api-Key": "header-canary-1"})
        await ask(recording(given, cassette), f"my key is {KEY}")
    cassette.tools.append(ToolEntry("Writer", "login", {"password": "tool-canary", "max_tokens": "9"}, "ok"))
    cassette.save(path, known=["known-canary-value"])
    text = path.read_text()
    for canary in (KEY, "header-canary", "known-canary-value", "tool-canary"):
        assert canary not in text
    assert '"max_tokens":"9"' in text
    head = json.loads(text.splitlines()[0])
    assert {"known secret", "secret by name", "OpenAI key"} <= set(head["redacted"])
    # The key of the call was made before: it is still found.
    again = Cassette.load(path)
    assert (await ask(replaying(settings("http://127.0.0.1:1/v1"), again), f"my key is {KEY}"))[0]


def test_bytes_that_are_no_text_survive(tmp_path: Path) -> None:
    chunks = ((0.0, "wö".encode()[:2]), (1.5, "ö".encode()[1:] + b"\xff"))
    Cassette([CallEntry("k", "n", 1, None, 200, {}, chunks)]).save(tmp_path / "c")
    assert Cassette.load(tmp_path / "c").calls[0].chunks == chunks


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no cassette"),
        ('{"format": "else"}', "no cassette"),
        ("not json", "line 1 is no JSON"),
        ("[]", "line 1 is no object"),
        ('{"format": "superstep-cassette", "version": 2}', "later version"),
        ('{"format": "superstep-cassette", "version": 1}\n{"key": "k"}', "cannot be read"),
    ],
)
def test_files_that_are_none(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "c").write_text(text)
    with pytest.raises(CassetteProblem, match=words):
        Cassette.load(tmp_path / "c")


async def test_a_full_cassette_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("studio.agents.cassettes.cassette.SIZE_LIMIT", 300)
    cassette = Cassette()
    async with ScriptedServer(answer("x" * 50)) as server:
        for _ in range(3):
            await ask(recording(settings(server.url), cassette))
    assert cassette.full
    assert len(cassette.calls) < 3
    cassette.save(tmp_path / "c")
    assert Cassette.load(tmp_path / "c").full


# ---------------------------------------------------------------------------------------------------------- tools


async def test_tool_results_are_replayed_and_nothing_runs(tmp_path: Path) -> None:
    ran: list[str] = []

    async def look(arguments: dict[str, Any]) -> Any:
        ran.append("look")
        if arguments.get("q") == "bad":
            raise ValueError("broken")
        if arguments.get("q") == "none":
            raise ToolFailure("no such thing")
        return {"found": len(ran)}

    def script() -> ScriptedClient:
        queries = ["a", "a", "bad", "none"]
        calls: list[Any] = [
            {"calls": [{"id": f"c{n}", "tool": "look", "arguments": {"q": q}}]} for n, q in enumerate(queries)
        ]
        return ScriptedClient([*calls, "done"])

    cassette = Cassette()
    tool = Tool("look", "", None, look)
    free = LoopSettings(max_repeats=None)
    first = script()
    middleware = Middleware(function=(recording_tools(cassette, "n"),))
    await Agent("bot", first, tools=(tool,), middleware=middleware, loop=free).run([user("go")])
    assert len(ran) == 4
    cassette.save(tmp_path / "c")
    again = script()
    middleware = Middleware(function=(replaying_tools(Cassette.load(tmp_path / "c"), "n"),))
    await Agent("bot", again, tools=(tool,), middleware=middleware, loop=free).run([user("go")])
    assert len(ran) == 4
    assert results(again) == results(first)
    assert results(first)[2:] == [("Error: Function failed.", "ValueError"), ("Error: no such thing", "ToolFailure")]


def results(client: ScriptedClient) -> list[tuple[Any, str | None]]:
    messages = client.requests[-1].messages
    return [(p.result, p.error) for m in messages for p in m.parts if isinstance(p, ToolResult)]


async def test_tool_call_that_was_never_recorded_fails_the_run() -> None:
    client = ScriptedClient([{"calls": [{"id": "c", "tool": "look", "arguments": {"q": "new"}}]}, "no"])
    middleware = Middleware(function=(replaying_tools(Cassette(), "Writer"),))
    agent = Agent("bot", client, tools=(Tool("look", "", None, lambda a: asyncio.sleep(0)),), middleware=middleware)
    with pytest.raises(NotRecorded, match="look in Writer"):
        await agent.run([user("go")])
