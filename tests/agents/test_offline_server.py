"""The built-in model over loopback HTTP: with the real ``openai`` client, with the framework, and with strangers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import openai
import pytest
from studio.agents import Agent, ClientSettings, OpenAIChatClient, Tool, user
from studio.agents.offline import OfflineModel, Server, offline_client, serve

SCRIPT = {
    "nodes": {
        "writer": {
            "replies": [
                {"text": "Let me look.", "calls": [{"id": "c1", "tool": "look", "arguments": {"q": "boats"}}]},
                {"chunks": ["Boats ", "float."]},
                {"text": "They still do."},
            ]
        },
        "critic": {"replies": [{"echo": "I read: "}]},
        "broken": {"replies": [{"status": 503, "error": "out of order"}]},
    }
}
INSTRUCTIONS = {"writer": "Write.\nBe brief.", "critic": "Criticise.", "broken": "Break."}
ASK_WRITER = [{"role": "system", "content": "Write.\nBe brief."}, {"role": "user", "content": "boats"}]


def offline_model() -> OfflineModel:
    return OfflineModel(SCRIPT, INSTRUCTIONS)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    running = await serve(offline_model(), 0)
    yield running
    await running.close()


@pytest.fixture
async def official(server: Server) -> AsyncIterator[openai.AsyncOpenAI]:
    async with openai.AsyncOpenAI(api_key=server.key, base_url=server.url, max_retries=2) as client:
        yield client


async def test_the_official_client_whole(official: openai.AsyncOpenAI) -> None:
    answer = await official.chat.completions.create(model="any", messages=ASK_WRITER)  # type: ignore[arg-type]
    message = answer.choices[0].message
    assert message.content == "Let me look."
    assert message.tool_calls is not None
    assert message.tool_calls[0].function.arguments == '{"q": "boats"}'  # type: ignore[union-attr]
    assert answer.choices[0].finish_reason == "tool_calls"
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


async def test_the_official_client_streaming(official: openai.AsyncOpenAI) -> None:
    messages: list[Any] = [*ASK_WRITER, {"role": "assistant", "content": "x", "name": "writer"}]
    options: Any = {"include_usage": True}
    async with await official.chat.completions.create(
        model="any", messages=messages, stream=True, stream_options=options
    ) as stream:
        chunks = [chunk async for chunk in stream]
    texts = [c.choices[0].delta.content for c in chunks if c.choices]
    assert texts == ["", "Boats ", "float.", None]
    assert chunks[-1].usage is not None
    assert chunks[-2].choices[0].finish_reason == "stop"


async def test_the_list_of_models(official: openai.AsyncOpenAI) -> None:
    assert [m.id async for m in official.models.list()] == ["offline"]


async def test_errors_reach_the_official_client_at_once(official: openai.AsyncOpenAI) -> None:
    with pytest.raises(openai.InternalServerError, match="out of order"):
        await official.chat.completions.create(model="any", messages=[{"role": "system", "content": "Break."}])


async def test_the_frameworks_agents_say_what_ours_say(server: Server) -> None:
    import agent_framework as af
    from agent_framework.openai import OpenAIChatCompletionClient

    async def ours() -> list[str]:
        client = offline_client(offline_model())
        look = Tool("look", "", {"type": "object", "properties": {"q": {"type": "string"}}}, run)
        writer = Agent("writer", client, INSTRUCTIONS["writer"], (look,))
        critic = Agent("critic", client, INSTRUCTIONS["critic"])
        session = writer.new_session()
        first = await writer.run([user("boats")], session=session)
        second = await critic.run([user("boats"), *first.messages])
        third = await writer.run([user("boats"), *first.messages, *second.messages], session=session)
        await client.close()
        return [first.text, second.text, third.text]

    async def run(arguments: dict[str, Any]) -> str:
        return f"seen {arguments['q']}"

    async def theirs(stream: bool) -> list[str]:
        async with openai.AsyncOpenAI(api_key=server.key, base_url=server.url) as official:
            client = OpenAIChatCompletionClient(model="offline", async_client=official)

            def look(q: str) -> str:
                return f"seen {q}"

            writer = af.Agent(client, INSTRUCTIONS["writer"], name="writer", tools=[look])
            critic = af.Agent(client, INSTRUCTIONS["critic"], name="critic")

            async def say(agent: Any, messages: list[Any], session: Any = None) -> Any:
                if not stream:
                    return await agent.run(messages, session=session)
                running = agent.run(messages, session=session, stream=True)
                async for _ in running:
                    pass
                return await running.get_final_response()

            hello = af.Message(role="user", contents=["boats"])
            session = writer.create_session()
            first = await say(writer, [hello], session)
            second = await say(critic, [hello, *first.messages])
            third = await say(writer, [hello, *first.messages, *second.messages], session)
            return [first.text, second.text, third.text]

    expected = ["Let me look.Boats float.", "I read: Boats float.", "They still do."]
    assert await ours() == expected
    assert await theirs(stream=False) == expected
    assert await theirs(stream=True) == expected


async def test_our_client_over_http(server: Server) -> None:
    client = OpenAIChatClient(ClientSettings(server.url, server.key, model="offline", send_names=True))
    reply = await Agent("critic", client, "Criticise.").run([user("hello")], updates=lambda _: None)
    await client.close()
    assert reply.text == "I read: hello"


# ------------------------------------------------------------------------------------------------------ strangers


async def raw(server: Server, text: str) -> tuple[int, dict[str, str], bytes]:
    """Sends bytes as they are; gives status, headers and body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(text.encode())
    head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
    headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
    data = await reader.readexactly(int(headers.get("content-length", "0")))
    writer.close()
    await writer.wait_closed()
    return int(head[0].split(" ")[1]), headers, data


def request(
    server: Server, *, path: str = "/v1/models", method: str = "GET", key: str | None = None, host: str = ""
) -> str:
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{server.port}'}"]
    lines += [f"Authorization: Bearer {server.key if key is None else key}", "Origin: http://evil.example"]
    return "\r\n".join([*lines, "", ""])


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:80", "0.0.0.0"])
async def test_another_host_is_refused(host: str, server: Server) -> None:
    status, headers, body = await raw(server, request(server, host=host))
    assert status == 403
    assert "offline" not in json.loads(body)["error"]["message"]
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "[::1]:80", "127.0.0.1"])
async def test_a_loopback_host_is_answered(host: str, server: Server) -> None:
    assert (await raw(server, request(server, host=host)))[0] == 200


@pytest.mark.parametrize("key", ["", "wrong", "ü"])
async def test_the_key_is_needed(key: str, server: Server) -> None:
    assert (await raw(server, request(server, key=key)))[0] == 401


async def test_keys_are_random() -> None:
    first, second = await serve(offline_model()), await serve(offline_model(), key="given")
    assert len(first.key) > 20
    assert second.key == "given"
    assert first.port != second.port
    await first.close()
    await second.close()


async def test_no_cors(server: Server) -> None:
    status, headers, _ = await raw(server, request(server, method="OPTIONS", path="/v1/chat/completions"))
    assert status == 405
    assert not any(name.startswith("access-control") for name in headers)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("hello\r\n\r\n", 400),
        ("GET / HTTP/2\r\n\r\n", 400),
        ("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 9999999999\r\n\r\n", 400),
        ("POST /v1/chat/completions HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
        ("POST /v1/chat/completions HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400),
        (f"GET / HTTP/1.1\r\nX: {'y' * 70_000}\r\n\r\n", 400),
    ],
)
async def test_what_is_no_request(text: str, status: int, server: Server) -> None:
    assert (await raw(server, text))[0] == status


@pytest.mark.parametrize("sent", ["{", "[]", '{"messages": 3}'])
async def test_what_is_no_call(sent: str, server: Server) -> None:
    head = request(server, method="POST", path="/v1/chat/completions").removesuffix("\r\n")
    status, _, body = await raw(server, f"{head}Content-Length: {len(sent)}\r\n\r\n{sent}")
    assert status == 400
    assert json.loads(body)["error"]["message"]


async def test_a_body_in_chunks_is_read(server: Server) -> None:
    head = request(server, method="POST", path="/v1/chat/completions").removesuffix("\r\n")
    sent = json.dumps({"messages": [{"role": "system", "content": "Criticise."}, {"role": "user", "content": "q"}]})
    body = f"{len(sent):x}\r\n{sent}\r\n0\r\n\r\n"
    status, _, answer = await raw(server, f"{head}Transfer-Encoding: chunked\r\n\r\n{body}")
    assert status == 200
    assert json.loads(answer)["choices"][0]["message"]["content"] == "I read: q"


async def test_one_connection_takes_several_calls(server: Server) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for _ in range(3):
        writer.write(request(server).encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        assert head.startswith("http/1.1 200")
        length = int(head.split("content-length: ")[1].split("\r\n")[0])
        assert json.loads(await reader.readexactly(length))["object"] == "list"
    writer.close()
    await writer.wait_closed()


async def test_a_client_that_hangs_up_ends_its_answer() -> None:
    waiting, ended = asyncio.Event(), asyncio.Event()

    async def sleep(seconds: float) -> None:
        if not seconds:
            return
        waiting.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    script = {"nodes": {"w": {"replies": [{"text": "late", "wait_ms": 60_000}]}}}
    server = await serve(OfflineModel(script, {"w": "Wait."}, sleep=sleep))
    client = OpenAIChatClient(ClientSettings(server.url, server.key))
    running = asyncio.ensure_future(Agent("w", client, "Wait.").run([user("go")], updates=lambda _: None))
    await asyncio.wait_for(waiting.wait(), 60)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    await asyncio.wait_for(ended.wait(), 60)
    await client.close()
    await server.close()


async def test_closing_the_server_ends_answers() -> None:
    waiting = asyncio.Event()

    async def sleep(seconds: float) -> None:
        waiting.set()
        await asyncio.Event().wait()

    server = await serve(OfflineModel({}, {}, sleep=sleep))
    client = OpenAIChatClient(ClientSettings(server.url, server.key, tries=1))
    running = asyncio.ensure_future(Agent("w", client).run([user("go")], updates=lambda _: None))
    await asyncio.wait_for(waiting.wait(), 60)
    await asyncio.wait_for(server.close(), 60)
    with pytest.raises(Exception, match=r"cut off|cannot be reached"):
        await asyncio.wait_for(running, 60)
    await client.close()


async def test_a_taken_port_is_told(server: Server) -> None:
    with pytest.raises(OSError, match="address"):
        await serve(offline_model(), server.port)
