"""What the client learns from a refusal, and how each deviation from D24 on is met."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest
from studio.agents import (
    Agent,
    ChatOptions,
    ChatRequest,
    Message,
    ProviderError,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.switches import Switches
from tests.agents.conftest import MakeClient, Notes
from tests.fakes.scripted_client import ScriptedClient
from tests.fakes.scripted_server import Given, ScriptedServer

SCHEMA = {
    "type": "object",
    "properties": {"ok": {"type": "boolean"}},
    "required": ["ok"],
    "additionalProperties": False,
}


def refusal(parameter: str, message: str = "", status: int = 400) -> Given:
    body = {"error": {"message": message or f"Unsupported parameter: '{parameter}'", "param": parameter}}
    return Given([json.dumps(body).encode()], status=status, type="application/json")


def whole(text: str = "fine") -> Given:
    body = {"choices": [{"message": {"role": "assistant", "content": text}, "finish_reason": "stop"}]}
    return Given([json.dumps(body).encode()], type="application/json")


TOOLS = (Tool("look"), Tool("find"))
CASES: dict[str, tuple[str, ChatOptions, tuple[Tool, ...], str, Any]] = {
    "D29 the other name of the limit": ("max_tokens", ChatOptions(max_tokens=5), (), "max_completion_tokens", 5),
    "D30 temperature": ("temperature", ChatOptions(temperature=1.5), (), "temperature", None),
    "top_p": ("top_p", ChatOptions(top_p=0.5), (), "top_p", None),
    "reasoning effort": ("reasoning_effort", ChatOptions(reasoning_effort="low"), (), "reasoning_effort", None),
    "D26 parallel calls": (
        "parallel_tool_calls",
        ChatOptions(parallel_tool_calls=False),
        TOOLS,
        "parallel_tool_calls",
        None,
    ),
    "D24 named tool": ("tool_choice", ChatOptions(tool_choice="look"), TOOLS, "tool_choice", "required"),
    "D24 forced tool": ("tool_choice", ChatOptions(tool_choice="required"), TOOLS, "tool_choice", None),
    "D27 schema": (
        "response_format",
        ChatOptions(response_schema=SCHEMA),
        (),
        "response_format",
        {"type": "json_object"},
    ),
}


@pytest.mark.parametrize("name", CASES)
async def test_one_setting_is_changed_and_remembered(name: str, make_client: MakeClient) -> None:
    parameter, options, tools, key, expected = CASES[name]
    learned: list[str] = []
    async with ScriptedServer(refusal(parameter), whole()) as server:
        client = make_client(server.url, learned=lambda what, switches: learned.append(what))
        notes = Notes()
        request = ChatRequest((user("hi"),), tools=tools, options=options, call="m1")
        reply = await client.complete(request, chunk=None, hooks=notes)
        assert reply.text == "fine"
        before, after = (r.body for r in server.received)
        assert before.get(parameter) is not None
        assert after.get(key) == expected
        changed = {k for k in {*before, *after} if before.get(k) != after.get(k)}
        assert changed <= {parameter, key, "messages", *(["tools"] if name == "D24 named tool" else [])}
        assert notes.retries == [(1, 0, f"{parameter} is not supported")]
        assert learned == [parameter]
        await client.complete(request, chunk=None, hooks=notes)
        assert server.received[2].body == after


@pytest.mark.parametrize("stream", [False, True])
async def test_d24_named_tool_that_was_ignored(stream: bool, make_client: MakeClient) -> None:
    """Asked again at once unless the answer was shown already; later calls show that tool alone."""
    call = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    obeyed = Given(
        [json.dumps({"choices": [{"message": message, "finish_reason": "tool_calls"}]}).encode()],
        type="application/json",
    )
    async with ScriptedServer(whole("I would rather talk"), obeyed) as server:
        client = make_client(server.url)
        request = ChatRequest((user("hi"),), tools=TOOLS, options=ChatOptions(tool_choice="look"))
        reply = await client.complete(request, chunk=(lambda update: None) if stream else None, hooks=Notes())
        assert len(server.received) == (1 if stream else 2)
        if stream:
            assert reply.text == "I would rather talk"
            reply = await client.complete(request, chunk=None, hooks=Notes())
        assert [p.name for m in reply.messages for p in m.parts if isinstance(p, ToolCall)] == ["look"]
        body = server.received[1].body
        assert (body["tool_choice"], [t["function"]["name"] for t in body["tools"]]) == ("required", ["look"])


async def test_limit_whose_message_names_both(make_client: MakeClient) -> None:
    message = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
    body = Given([json.dumps({"error": {"message": message}}).encode()], status=400, type="application/json")
    async with ScriptedServer(body, whole()) as server:
        client = make_client(server.url)
        request = ChatRequest((user("hi"),), options=ChatOptions(max_tokens=5))
        await client.complete(request, chunk=None, hooks=Notes())
        assert server.received[1].body["max_completion_tokens"] == 5


async def test_d27_schema_then_object_then_words(make_client: MakeClient) -> None:
    """Each call may learn one thing; the last form asks in the system message."""
    refused = refusal("response_format", status=500)
    async with ScriptedServer(refused, whole(), refused, whole('{"ok": true}')) as server:
        client = make_client(server.url)
        agent = Agent("bot", client, "be kind", output_schema=SCHEMA)
        await agent.run([user("1")])
        assert server.received[1].body["response_format"] == {"type": "json_object"}
        system = server.received[1].body["messages"][0]
        assert system["role"] == "system"
        assert system["content"].startswith("be kind\n\n")
        assert json.dumps(SCHEMA) in system["content"]
        reply = await agent.run([user("2")])
        assert "response_format" not in server.received[3].body
        assert json.dumps(SCHEMA) in server.received[3].body["messages"][0]["content"]
        assert reply.value == {"ok": True}


async def test_strict_alone_is_left_out(make_client: MakeClient) -> None:
    async with ScriptedServer(refusal("strict"), whole()) as server:
        client = make_client(server.url)
        request = ChatRequest((user("hi"),), options=ChatOptions(response_schema=SCHEMA))
        await client.complete(request, chunk=None, hooks=Notes())
        schemas = [r.body["response_format"]["json_schema"] for r in server.received]
        assert [s.get("strict") for s in schemas] == [True, None]


async def test_d31_names_of_authors(make_client: MakeClient) -> None:
    async with ScriptedServer(refusal("messages.0.name"), refusal("name"), whole()) as server:
        client = make_client(server.url, switches=Switches(send_names=True))
        request = ChatRequest((Message("user", (Text("hi"),), "ann"),))
        with pytest.raises(ProviderError):
            await client.complete(request, chunk=None, hooks=Notes())
        await client.complete(request, chunk=None, hooks=Notes())
        assert "name" in server.received[1].body["messages"][0]
        assert "name" not in server.received[2].body["messages"][0]


@pytest.mark.parametrize(
    "given",
    [
        refusal("temperature"),
        refusal("model"),
        refusal("", "max_tokens and temperature are too much"),
        refusal("", "something is wrong"),
        refusal("developer"),
    ],
)
async def test_what_cannot_be_left_out_is_an_error(given: Given, make_client: MakeClient) -> None:
    async with ScriptedServer(given, whole()) as server:
        client = make_client(server.url)
        with pytest.raises(ProviderError):
            await client.complete(ChatRequest((user("hi"),)), chunk=None, hooks=Notes())
        assert len(server.received) == 1


async def test_one_second_try_per_call(make_client: MakeClient) -> None:
    async with ScriptedServer(refusal("temperature"), refusal("top_p"), whole()) as server:
        client = make_client(server.url)
        request = ChatRequest((user("hi"),), options=ChatOptions(temperature=1, top_p=1))
        with pytest.raises(ProviderError) as caught:
            await client.complete(request, chunk=None, hooks=Notes())
        assert caught.value.parameter == "top_p"
        assert len(server.received) == 2
        assert client.switches.left_out == {"temperature"}


async def test_a_switch_can_be_set_back(make_client: MakeClient) -> None:
    async with ScriptedServer(refusal("temperature"), whole()) as server:
        client = make_client(server.url)
        request = ChatRequest((user("hi"),), options=ChatOptions(temperature=1))
        await client.complete(request, chunk=None, hooks=Notes())
        client.switches = replace(client.switches, left_out=frozenset())
        await client.complete(request, chunk=None, hooks=Notes())
        assert [r.body.get("temperature") for r in server.received] == [1, None, 1]


@pytest.mark.parametrize("null", [True, False])
async def test_d33_content_of_an_assistant_message_of_calls(null: bool, make_client: MakeClient) -> None:
    messages = (
        user("hi"),
        Message("assistant", (ToolCall("c", "look"),)),
        Message("tool", (ToolResult("c", "x"),)),
    )
    async with ScriptedServer(whole()) as server:
        client = make_client(server.url, switches=Switches(null_content=null))
        await client.complete(ChatRequest(messages, tools=TOOLS), chunk=None, hooks=Notes())
        sent = server.received[0].body["messages"][1]
        assert "content" in sent
        assert sent["content"] == (None if null else "")


async def test_d25_d28_d31_d32_what_is_never_sent(make_client: MakeClient) -> None:
    """One system message, never a developer; no name, logprobs, logit_bias or n; a forced tool is "required"."""
    messages = (Message("system", (Text("second"),)), Message("user", (Text("hi"),), "ann"))
    async with ScriptedServer(whole()) as server:
        client = make_client(server.url)
        request = ChatRequest(messages, "first", TOOLS, ChatOptions(tool_choice="required"))
        await client.complete(request, chunk=None, hooks=Notes())
        body = server.received[0].body
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == "first\n\nsecond"
    assert "name" not in body["messages"][1]
    assert body["tool_choice"] == "required"
    assert not {"logprobs", "logit_bias", "n", "temperature", "parallel_tool_calls"} & set(body)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (400, {"code": "context_length_exceeded", "message": "maximum context length is 8 tokens"}, "context_too_long"),
        (
            400,
            {"code": 400, "type": "exceed_context_size_error", "message": "x", "n_prompt_tokens": 9, "n_ctx": 8},
            "context_too_long",
        ),
        (400, {"message": "Please reduce the length of the messages"}, "context_too_long"),
        (402, {"message": "more credits please"}, "no_credit"),
        (403, {"message": "input was flagged by moderation"}, "content_filter"),
        (404, {"message": "model 'x' not found, try pulling it first"}, "no_such_model"),
        (529, {"message": "Overloaded"}, "overloaded"),
    ],
)
async def test_d35_d37_kinds_of_refusals(
    status: int, message: dict[str, Any], kind: str, make_client: MakeClient
) -> None:
    body = Given([json.dumps({"error": message}).encode()], status=status, type="application/json")
    async with ScriptedServer(body) as server:
        with pytest.raises(ProviderError) as caught:
            await make_client(server.url).complete(ChatRequest((user("hi"),)), chunk=None, hooks=Notes())
    assert caught.value.kind == kind


def test_fenced_json_is_a_value() -> None:
    async def value(text: str) -> Any:
        return (await Agent("bot", ScriptedClient([text]), output_schema=SCHEMA).run([user("q")])).value

    assert asyncio.run(value('```json\n{"ok": true}\n```')) == {"ok": True}
    assert asyncio.run(value("no json")) is None
