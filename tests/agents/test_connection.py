"""PR-5 and around: what the environment must not reach, redirects, proxies; visible retries."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from studio.agents import Agent, ChatOptions, ChatRequest, NoHooks, ProviderError, Tool, user
from studio.agents.connection import is_loopback
from studio.agents.retries import RetryPolicy
from tests.agents.conftest import MakeClient, Notes
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, delta

HELLO = Given((delta(content="Hello"), delta("stop"), DONE))
WHOLE = Given((b'{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}',), type="application/json")

CANARIES = {
    "OPENAI_API_KEY": "sk-canary",
    "OPENAI_ADMIN_KEY": "canary-admin",
    "OPENAI_ORG_ID": "canary-org",
    "OPENAI_PROJECT_ID": "canary-project",
    "OPENAI_WEBHOOK_SECRET": "canary-webhook",
    "OPENAI_BASE_URL": "http://127.0.0.1:9/canary",
    "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer canary\nX-Canary: canary\nOpenAI-Organization: canary",
}


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("key", ["", "own-key"])
async def test_the_environment_reaches_no_server(
    stream: bool, key: str, make_client: MakeClient, request_hello: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in CANARIES.items():
        monkeypatch.setenv(name, value)
    async with ScriptedServer(HELLO if stream else WHOLE) as server:
        client = make_client(server.url, api_key=key)
        await client.complete(request_hello, chunk=(lambda _: None) if stream else None, hooks=NoHooks())
        (received,) = server.received
    assert "canary" not in received.raw.lower()
    assert received.headers["authorization"] == f"Bearer {key or 'not-needed'}"
    assert "openai-organization" not in received.headers


async def test_own_headers_are_sent(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(WHOLE) as server:
        headers = {"api-key": "azure", "OpenAI-Project": "mine"}
        await make_client(server.url, api_key="", headers=headers).complete(request_hello, chunk=None, hooks=NoHooks())
        (received,) = server.received
    assert received.headers["api-key"] == "azure"
    assert received.headers["openai-project"] == "mine"
    assert "authorization" not in received.headers


async def test_the_node_is_named_to_no_server(make_client: MakeClient) -> None:
    async with ScriptedServer(WHOLE) as server:
        request = ChatRequest((user("hello"),), node="secret_node")
        await make_client(server.url).complete(request, chunk=None, hooks=NoHooks())
        assert "secret_node" not in server.received[0].raw


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_redirects_are_not_followed(status: int, make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(HELLO) as other:
        there = {"location": f"{other.url}/chat/completions?token=secret"}
        async with ScriptedServer(Given(status=status, headers=there)) as server:
            client = make_client(server.url, headers={"api-key": "azure"}, tries=3)
            with pytest.raises(ProviderError) as caught:
                await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
            assert len(server.received) == 1
        assert other.received == []
    assert other.url in caught.value.detail
    assert "secret" not in caught.value.detail


@pytest.mark.parametrize(
    "proxy", ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"], ids=["upper", "lower", "all", "all lower"]
)
async def test_loopback_never_through_a_proxy(
    proxy: str, make_client: MakeClient, request_hello: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with ScriptedServer(HELLO) as between, ScriptedServer(HELLO) as server:
        monkeypatch.setenv(proxy, f"http://127.0.0.1:{between.port}")
        await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
        assert between.received == []
        assert len(server.received) == 1


async def test_a_socks_variable_does_no_harm(
    make_client: MakeClient, request_hello: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
    async with ScriptedServer(HELLO) as server:
        await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
    with pytest.raises(ProviderError) as caught:
        await make_client("http://provider.invalid/v1").complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "unreachable"


async def test_a_proxy_variable_that_is_none(
    make_client: MakeClient, request_hello: ChatRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ALL_PROXY", "nonsense://127.0.0.1:9")
    with pytest.raises(ProviderError) as caught:
        await make_client("http://provider.invalid/v1").complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "unreachable"
    assert "proxy" in caught.value.detail


@pytest.mark.parametrize(
    ("url", "own"),
    [
        ("http://127.0.0.1:1/v1", True),
        ("http://127.9.9.9", True),
        ("http://localhost", True),
        ("http://LOCALHOST.:8/", True),
        ("http://a.localhost", True),
        ("http://[::1]:8080/v1", True),
        ("http://127.0.0.1.example.org", False),
        ("http://localhost.example.org", False),
        ("http://10.0.0.1", False),
        ("http://0.0.0.0", False),
        ("", False),
    ],
)
def test_loopback(url: str, own: bool) -> None:
    assert is_loopback(url) is own


def test_importing_loads_no_client() -> None:
    code = (
        "import sys, studio.agents.agent, studio.agents.openai_client, studio.agents.offline, studio.agents.runner\n"
        "import studio.agents.mcp, studio.agents.cassettes, studio.agents.prices, studio.engine.hosts.runner\n"
        "bad = {'openai', 'httpx2', 'pydantic', 'anyio', 'mcp'} & set(sys.modules)\n"
        "assert not bad, bad"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=root, check=False)
    assert done.returncode == 0, done.stderr


# ------------------------------------------------------------------------------------------------------- retries


async def test_a_rate_limit_is_waited_for_and_told(make_client: MakeClient, request_hello: ChatRequest) -> None:
    notes = Notes()
    busy = Given((b'{"error": {"message": "slow down"}}',), 429, "application/json", {"retry-after-ms": "20"})
    async with ScriptedServer(busy, busy, HELLO) as server:
        reply = await make_client(server.url, tries=3).complete(request_hello, chunk=lambda _: None, hooks=notes)
        assert len(server.received) == 3
    assert reply.text == "Hello"
    assert [(a, w) for a, w, _ in notes.retries] == [(1, 0.02), (2, 0.02)]
    assert "slow down" in notes.retries[0][2]


@pytest.mark.parametrize(
    "given",
    [
        Given(status=429, headers={"retry-after": "130"}),
        Given(status=400),
        Given(status=401),
        Given(status=500, headers={"x-should-retry": "false"}),
        Given((delta(content="Hel"),)),
        Given((delta(content="Hel"), b'data: {"error": {"message": "m", "code": 503}}\n\n')),
    ],
    ids=["long wait", "bad request", "bad key", "told not to", "cut off", "failed inside"],
)
async def test_not_tried_again(given: Given, make_client: MakeClient, request_hello: ChatRequest) -> None:
    notes = Notes()
    async with ScriptedServer(given) as server:
        with pytest.raises(ProviderError):
            await make_client(server.url, tries=3).complete(request_hello, chunk=lambda _: None, hooks=notes)
        assert len(server.received) == 1
    assert notes.retries == []


async def test_try_now_ends_the_wait(make_client: MakeClient, request_hello: ChatRequest) -> None:
    notes = Notes()
    async with ScriptedServer(Given(status=503, headers={"retry-after": "100"}), HELLO) as server:
        client = make_client(server.url, tries=2)
        running = asyncio.ensure_future(client.complete(request_hello, chunk=lambda _: None, hooks=notes))
        await asyncio.wait_for(notes.retried.wait(), 60)
        client.retry_now()
        assert (await asyncio.wait_for(running, 60)).text == "Hello"


async def test_other_calls_wait_for_the_same_rate_limit(make_client: MakeClient, request_hello: ChatRequest) -> None:
    first, second = Notes(), Notes()
    async with ScriptedServer(Given(status=429, headers={"retry-after-ms": "150"}), HELLO) as server:
        client = make_client(server.url, tries=2)
        running = asyncio.ensure_future(client.complete(request_hello, chunk=lambda _: None, hooks=first))
        await asyncio.wait_for(first.retried.wait(), 60)
        await client.complete(request_hello, chunk=lambda _: None, hooks=second)
        await running
        assert len(server.received) == 3
    assert [a for a, _, _ in second.retries] == [0]


def test_waits_grow_and_are_bounded() -> None:
    policy = RetryPolicy(9, jitter=lambda: 0.0)
    waits = [policy.wait_for(ProviderError("server", status=500), n) for n in range(1, 10)]
    assert waits == [0.5, 1, 2, 4, 8, 8, 8, 8, None]
    assert RetryPolicy(9, jitter=lambda: 1.0).wait_for(ProviderError("server", status=500), 1) == 0.375
    for odd in (0.0, float("inf"), float("nan")):
        assert policy.wait_for(ProviderError("rate_limited", status=429, retry_after=odd), 1) == 0.5
    named = ProviderError("server", status=500, parameter="developer")
    assert [policy.wait_for(named, n) for n in (1, 2)] == [0.5, None]


# ------------------------------------------------------------------------------------------------------ requests


async def test_what_is_sent(make_client: MakeClient) -> None:
    tool = Tool("look", "Looks", {"type": "object", "properties": {"q": {"type": "string"}}})
    options = ChatOptions(temperature=0.5, max_tokens=9, stop=("x",), tool_choice="look", extra={"top_k": 3})
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    async with ScriptedServer(WHOLE) as server:
        client = make_client(server.url, limit_name="max_completion_tokens")
        agent = Agent("bot", client, "Be kind", (tool,), options, schema)
        await agent.run([user("hello")])
        body = server.received[0].body
    assert body == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be kind"}, {"role": "user", "content": "hello"}],
        "stream": False,
        "temperature": 0.5,
        "max_completion_tokens": 9,
        "stop": ["x"],
        "top_k": 3,
        "tools": [
            {"type": "function", "function": {"name": "look", "description": "Looks", "parameters": dict(tool.schema)}}
        ],
        "tool_choice": "required",
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": schema, "strict": False},
        },
    }
