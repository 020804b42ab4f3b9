"""The answer as it came: kept within a limit, without secrets, also of a call that failed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest
from studio.agents import ChatRequest, NoHooks, ProviderError
from studio.agents.raw_answer import FIRST, LAST, RawAnswer
from studio.agents.redaction import _PARTS, PATTERNS, redact
from tests.agents.conftest import MakeClient
from tests.agents.test_redaction import CANARIES
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, delta


@dataclass
class Hears(NoHooks):
    raw: list[str] = field(default_factory=list)

    def raw_answer(self, call: str, text: Callable[[], str]) -> None:
        self.raw.append(text())


def test_long_bodies_keep_their_beginning_and_end() -> None:
    body = b"".join(b"%07d\n" % number for number in range(10_000))
    for size in (1, 7, 1000, 50_000, 80_000):
        raw = RawAnswer()
        raw.begin(200, [("Content-Type", "text/plain"), ("Set-Cookie", "session=abc")])
        for at in range(0, len(body), size):
            raw.take(body[at : at + size])
        text = raw.text((), "")
        gone = len(body) - FIRST - LAST
        expected = f"{body[:FIRST].decode()}\n\n… {gone} bytes are left out …\n\n{body[-LAST:].decode()}"
        assert text == f"HTTP 200\nContent-Type: text/plain\n\n{expected}", size


def test_a_body_within_the_limit_is_whole() -> None:
    raw = RawAnswer()
    assert raw.text((), "") == ""
    raw.begin(500, [])
    body = b"x" * FIRST + b"y" * LAST
    for at in range(0, len(body), 999):
        raw.take(body[at : at + 999])
    assert raw.text((), "") == f"HTTP 500\n\n{body.decode()}"


def test_secrets_go() -> None:
    raw = RawAnswer()
    raw.begin(200, [("x-echo", "Bearer abcdef0123456789")])
    raw.take(b'{"said": "my-own-secret and sk-proj-abcdefghijkl"}')
    text = raw.text(("my-own-secret",), "")
    assert text == 'HTTP 200\nx-echo: Bearer [secret]\n\n{"said": "[secret] and [secret]"}'
    assert "left out: the answer holds a secret" in raw.text((), "it is [secret]")
    assert "my-own" not in raw.text((), "it is [secret]")


@pytest.mark.parametrize("canary", CANARIES)
def test_looking_for_parts_first_finds_the_same(canary: str) -> None:
    for name, pattern in PATTERNS.items():
        if pattern.search(canary) is not None:
            assert any(part in canary for part in _PARTS.get(name, ("",))), name
    assert "[secret]" in redact(f"x {canary} y")


async def test_a_stream_is_told_as_it_came(make_client: MakeClient, request_hello: ChatRequest) -> None:
    body = delta(content="Hel") + delta(content="lo") + delta("stop") + DONE
    hears = Hears()
    async with ScriptedServer(Given((body,))) as server:
        await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=hears)
    (raw,) = hears.raw
    head, _, rest = raw.partition("\n\n")
    assert head.startswith("HTTP 200\n")
    assert "text/event-stream" in head
    assert rest == body.decode()


async def test_a_key_that_is_repeated_piece_by_piece_is_not_told(
    make_client: MakeClient, request_hello: ChatRequest
) -> None:
    key = "my-own-secret-key-1"
    body = b"".join(delta(content=letter) for letter in key) + delta("stop") + DONE
    hears = Hears()
    async with ScriptedServer(Given((body,))) as server:
        client = make_client(server.url, api_key=key)
        await client.complete(request_hello, chunk=lambda _: None, hooks=hears)
    (raw,) = hears.raw
    assert "left out: the answer holds a secret" in raw
    assert '"content"' not in raw


async def test_what_came_of_a_cut_answer_is_kept(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(Given((delta(content="Hel"),))) as server:
        with pytest.raises(ProviderError) as caught:
            await make_client(server.url).complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
    assert caught.value.raw.startswith("HTTP 200\n")
    assert '"Hel"' in caught.value.raw
