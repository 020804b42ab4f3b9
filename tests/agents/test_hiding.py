"""Keys in the data of a run: taken out wherever the pieces of a stream are cut."""

from __future__ import annotations

import json
import re
from itertools import combinations, pairwise

import pytest
from studio.agents import AgentUpdate, ChatRequest, NoHooks, ToolCall, user
from studio.agents.hiding import Hider, HidingStream, sure
from tests.agents.conftest import MakeClient
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, call, delta

KEY = "sk-canary-7f3a"
TEXT = f"s sk sk- is {KEY}, {KEY[:-1]} skis"


def test_words_and_numbers_are_no_keys_whatever_they_are_used_for() -> None:
    for word in ("ollama", "lm-studio", "not-needed", "EMPTY", "k", "12345678901", "1e10000000", "sk-1"):
        assert not sure(word), word
    for key in (KEY, "token-abc123", "sk-canary-of-the-window", "0123456789abcdef"):
        assert sure(key), key


def test_whole_texts_and_json_lose_every_key_that_is_in_use_now() -> None:
    keys = frozenset({KEY, "ollama"})
    hide = Hider(lambda: keys)
    assert hide(f"{KEY} and ollama") == "[secret] and ollama"
    keys |= {'a"quoted\\key-1'}
    assert json.loads(hide(json.dumps({"a": [f'x a"quoted\\key-1 {KEY}']}))) == {"a": ["x [secret] [secret]"]}


@pytest.mark.parametrize("pieces", [1, 2, 3])
def test_a_stream_loses_its_key_wherever_it_is_cut(pieces: int) -> None:
    for cuts in combinations(range(1, len(TEXT)), pieces - 1):
        stream = HidingStream((KEY,))
        given = [stream.feed(TEXT[a:b]) for a, b in pairwise([0, *cuts, len(TEXT)])]
        whole = "".join([*given, stream.end()])
        assert re.sub(r"sk?\[secret]", "[secret]", whole) == TEXT.replace(KEY, "[secret]"), cuts
        assert KEY[2:] not in whole


def test_a_stream_by_single_characters_never_gives_more_than_two_of_a_key() -> None:
    stream = HidingStream((KEY,))
    given = [stream.feed(sign) for sign in f"a {KEY}. b"]
    assert "".join([*given, stream.end()]) == "a sk[secret]. b"


def test_texts_without_a_key_pass_unchanged_and_soon() -> None:
    stream = HidingStream((KEY,))
    for piece in ("This is ", "skin, not ", "sk", "-", "canoes"):
        stream.feed(piece)
    assert stream.end() == ""
    stream = HidingStream((KEY,))
    assert [stream.feed(piece) for piece in ("This is ", "plain text.")] == ["This is ", "plain text."]
    assert stream.feed("sk-can") == ""
    assert stream.end() == "sk-can"


async def test_an_answer_that_repeats_the_key_is_told_without_it(make_client: MakeClient) -> None:
    arguments = json.dumps({"token": KEY})
    chunks = [
        *(delta(reasoning_content=piece) for piece in ("I know ", KEY[:5], KEY[5:])),
        *(delta(content=piece) for piece in ("The key ", "is sk-", "canary", KEY[9:] + "!", " sk-ca")),
        delta(tool_calls=[call(0, "call_a", "send", arguments[:12])]),
        delta(tool_calls=[call(0, None, None, arguments[12:])]),
        delta("tool_calls"),
    ]
    body = [*chunks, DONE]
    updates: list[AgentUpdate] = []
    async with ScriptedServer(Given(body)) as server:
        client = make_client(server.url, api_key=KEY)
        reply = await client.complete(ChatRequest((user("go"),)), chunk=updates.append, hooks=NoHooks())
    assert "canary" not in str(updates)
    assert "canary" not in str(reply)
    assert reply.text == "The key is [secret]! sk-ca"
    [asked] = [p for p in reply.messages[0].parts if isinstance(p, ToolCall)]
    assert json.loads(asked.arguments) == {"token": "[secret]"}
