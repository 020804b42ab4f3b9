"""PR-3: every shape of error body with every status: kind and detail, and nothing of a traceback."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from studio.agents import ChatRequest, NoHooks, ProviderError
from studio.agents.failures import from_response, retry_after
from tests.agents.conftest import MakeClient
from tests.fakes.scripted_server import Given, ScriptedServer

TEXT = "something is wrong here"
BODIES = {
    "openai": (f'{{"error": {{"message": "{TEXT}", "type": "t", "param": null, "code": "c"}}}}', TEXT),
    "string": (f'{{"error": "{TEXT}"}}', TEXT),
    "detail": (f'{{"detail": "{TEXT}"}}', TEXT),
    "detail list": ('{"detail": [{"loc": ["body", "n"], "msg": "no integer"}]}', "body.n: no integer"),
    "list": (f'[{{"error": {{"code": 400, "message": "{TEXT}", "status": "INVALID"}}}}]', TEXT),
    "object error": (f'{{"object": "error", "message": "{TEXT}", "code": 40}}', TEXT),
    "metadata": (f'{{"error": {{"code": 429, "metadata": {{"raw": "{TEXT}"}}}}}}', TEXT),
    "plain": (TEXT, TEXT),
    "page": (f"<html><head><title>t</title></head><body><h1>{TEXT}</h1></body></html>", TEXT),
    "empty": ("", "status"),
}
KINDS = {400: "bad_request", 401: "bad_key", 404: "bad_request", 429: "rate_limited", 500: "server", 502: "server"}


@pytest.mark.parametrize("status", KINDS)
@pytest.mark.parametrize("name", BODIES)
async def test_bodies(name: str, status: int, make_client: MakeClient, request_hello: ChatRequest) -> None:
    body, detail = BODIES[name]
    type = "text/html" if name == "page" else "application/json"
    async with ScriptedServer(Given((body.encode(),), status, type, {"x-request-id": "r1"})) as server:
        with pytest.raises(ProviderError) as caught:
            await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
    error = caught.value
    assert (error.kind, error.status, error.request_id) == (KINDS[status], status, "r1")
    assert detail in error.detail
    assert "Traceback" not in str(error)
    assert "<" not in error.detail


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, '{"error": {"message": "m", "code": "context_length_exceeded"}}', "context_too_long"),
        (400, '{"error": {"code": 400, "type": "exceed_context_size_error", "message": "m"}}', "context_too_long"),
        (400, '{"error": {"message": "This model\'s maximum context length is 5"}}', "context_too_long"),
        (400, '{"error": {"message": "m", "code": "content_filter"}}', "content_filter"),
        (403, '{"error": {"message": "flagged by moderation"}}', "content_filter"),
        (403, '{"error": {"message": "not yours"}}', "no_permission"),
        (402, '{"error": {"message": "pay"}}', "no_credit"),
        (429, '{"error": {"message": "m", "code": "insufficient_quota"}}', "no_credit"),
        (404, '{"error": {"message": "model x not found, try pulling it first"}}', "no_such_model"),
        (529, '{"error": {"message": "m"}}', "overloaded"),
        (503, "", "overloaded"),
        (408, "", "timeout"),
    ],
)
def test_kinds(status: int, body: str, kind: str) -> None:
    assert from_response(status, {}, body).kind == kind


@pytest.mark.parametrize(
    ("status", "body", "parameter"),
    [
        (400, '{"error": {"message": "m", "param": "temperature"}}', "temperature"),
        (422, '{"detail": [{"loc": ["body", "stream_options"], "msg": "extra"}]}', "stream_options"),
        (400, '{"error": {"message": "max_tokens is too large"}}', "max_tokens"),
        (400, '{"error": {"message": "max_completion_tokens is not supported"}}', "max_completion_tokens"),
        (500, '{"error": {"message": "unknown role developer"}}', "developer"),
        (400, '{"error": {"message": "temperature and top_p"}}', ""),
        (404, '{"error": {"message": "temperature"}}', ""),
    ],
)
def test_the_refused_setting(status: int, body: str, parameter: str) -> None:
    assert from_response(status, {}, body).parameter == parameter


def test_retry_after() -> None:
    later = datetime.now(UTC) + timedelta(seconds=30)
    assert retry_after({"retry-after-ms": "1500", "retry-after": "9"}) == 1.5
    assert retry_after({"retry-after": "7"}) == 7
    assert 25 < (retry_after({"retry-after": format_datetime(later)}) or 0) <= 30
    assert retry_after({"retry-after": "soon"}) is None
    assert retry_after({}) is None


async def test_a_key_in_the_message_is_hidden(make_client: MakeClient, request_hello: ChatRequest) -> None:
    body = b'{"error": {"message": "Incorrect API key provided: sk-canary-1"}}'
    async with ScriptedServer(Given((body,), 401, "application/json")) as server:
        client = make_client(server.url, api_key="sk-canary-1")
        with pytest.raises(ProviderError) as caught:
            await client.complete(request_hello, chunk=None, hooks=NoHooks())
    error = caught.value
    assert "canary" not in f"{error} {error!r} {error.raw} {error.args}"


async def test_unreachable(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(Given()) as server:
        url = server.url
    with pytest.raises(ProviderError) as caught:
        await make_client(url).complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "unreachable"


async def test_tls_to_a_plain_server(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async def plain(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(plain, "127.0.0.1", 0)
    client = make_client(f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    with pytest.raises(ProviderError) as caught:
        await client.complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "tls"
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize(
    "settings", [{"api_key": "k\n"}, {"api_key": "k y"}, {"api_key": "ключ"}, {"headers": {"a": "ü"}}]
)
async def test_a_key_that_no_header_takes(
    settings: dict[str, object], make_client: MakeClient, request_hello: ChatRequest
) -> None:
    with pytest.raises(ProviderError) as caught:
        await make_client("http://127.0.0.1:9/v1", **settings).complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "bad_key"


@pytest.mark.parametrize("url", ["", "127.0.0.1:8080", "ftp://x/v1", "http://"])
async def test_an_address_that_is_none(url: str, make_client: MakeClient, request_hello: ChatRequest) -> None:
    with pytest.raises(ProviderError) as caught:
        await make_client(url).complete(request_hello, chunk=None, hooks=NoHooks())
    assert caught.value.kind == "bad_request"


async def test_unfinished_chunked_body(make_client: MakeClient, request_hello: ChatRequest) -> None:
    body = b'data: {"choices": [{"delta": {"content": "Hello"}}]}\n\n'
    async with ScriptedServer(Given((body,), chunked=True)) as server:
        with pytest.raises(ProviderError) as caught:
            await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
    assert (caught.value.kind, caught.value.partial) == ("cut_off", "Hello")
