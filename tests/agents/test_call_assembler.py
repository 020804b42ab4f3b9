"""PR-2: tool calls put together from any pieces, and streams cut at any byte."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from studio.agents import ProviderError, ToolCall
from studio.agents.answer import Answer
from studio.agents.call_assembler import CallAssembler
from studio.agents.sse import SseReader
from tests.fakes.scripted_server import DONE, call, delta, event


def assembled(*deltas: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    assembler = CallAssembler()
    for entries in deltas:
        assembler.feed(entries)
    return [(c.call_id, c.name, c.arguments) for c in assembler.calls()]


def test_arguments_in_pieces() -> None:
    pieces = [[call(0, "a", "look", "")], [call(0, None, None, '{"q"')], [call(0, None, None, ": 1}")]]
    assert assembled(*pieces) == [("a", "look", '{"q": 1}')]


def test_two_calls_interleaved() -> None:
    pieces = [
        [call(0, "a", "look", '{"q"'), call(1, "b", "count", '{"n"')],
        [call(1, None, None, ": 2}"), call(0, None, None, ": 1}")],
    ]
    assert assembled(*pieces) == [("a", "look", '{"q": 1}'), ("b", "count", '{"n": 2}')]


def test_an_object_inside_open_arguments_is_no_new_call() -> None:
    pieces = [[call(0, "a", "look", '{"q": ')], [call(0, None, None, '{"x": 1}')], [call(0, None, None, "}")]]
    assert assembled(*pieces) == [("a", "look", '{"q": {"x": 1}}')]


def test_no_index_but_ids() -> None:
    pieces = [[call(None, "a", "look", '{"q"')], [call(None, "b", "look", "{}")], [call(None, "a", None, ": 1}")]]
    assert assembled(*pieces) == [("a", "look", '{"q": 1}'), ("b", "look", "{}")]


def test_no_index_and_no_name_goes_on_with_the_last() -> None:
    assert assembled([call(None, None, "look", '{"q"')], [call(None, None, None, ": 1}")]) == [
        ("call_1", "look", '{"q": 1}')
    ]


def test_double_ids_are_made_different() -> None:
    first, second = assembled([call(0, "a", "look", "{}"), call(1, "a", "look", "{}")])
    assert (first[0], second[0]) == ("a", "a_2")


@pytest.mark.parametrize("entries", [None, "x", 3, [None, 3, "x"], [{}], [{"function": None}], [{"index": "0"}]])
def test_nonsense_does_not_raise(entries: Any) -> None:
    assembler = CallAssembler()
    assembler.feed(entries)
    assembler.calls()


STREAMS = {
    "text": [delta(content="Héllo \u2028"), delta(content="wörld 🙂"), delta("stop"), DONE],
    "calls": [
        delta(content="Let me see."),
        delta(tool_calls=[call(0, "a", "look", '{"q"')]),
        delta(tool_calls=[call(0, None, None, ': "x"}')]),
        delta(tool_calls=[call(1, "b", "look", '{"q": 2}')]),
        delta("tool_calls"),
        event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}}),
        DONE,
    ],
    "repeated": [
        delta(tool_calls=[call(0, "a", "look", '{"q"')]),
        delta(tool_calls=[call(0, "a", "look", ": 1}")]),
        delta(tool_calls=[call(0, "b", "count", {"n": 1})]),
        delta("tool_calls"),
        b": ping\r\n\r\n",
        DONE,
    ],
}


def read(pieces: list[bytes]) -> tuple[str, list[ToolCall], str | None] | str:
    """Text, calls and finish reason, or the kind of the error. Anything but a ProviderError gets out."""
    reader, answer = SseReader(), Answer()
    try:
        for piece in pieces:
            for found in reader.feed(piece):
                answer.take_event(found)
                if answer.done:
                    break
        answer.end()
    except ProviderError as error:
        return error.kind
    reply = answer.reply()
    return reply.text, [p for p in reply.messages[0].parts if isinstance(p, ToolCall)], reply.finish_reason


@pytest.mark.parametrize("name", STREAMS)
def test_cut_anywhere_is_never_taken_for_whole(name: str) -> None:
    whole = b"".join(STREAMS[name])
    expected = read([whole])
    assert not isinstance(expected, str)
    finish = whole.index(b"\n\n", whole.index(b'"finish_reason": "')) + 2
    for cut in range(len(whole)):
        got = read([whole[:cut]])
        if cut < finish:
            assert got in ("cut_off", "empty"), cut
        else:
            assert got == expected, cut


@pytest.mark.parametrize("name", STREAMS)
def test_split_anywhere_makes_no_difference(name: str) -> None:
    whole = b"".join(STREAMS[name])
    expected = read([whole])
    for cut in range(len(whole)):
        assert read([whole[:cut], whole[cut:]]) == expected, cut
    assert read([bytes([b]) for b in whole]) == expected


@given(st.dictionaries(st.text(), st.text() | st.integers()), st.lists(st.integers(0, 60), max_size=6))
def test_any_arguments_in_any_pieces(arguments: dict[str, Any], cuts: list[int]) -> None:
    text = json.dumps(arguments)
    points = sorted({0, *(min(c, len(text)) for c in cuts), len(text)})
    pieces = [text[a:b] for a, b in pairwise(points)]
    deltas = [[call(0, "a" if i == 0 else None, "look" if i == 0 else None, p)] for i, p in enumerate(pieces)]
    ((_, _, got),) = assembled(*deltas)
    assert json.loads(got) == arguments
