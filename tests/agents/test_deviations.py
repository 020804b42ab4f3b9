"""PR-1: one scripted stream per known deviation of providers, through the real client and reader."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from studio.agents import (
    AgentUpdate,
    ChatRequest,
    Message,
    NoHooks,
    ProviderError,
    Reasoning,
    Text,
    ToolCall,
    Usage,
    user,
)
from studio.agents.wire import wire_messages
from tests.agents.conftest import MakeClient
from tests.fakes.scripted_server import DONE, Given, ScriptedServer, call, delta, event

STOP = delta("stop")


@dataclass(frozen=True)
class Case:
    """A body and what must come of it: an error kind, or text, reasoning, calls and finish reason."""

    given: Given
    error: str = ""
    detail: str = ""
    partial: str = ""
    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, str, str], ...] = ()
    finish: str = "stop"


def stream(*pieces: bytes, type: str = "text/event-stream") -> Given:
    return Given(pieces, type=type)


def json_body(text: str, type: str = "application/json") -> Given:
    return Given((text.encode(),), type=type)


USAGE = event({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2}})
OK = delta(content="Hel"), delta(content="lo")

CASES: dict[str, Case] = {
    "plain": Case(stream(*OK, STOP, DONE), text="Hello"),
    "D1 no finish reason": Case(stream(*OK), "cut_off", "after 5 characters", "Hello"),
    "D1 no finish reason, done": Case(stream(*OK, DONE), "cut_off", "after 5 characters", "Hello"),
    "D1 finish without done": Case(stream(*OK, STOP), text="Hello"),
    "D2 nothing": Case(stream(), "empty"),
    "D2 done only": Case(stream(DONE), "empty"),
    "D3 error as JSON": Case(json_body('{"error": {"message": "no capacity"}}'), "server", "no capacity"),
    "D3 whole answer as JSON": Case(
        json_body('{"choices": [{"message": {"content": "Hello"}, "finish_reason": "stop"}]}'), text="Hello"
    ),
    "D3 page": Case(json_body("<html><body><h1>Sign in</h1></body></html>", "text/html"), "unreadable", "Sign in"),
    "D3 stream under another type": Case(stream(*OK, STOP, DONE, type="text/plain"), text="Hello"),
    "D5 error object": Case(
        stream(*OK, event({"error": {"message": "gone", "code": 503}})), "overloaded", "gone", "Hello"
    ),
    "D5 error string": Case(stream(*OK, event({"error": "it broke"})), "server", "it broke", "Hello"),
    "D5 error with choices": Case(
        stream(
            *OK,
            event({"error": {"message": "gone", "code": 502}, "choices": [{"delta": {}, "finish_reason": "error"}]}),
        ),
        "server",
        "gone",
        "Hello",
    ),
    "D6 error event": Case(stream(*OK, event({"message": "unloaded"}, "error")), "server", "unloaded", "Hello"),
    "D6 error event, no JSON": Case(stream(b"event: error\ndata: crashed hard\n\n"), "server", "crashed hard"),
    "D7 comments": Case(stream(b": OPENROUTER PROCESSING\n\n", OK[0], b": ping\n\n", OK[1], STOP, DONE), text="Hello"),
    "D8 events without data": Case(
        stream(b"id: 1\n: c\n\n", b"event: ping\n\n", OK[0], b"id: 2\nevent: ping\n\n", OK[1], STOP, DONE),
        text="Hello",
    ),
    "D9 no JSON": Case(stream(*OK, b"data: oh no\n\n"), "unreadable", "oh no", "Hello"),
    "D9 no object": Case(stream(b"data: 17\n\n"), "unreadable", "17"),
    "D10 empty choices": Case(
        stream(event({"choices": [], "prompt_filter": []}), *OK, STOP, USAGE, DONE), text="Hello"
    ),
    "D11 missing fields": Case(
        stream(
            event({}),
            event({"choices": None}),
            event({"choices": [{"delta": None}]}),
            event({"choices": [{"delta": {"content": "Hello"}}]}),
            event({"choices": [{"finish_reason": "stop"}]}),
        ),
        text="Hello",
    ),
    "D12 usage on a content chunk": Case(
        stream(OK[0], event({"choices": [{"delta": {"content": "lo"}}], "usage": {"prompt_tokens": 1}}), STOP),
        text="Hello",
    ),
    "D14 whole call": Case(
        stream(delta(tool_calls=[call(0, "a", "look", '{"q": 1}')]), delta("tool_calls"), DONE),
        calls=(("a", "look", '{"q": 1}'),),
        finish="tool_calls",
    ),
    "D15 same index, other ids": Case(
        stream(
            delta(tool_calls=[call(0, "a", "look", '{"a":1}')]),
            delta("tool_calls", tool_calls=[call(0, "b", "look", '{"a":2}')]),
        ),
        calls=(("a", "look", '{"a":1}'), ("b", "look", '{"a":2}')),
        finish="tool_calls",
    ),
    "D16 same index, no id": Case(
        stream(
            delta(tool_calls=[call(0, "a", "look", '{"a":1}')]),
            delta("tool_calls", tool_calls=[call(0, None, None, '{"a":2}')]),
        ),
        calls=(("a", "look", '{"a":1}'), ("call_2", "look", '{"a":2}')),
        finish="tool_calls",
    ),
    "D17 no index, no id": Case(
        stream(delta("tool_calls", tool_calls=[call(None, "", "look", '{"a":1}'), call(None, None, "count", "{}")])),
        calls=(("call_1", "look", '{"a":1}'), ("call_2", "count", "{}")),
        finish="tool_calls",
    ),
    "D18 repeated id and name": Case(
        stream(
            delta(tool_calls=[call(0, "a", "look", '{"a"')]),
            delta(tool_calls=[call(0, "a", "look", ":1}")]),
            delta("tool_calls", tool_calls=[call(0, "a", "", "")]),
        ),
        calls=(("a", "look", '{"a":1}'),),
        finish="tool_calls",
    ),
    "D19 object and empty arguments": Case(
        stream(
            delta("tool_calls", tool_calls=[call(0, "a", "look", {"q": "x"}), call(1, "b", "count", "")]),
        ),
        calls=(("a", "look", '{"q": "x"}'), ("b", "count", "{}")),
        finish="tool_calls",
    ),
    "D20 arguments cut": Case(
        stream(delta("tool_calls", tool_calls=[call(0, "a", "look", '{"q": "x')])),
        calls=(("a", "look", '{"q": "x'),),
        finish="tool_calls",
    ),
    "D21 stop with calls": Case(
        stream(delta(tool_calls=[call(0, "a", "look", "{}")]), STOP),
        calls=(("a", "look", "{}"),),
        finish="tool_calls",
    ),
    "D21 error with calls": Case(
        stream(delta("error", tool_calls=[call(0, "a", "look", "{}")])),
        calls=(("a", "look", "{}"),),
        finish="tool_calls",
    ),
    "D21 null with calls": Case(
        stream(delta(tool_calls=[call(0, "a", "look", "{}")]), DONE), calls=(("a", "look", "{}"),), finish="tool_calls"
    ),
    "D21 null with calls, no end": Case(stream(delta(tool_calls=[call(0, "a", "look", "{}")])), "cut_off"),
    "D21 unknown reason": Case(stream(*OK, delta("eos")), text="Hello", finish="eos"),
    "D21 error without calls": Case(stream(*OK, delta("error")), "server", partial="Hello"),
    "content filter": Case(stream(delta("content_filter")), "content_filter"),
    "D23 reasoning_content": Case(stream(delta(reasoning_content="hm"), *OK, STOP), text="Hello", reasoning="hm"),
    "D23 reasoning twice": Case(
        stream(delta(reasoning="hm", reasoning_details=[{"text": "hm"}]), *OK, STOP), text="Hello", reasoning="hm"
    ),
    "D23 reasoning_details": Case(
        stream(delta(reasoning_details=[{"type": "reasoning.text", "text": "hm"}]), *OK, STOP),
        text="Hello",
        reasoning="hm",
    ),
    "D23 think in the content": Case(
        stream(
            delta(content="<thi"), delta(content="nk>h"), delta(content="m</thi"), delta(content="nk>\n\n"), *OK, STOP
        ),
        text="Hello",
        reasoning="hm",
    ),
    "a lesser sign is text": Case(stream(delta(content="<th"), delta(content="e> end"), STOP), text="<the> end"),
    "unicode line ends": Case(
        stream('data: {"choices":[{"delta":{"content":"a\u2028b\u0085c"},"finish_reason":"stop"}]}\r\n\r\n'.encode()),
        text="a\u2028b\u0085c",
    ),
    "no blank after data": Case(
        stream(b'data:{"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata:[DONE]\n\n'), text="a"
    ),
    "no blank line at the end": Case(stream(*OK, STOP.rstrip(b"\n")), text="Hello"),
}


@pytest.mark.parametrize("name", CASES)
async def test_stream(name: str, make_client: MakeClient, request_hello: ChatRequest) -> None:
    case = CASES[name]
    updates: list[AgentUpdate] = []
    async with ScriptedServer(case.given) as server:
        client = make_client(server.url)
        if case.error:
            with pytest.raises(ProviderError) as caught:
                await client.complete(request_hello, chunk=updates.append, hooks=NoHooks())
            assert caught.value.kind == case.error
            assert case.detail in caught.value.detail
            assert caught.value.partial == case.partial
            return
        reply = await client.complete(request_hello, chunk=updates.append, hooks=NoHooks())
    (message,) = reply.messages
    calls = tuple((p.call_id, p.name, p.arguments) for p in message.parts if isinstance(p, ToolCall))
    assert (message.text, calls, reply.finish_reason) == (case.text, case.calls, case.finish)
    assert "".join(p.text for p in message.parts if isinstance(p, Reasoning)) == case.reasoning
    assert "".join(u.text for u in updates) == case.text
    assert [p for u in updates for p in u.parts if isinstance(p, ToolCall)] == [
        p for p in message.parts if isinstance(p, ToolCall)
    ]


async def test_d4_whole_answer_with_an_error(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(
        json_body('{"error": {"message": "no", "code": 429}}'), json_body('{"id": "x", "choices": null}')
    ) as server:
        client = make_client(server.url)
        for kind in ("rate_limited", "empty"):
            with pytest.raises(ProviderError) as caught:
                await client.complete(request_hello, chunk=None, hooks=NoHooks())
            assert caught.value.kind == kind
        assert server.received[0].body["stream"] is False


async def test_d12_usage_the_last_one_wins(make_client: MakeClient, request_hello: ChatRequest) -> None:
    later = event(
        {
            "choices": [],
            "usage": {
                "prompt_tokens": 9,
                "completion_tokens": 4,
                "prompt_tokens_details": {"cached_tokens": 5},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
        }
    )
    async with ScriptedServer(stream(*OK, USAGE, STOP, later, DONE), stream(*OK, STOP, DONE)) as server:
        client = make_client(server.url)
        first = await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
        second = await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
        assert server.received[0].body["stream_options"] == {"include_usage": True}
    assert first.usage == Usage(9, 4, 5, 1)
    assert second.usage is None


async def test_d13_stream_options_are_left_out_once_refused(
    make_client: MakeClient, request_hello: ChatRequest
) -> None:
    refused = Given(
        (b'{"error": {"message": "Unrecognized request argument: stream_options", "param": "stream_options"}}',),
        status=400,
        type="application/json",
    )
    async with ScriptedServer(refused, stream(*OK, STOP, DONE), stream(*OK, STOP, DONE)) as server:
        client = make_client(server.url)
        for _ in range(2):
            reply = await client.complete(request_hello, chunk=lambda _: None, hooks=NoHooks())
            assert reply.text == "Hello"
        assert ["stream_options" in r.body for r in server.received] == [True, False, False]


async def test_d22_unknown_fields_go_back_to_the_same_provider_only(make_client: MakeClient) -> None:
    signature = {"google": {"thought_signature": "s"}}
    given = stream(
        delta("tool_calls", tool_calls=[call(0, "a", "look", "{}", extra_content=signature)], vendor_id="v"), DONE
    )
    async with ScriptedServer(given, stream(*OK, STOP, DONE)) as server:
        client = make_client(server.url)
        first = ChatRequest((user("hello"),))
        reply = await client.complete(first, chunk=None, hooks=NoHooks())
        second = ChatRequest((user("hello"), *reply.messages))
        await client.complete(second, chunk=None, hooks=NoHooks())
        sent = server.received[1].body["messages"][-1]
        assert sent["vendor_id"] == "v"
        assert sent["tool_calls"][0]["extra_content"] == signature
        assert sent["content"] is None
    (elsewhere,) = wire_messages(ChatRequest(reply.messages), origin="another")
    assert "vendor_id" not in elsewhere
    assert "extra_content" not in elsewhere["tool_calls"][0]


async def test_made_up_ids_do_not_repeat_those_of_earlier_turns(make_client: MakeClient) -> None:
    given = stream(delta("tool_calls", tool_calls=[call(0, None, "look", "{}")]), DONE)
    async with ScriptedServer(given) as server:
        client = make_client(server.url)
        before = Message("assistant", (ToolCall("call_1", "look"),))
        reply = await client.complete(ChatRequest((user("q"), before)), chunk=None, hooks=NoHooks())
    assert [p.call_id for p in reply.messages[0].parts if isinstance(p, ToolCall)] == ["call_2"]


async def test_every_chunk_is_given_as_it_comes(make_client: MakeClient, request_hello: ChatRequest) -> None:
    async with ScriptedServer(stream(*OK, STOP, DONE)) as server:
        updates: list[AgentUpdate] = []
        await make_client(server.url).complete(request_hello, chunk=updates.append, hooks=NoHooks())
    assert [u.parts for u in updates] == [(Text("Hel"),), (Text("lo"),)]
