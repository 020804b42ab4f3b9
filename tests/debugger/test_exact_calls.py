"""Requests as they went out, answers as documents, and commands that repeat a call, without a key."""

from __future__ import annotations

import ast
import json
import shlex
from typing import Any

from studio.agents.agent import Agent
from studio.agents.client import ChatOptions
from studio.agents.connection import ClientSettings
from studio.agents.openai_client import OpenAIChatClient
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.debugger.exact_calls import exact_calls
from studio.engine import AgentHost, WorkflowBuilder
from studio.engine import events as ev

from tests.fakes.provider_server import ProviderServer
from tests.fakes.scripted_client import ScriptedClient
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, delta


async def ran(agent: Agent, session: Session | None = None) -> list[ev.Event]:
    events: list[ev.Event] = []
    try:
        host = AgentHost(agent, "writer", session=session)
        await WorkflowBuilder(host, name="t").build().run("It's “1+2”?", events=events)
    finally:
        await agent.client.close()
    return events


def invocation(events: list[ev.Event]) -> str:
    return next(e.invocation for e in events if isinstance(e, ev.NodeStarted))


async def add(**_arguments: object) -> str:
    return "3"


async def test_calls_of_an_invocation_with_tools_instructions_and_answers() -> None:
    script = [{"calls": [{"id": "c1", "tool": "add", "arguments": {"a": 1}}]}, "Three."]
    tool = Tool("add", "Adds.", {"type": "object", "properties": {}}, add)
    events = await ran(Agent("writer", ScriptedClient(script), instructions="Be brief.", tools=(tool,)))
    first, second = exact_calls(events, invocation(events))
    body = first.request()
    assert body["model"] == "scripted"
    assert [m["role"] for m in body["messages"]] == ["system", "user"]
    assert body["messages"][0]["content"] == "Be brief."
    assert body["tools"][0]["function"]["name"] == "add"
    answer = first.response()
    assert answer is not None
    assert answer["choices"][0]["message"]["tool_calls"][0]["function"] == {"name": "add", "arguments": '{"a": 1}'}
    assert [m["role"] for m in second.request()["messages"]] == ["system", "user", "assistant", "tool"]
    assert first.started.settings == second.started.settings
    assert exact_calls(events, "another") == []


async def test_commands_hold_the_whole_body_and_no_key() -> None:
    events = await ran(Agent("writer", ScriptedClient(["Three."])))
    (call,) = exact_calls(events, invocation(events))
    words = shlex.split(call.as_curl().replace("\\\n", ""))
    assert words[0] == "curl"
    assert json.loads(words[-1]) == call.request()
    assert "Authorization: Bearer $API_KEY" in words
    script = call.as_python()
    tree = ast.parse(script)
    body = next(n.value.value for n in tree.body if isinstance(n, ast.Assign) and isinstance(n.value, ast.Constant))
    assert json.loads(str(body)) == call.request()
    assert "os.environ['API_KEY']" in script


async def test_the_body_is_the_one_that_a_server_got() -> None:
    with ProviderServer("any_model") as server:
        client = OpenAIChatClient(ClientSettings(server.url, "sk-very-secret-key-0123456789", model="m-1"))
        agent = Agent("writer", client, instructions="Be brief.", options=ChatOptions(temperature=0.2, max_tokens=50))
        events = await ran(agent)
        got: Any = server.requests[0][1]
    (call,) = exact_calls(events, invocation(events))
    assert call.request() == got
    assert call.url == f"{server.url}/chat/completions"
    assert "very-secret" not in call.started.settings + call.as_curl() + call.as_python()


def test_an_old_log_gives_model_and_messages() -> None:
    started = ev.ModelCallStarted(0, "n", "i", "m1", (), "gpt")
    (call,) = exact_calls([started], "i")
    assert call.request() == {"model": "gpt", "messages": []}
    assert call.response() is None
    assert call.url == ""


async def test_the_answer_is_kept_as_it_came() -> None:
    body = delta(content="Three.") + delta("stop") + DONE
    async with ScriptedServer(Given((body,))) as server:
        client = OpenAIChatClient(ClientSettings(server.url, api_key="my-own-secret-key", model="m", tries=1))
        events = await ran(Agent("writer", client))
        sent = server.received[0]
    (call,) = exact_calls(events, invocation(events))
    assert call.finished is not None
    head, _, rest = call.finished.raw.partition("\n\n")
    assert head.startswith("HTTP 200\n")
    assert rest == body.decode()
    asked = call.raw_request()
    assert asked.startswith(f"POST /v1/chat/completions HTTP/1.1\nHost: 127.0.0.1:{server.port}\n")
    assert "my-own-secret-key" not in asked
    assert json.loads(asked.partition("\n\n")[2]) == sent.body
