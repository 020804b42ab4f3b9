"""The built-in model: a pure function of the request, in process and over HTTP alike."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
from studio.agents import Agent, AgentUpdate, ChatOptions, ProviderError, Tool, assistant, user
from studio.agents.offline import OfflineModel, offline_client
from studio.agents.offline.plausible import LABEL, pieces, sample
from studio.agents.offline.protocol import respond
from studio.agents.openai_client import OpenAIChatClient

Json = dict[str, Any]


class Clock:
    """Waits that take no time and are noted."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.waits.append(seconds)
        await asyncio.sleep(0)


def model(replies: list[Any], *, clock: Clock | None = None, **more: Any) -> OfflineModel:
    delay = more.pop("delay_ms", 0)
    script = {"nodes": {"bot": {"replies": replies, **more}}, "delay_ms": delay}
    return OfflineModel(script, {"bot": "Be a bot", "free": "Be free. Really."}, sleep=(clock or Clock()).sleep)


@asynccontextmanager
async def client_of(offline: OfflineModel) -> AsyncIterator[OpenAIChatClient]:
    client = offline_client(offline)
    try:
        yield client
    finally:
        await client.close()


def body(*messages: tuple[str, str] | Json, system: str = "Be a bot", **more: Any) -> Json:
    listed: list[Json] = [{"role": "system", "content": system}]
    listed += [m if isinstance(m, dict) else {"role": m[0], "content": m[1]} for m in messages]
    return {"model": "x", "messages": listed, **more}


def said(text: str, name: str = "bot") -> Json:
    return {"role": "assistant", "content": text, "name": name}


def text_of(offline: OfflineModel, request: Json) -> str:
    return "".join(offline.reply(request).chunks)


async def test_a_turn_with_tools_through_the_whole_client() -> None:
    async def look(arguments: dict[str, Any]) -> str:
        return f"found {arguments['q']}"

    replies = [
        {"text": "Let me see.", "calls": [{"tool": "look", "arguments": {"q": "x"}}]},
        {"chunks": ["It ", "is."]},
    ]
    async with client_of(model(replies)) as client:
        agent = Agent("bot", client, "Be a bot", (Tool("look", run=look),))
        updates: list[AgentUpdate] = []
        reply = await agent.run([user("go")], updates=updates.append)
        assert [m.text for m in reply.messages] == ["Let me see.", "", "It is."]
        assert [u.text for u in updates] == ["Let me see.", "", "", "It ", "is."]
        whole = await agent.run([user("go")])
        assert whole == reply
    assert reply.usage is not None
    assert reply.usage.input
    assert reply.finish_reason == "stop"


async def test_the_number_is_that_of_own_messages_in_the_request() -> None:
    async with client_of(model([{"text": "one"}, {"text": "two"}], then="repeat_last")) as client:
        agent = Agent("bot", client, "Be a bot")
        session = agent.new_session()
        texts = [(await agent.run([user("go"), assistant("x", "other")], session=session)).text for _ in range(3)]
        assert texts == ["one", "two", "two"]
        assert (await agent.run([user("go")])).text == "one"


def test_other_agents_do_not_count() -> None:
    offline = model(["one", "two"])
    assert text_of(offline, body(("user", "q"), said("a", "other"), said("b", "critic"))) == "one"
    assert text_of(offline, body(("user", "q"), said("a", "other"), said("one"), said("b", "critic"))) == "two"


def test_a_round_trip_in_progress_counts_without_a_name() -> None:
    called = {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "function": {"name": "t"}}]}
    result = {"role": "tool", "tool_call_id": "c", "content": "r"}
    assert text_of(model(["one", "two"]), body(said("x", "other"), ("user", "q"), called, result)) == "two"


def test_a_transcript_that_comes_twice_counts_once() -> None:
    offline = model(["one", "two", "three"])
    history: list[Any] = [("user", "q"), said("one")]
    passed_on: list[Any] = [*history, said("hm", "critic")]
    assert text_of(offline, body(*history, *passed_on)) == "two"
    later = [*passed_on, said("two")]
    assert text_of(offline, body(*later, *later, said("ok", "critic"))) == "three"


def test_a_caller_without_names() -> None:
    plain = [("user", "q"), ("assistant", "one"), ("user", "r")]
    assert text_of(model(["one", "two"]), body(*plain)) == "two"


def test_the_agents_name_may_differ_from_the_node() -> None:
    script = {"nodes": {"bot": {"replies": ["one", "two"]}}}
    offline = OfflineModel(script, {"bot": "Be a bot"}, {"bot": "The Bot!"})
    assert text_of(offline, body(("user", "q"), said("one", "TheBot"))) == "two"


def test_conditions_come_first() -> None:
    replies = [
        {"text": "plain"},
        {"when": "ship", "text": "about ships"},
        {"when_seen": "storm", "text": "there was a storm"},
        {"when": "both", "when_seen": "storm", "text": "never first"},
    ]
    offline = model(replies, then="repeat_last")
    assert text_of(offline, body(("user", "a ship"))) == "about ships"
    assert text_of(offline, body(("user", "a ship"), said("x", "other"))) == "plain"
    assert text_of(offline, body(("user", "a storm"), said("x", "other"))) == "there was a storm"
    assert text_of(offline, body(("user", "hello"))) == "plain"


def test_instructions_are_a_message_seen() -> None:
    """An edited prompt can change the script's answer."""
    asked = {"messages": [{"role": "system", "content": "Give costs."}, {"role": "user", "content": "q"}]}
    offline = model([{"when_seen": "costs", "text": "12 euros"}, "no costs"])
    assert offline.reply(asked, "bot").chunks == ("12 euros",)
    assert text_of(offline, body(("user", "q"))) == "no costs"


def test_echo() -> None:
    assert text_of(model([{"echo": "> "}]), body(("user", "q"), said("last", "other"))) == "> last"


def test_scripted_text_is_one_chunk_or_at_a_speed_words() -> None:
    assert model(["a b  c"]).reply(body(("user", "q"))).chunks == ("a b  c",)
    slow = model(["a b  c"], delay_ms=5).reply(body(("user", "q")))
    assert "".join(slow.chunks) == "a b  c"
    assert len(slow.chunks) == 3
    assert slow.delay == 0.005
    assert model([{"chunks": ["a b", "c"]}], delay_ms=5).reply(body(("user", "q"))).chunks == ("a b", "c")


async def test_errors_are_not_tried_again() -> None:
    clock = Clock()
    failing = [{"error": "boom"}, {"status": 429}, {"status": 503, "error": "later", "wait_ms": 40}]
    for entry, kind, words in zip(
        failing, ("server", "rate_limited", "overloaded"), ("boom", "", "later"), strict=True
    ):
        async with client_of(model([entry], clock=clock)) as client:
            with pytest.raises(ProviderError) as caught:
                await Agent("bot", client, "Be a bot").run([user("go")], updates=lambda _: None)
        assert caught.value.kind == kind
        assert words in caught.value.detail
    assert max(clock.waits) == 0.04
    async with client_of(model(["only"])) as client:
        with pytest.raises(ProviderError, match="script exhausted"):
            await Agent("bot", client, "Be a bot").run([user("go"), assistant("only", "bot")])


async def test_chunks_come_one_by_one() -> None:
    gates: asyncio.Queue[None] = asyncio.Queue()

    async def sleep(seconds: float) -> None:
        if seconds:
            await gates.get()

    script = {"nodes": {"bot": {"replies": [{"chunks": ["a", "b", "c"]}]}}, "delay_ms": 10}
    seen: asyncio.Queue[str] = asyncio.Queue()
    async with client_of(OfflineModel(script, {}, sleep=sleep)) as client:
        agent = Agent("bot", client)
        running = asyncio.ensure_future(agent.run([user("go")], updates=lambda u: seen.put_nowait(u.text)))
        for expected in "abc":
            assert await asyncio.wait_for(seen.get(), 60) == expected
            assert seen.empty()
            gates.put_nowait(None)
        assert (await running).text == "abc"


async def test_cancelling_ends_the_answer() -> None:
    started, ended = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        if not seconds:
            return
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    script = {"nodes": {"bot": {"replies": [{"text": "late", "wait_ms": 1}]}}}
    async with client_of(OfflineModel(script, {}, sleep=sleep)) as client:
        running = asyncio.ensure_future(Agent("bot", client).run([user("go")], updates=lambda _: None))
        await asyncio.wait_for(started.wait(), 60)
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert ended.is_set()


# ------------------------------------------------------------------------------------------------ without a script


async def test_without_a_script_the_answer_is_labelled_and_the_same_every_time() -> None:
    clock = Clock()
    async with client_of(model([], clock=clock)) as client:
        agent = Agent("free", client, "Be free. Really.")
        updates: list[AgentUpdate] = []
        reply = await agent.run([user("What is\nnew?")], updates=updates.append)
        assert reply == await agent.run([user("What is\nnew?")])
    assert reply.text.startswith(LABEL)
    assert "Be free." in reply.text
    assert "What is new?" in reply.text
    assert "".join(u.text for u in updates) == reply.text
    assert len(updates) > 10
    assert max(clock.waits) > 0
    assert reply.usage is not None
    assert reply.usage.input == 19


async def test_without_a_script_a_forced_tool_is_called() -> None:
    schema = {"type": "object", "properties": {"q": {"type": "string", "enum": ["left", "right"]}}}
    ran: list[Mapping[str, Any]] = []

    async def run(arguments: dict[str, Any]) -> str:
        ran.append(arguments)
        return "done"

    async with client_of(model([])) as client:
        tools = (Tool("turn", "", schema, run), Tool("stop", run=run))
        options = ChatOptions(tool_choice="turn")
        reply = await Agent("free", client, "Be free. Really.", tools, options).run([user("go")])
    assert ran == [{"q": "left"}]
    assert reply.messages[-1].text.startswith(LABEL)


async def test_without_a_script_a_schema_is_kept() -> None:
    schema = {
        "type": "object",
        "properties": {"ok": {"type": "boolean"}, "notes": {"type": "array", "items": {"$ref": "#/$defs/note"}}},
        "$defs": {"note": {"type": "object", "properties": {"n": {"type": "integer", "minimum": 4}}}},
    }
    async with client_of(model([])) as client:
        reply = await Agent("free", client, "Be free. Really.", output_schema=schema).run([user("go")])
    assert reply.value == {"ok": True, "notes": [{"n": 4}]}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, "offline answer"),
        ({"const": 3}, 3),
        ({"type": ["null", "number"]}, 1),
        ({"anyOf": [{"type": "null"}, {"type": "string"}]}, None),
        ({"type": "array", "items": {"type": "boolean"}, "minItems": 2}, [True, True]),
        ({"$ref": "#/nowhere"}, "offline answer"),
    ],
)
def test_samples(schema: Json, value: object) -> None:
    assert sample(schema) == value


def test_a_schema_inside_itself_ends() -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}}
    assert json.dumps(sample(tree))


@pytest.mark.parametrize("text", ["", " ", "one", " one  two\n three ", "a\n\nb"])
def test_pieces_are_the_text(text: str) -> None:
    assert "".join(pieces(text)) == text


# --------------------------------------------------------------------------------------------- which node is asked


async def test_in_process_the_node_is_named_not_guessed() -> None:
    script = {"nodes": {"a": {"replies": ["from a"]}, "knoten ü": {"replies": ["from b"]}}}
    async with client_of(OfflineModel(script, {"a": "same", "knoten ü": "same"})) as client:
        assert (await Agent("x", client, "same", node="a").run([user("q")])).text == "from a"
        assert (await Agent("x", client, "same", node="knoten ü").run([user("q")])).text == "from b"


def test_elsewhere_the_node_is_found_by_its_exact_instructions() -> None:
    offline = OfflineModel({"nodes": {"b": {"replies": ["b"]}}}, {"a": "same", "b": "same", "c": "  other\n", "d": ""})
    assert offline.node_of(body(system="same")["messages"]) == "b"
    assert offline.node_of(body(system="other")["messages"]) == "c"
    assert offline.node_of([{"role": "user", "content": "q"}]) == "d"
    assert offline.node_of(body(system="nobody")["messages"]) == ""


async def test_a_foreign_model_name_is_answered() -> None:
    async with client_of(model(["hi"])) as client:
        reply = await Agent("bot", client, "Be a bot", options=ChatOptions(model="gpt-x")).run([user("q")])
    assert reply.text == "hi"


async def test_a_responses_request_is_answered_whole_and_one_that_counts_on_a_memory_is_refused() -> None:
    script = {"nodes": {"a": {"replies": [{"calls": [{"tool": "look", "arguments": {"q": 1}}]}, {"text": "Seen."}]}}}
    model = OfflineModel(script, {"a": "You are a."})

    async def answered(**more: Any) -> tuple[int, dict[str, Any]]:
        body = json.dumps({"model": "offline", "instructions": "You are a.", "input": "hi", **more}).encode()
        response = respond(model, "POST", "/v1/responses", body)
        return response.status, json.loads(b"".join([piece async for piece in response.pieces]))

    status, first = await answered()
    call = {"name": "look", "arguments": '{"q": 1}', "call_id": "call_1"}
    assert (status, first["status"]) == (200, "completed")
    assert call.items() <= first["output"][0].items()
    assert first["output"][0]["type"] == "function_call"
    result = {"type": "function_call_output", "call_id": "call_1", "output": "one"}
    said = {"role": "user", "content": [{"type": "input_text", "text": "hi"}]}
    _, second = await answered(input=[said, first["output"][0], result])
    assert second["output"][0]["content"][0]["text"] == "Seen."
    assert second["id"] != first["id"]
    other = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "by another agent"}]}
    _, third = await answered(input=[said, other])
    assert third["output"][0]["type"] == "function_call", "what another agent said is no turn of this one"
    status, refused = await answered(previous_response_id=first["id"])
    assert status == 400
    assert "keeps nothing" in refused["error"]["message"]
