"""Joining the chunks of streams."""

from __future__ import annotations

from studio.agents.messages import AgentUpdate, Text, ToolCall
from studio.debugger.joining import join_tokens, join_updates
from studio.engine.events import Event, OutputYielded, TokensArrived, ToolStarted


def _output(text: str, invocation: str = "a") -> OutputYielded:
    return OutputYielded(0.0, 1, "writer", invocation, AgentUpdate((Text(text),), author="Writer"))


def test_tokens_and_streamed_outputs_of_an_invocation_join_apart() -> None:
    events: list[Event] = []
    for word in ("one ", "two ", "three"):
        events += [TokensArrived(0.0, "writer", "a", word), _output(word)]
    assert join_tokens(events) == [
        TokensArrived(0.0, "writer", "a", "one two three", chunks=3),
        _output("one two three"),
    ]


def test_another_event_of_the_invocation_ends_both_streams() -> None:
    tool = ToolStarted(0.0, "writer", "a", ToolCall("c1", "search"))
    joined = join_tokens([_output("x"), TokensArrived(0.0, "writer", "a", "x"), tool, _output("y"), _output("z")])
    assert joined == [_output("x"), TokensArrived(0.0, "writer", "a", "x"), tool, _output("yz")]


def test_reasoning_and_text_stay_apart_and_outputs_that_are_no_chunks_stay_whole() -> None:
    events: list[Event] = [
        TokensArrived(0.0, "writer", "a", "hm", "reasoning"),
        TokensArrived(0.0, "writer", "a", "so", "text"),
        OutputYielded(0.0, 1, "writer", "a", "whole"),
        OutputYielded(0.0, 1, "writer", "a", "whole"),
    ]
    assert join_tokens(events) == events


def test_many_chunks_are_joined_once_whole_values_stay_between() -> None:
    def update(text: str, author: str = "Writer") -> AgentUpdate:
        return AgentUpdate((Text(text),), author=author)

    outputs = [
        update("a"),
        update("b"),
        update("c"),
        "whole",
        update("d"),
        update("e", "Critic"),
        update("f", "Critic"),
    ]
    assert join_updates(outputs) == [update("abc"), "whole", update("d"), update("ef", "Critic")]
    assert join_updates([]) == []
