"""The built-in model in the form of the Responses API, for exported code that is written for it.

Bodies are read as Chat Completions bodies and answers written as items and events of a response, as OpenAI documents
both. Nothing is kept between requests: a request that counts on it is refused.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any

from studio.agents.offline.model import OfflineModel, OfflineReply

Json = Mapping[str, Any]

_KEPT = ("previous_response_id", "conversation")


class NotAnswered(Exception):
    """The request cannot be answered; the message says why."""


def chat_body(request: Json, model: OfflineModel) -> dict[str, Any]:
    """The request as a Chat Completions body. Raises :class:`NotAnswered`."""
    kept = next((name for name in _KEPT if request.get(name)), None)
    if kept is not None:
        raise NotAnswered(f"{kept} is given, but this server keeps nothing: send store=false and all messages")
    given = request.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list):
        raise NotAnswered("input is missing")
    head = [{"role": "system", "content": request["instructions"]}] if request.get("instructions") else []
    messages = [*head, *_messages([item for item in items if isinstance(item, Mapping)])]
    _name_own(messages, model)
    body: dict[str, Any] = {"model": request.get("model"), "messages": messages}
    tools = [tool for tool in request.get("tools") or () if isinstance(tool, Mapping)]
    if tools:
        body["tools"] = [{"type": "function", "function": dict(tool)} for tool in tools]
    choice = request.get("tool_choice")
    if choice is not None:
        named = isinstance(choice, Mapping) and choice.get("type") == "function"
        body["tool_choice"] = {"type": "function", "function": {"name": choice.get("name")}} if named else choice
    form = (request.get("text") or {}).get("format")
    if isinstance(form, Mapping):
        body["response_format"] = {"type": form.get("type"), "json_schema": dict(form)}
    return body


def _messages(items: Sequence[Json]) -> list[dict[str, Any]]:
    """Items as messages; calls belong to the message of the assistant before them, as they do in Chat Completions."""
    found: list[dict[str, Any]] = []
    for item in items:
        match item.get("type", "message"):
            case "message":
                found.append({"role": item.get("role"), "content": item.get("content")})
            case "function_call":
                function = {"name": item.get("name"), "arguments": item.get("arguments")}
                if not found or found[-1]["role"] != "assistant":
                    found.append({"role": "assistant", "content": None})
                calls = found[-1].setdefault("tool_calls", [])
                calls.append({"id": item.get("call_id"), "type": "function", "function": function})
            case "function_call_output":
                found.append({"role": "tool", "tool_call_id": item.get("call_id"), "content": item.get("output")})
    return found


def _name_own(messages: Sequence[dict[str, Any]], model: OfflineModel) -> None:
    """Names the speaker of what the assistant says: items have no name, but a script has texts and calls by which
    they are known."""
    node = model.node_of(messages)
    for message in messages:
        if message["role"] == "assistant":
            message["name"] = model.name_of(node) if model.is_said_by(node, message) else "someone_else"


# ------------------------------------------------------------------------------------------------------ the answer


def response(reply: OfflineReply, request: Json) -> dict[str, Any]:
    """The whole answer."""
    name = _name(request)
    return _response(reply, request, name, "completed", _items(reply, name))


async def events(model: OfflineModel, reply: OfflineReply, request: Json) -> AsyncIterator[bytes]:
    """The answer as server-sent events, each made when it is due."""
    number = 0

    def event(kind: str, **more: Any) -> bytes:
        nonlocal number
        body = {"type": kind, "sequence_number": number, **more}
        number += 1
        return f"event: {kind}\ndata: {json.dumps(body, ensure_ascii=False)}\n\n".encode()

    name = _name(request)
    await model.sleep(reply.wait)
    yield event("response.created", response=_response(reply, request, name, "in_progress", []))
    for index, item in enumerate(_items(reply, name)):
        pieces = _said(model, reply, item, index, event) if item["type"] == "message" else _called(item, index, event)
        async for piece in pieces:
            yield piece
    yield event("response.completed", response=response(reply, request))


Event = Callable[..., bytes]


async def _said(model: OfflineModel, reply: OfflineReply, item: Json, index: int, event: Event) -> AsyncIterator[bytes]:
    yield event("response.output_item.added", output_index=index, item={**item, "status": "in_progress", "content": []})
    place = {"item_id": item["id"], "output_index": index, "content_index": 0}
    part = item["content"][0]
    yield event("response.content_part.added", **place, part={**part, "text": ""})
    for count, chunk in enumerate(reply.chunks):
        await model.sleep(reply.delay if count else 0)
        yield event("response.output_text.delta", **place, delta=chunk, logprobs=[])
    yield event("response.output_text.done", **place, text=part["text"], logprobs=[])
    yield event("response.content_part.done", **place, part=part)
    yield event("response.output_item.done", output_index=index, item=item)


async def _called(item: Json, index: int, event: Event) -> AsyncIterator[bytes]:
    started = {**item, "status": "in_progress", "arguments": ""}
    place = {"item_id": item["id"], "output_index": index}
    yield event("response.output_item.added", output_index=index, item=started)
    yield event("response.function_call_arguments.delta", **place, delta=item["arguments"])
    yield event("response.function_call_arguments.done", **place, name=item["name"], arguments=item["arguments"])
    yield event("response.output_item.done", output_index=index, item=item)


def _name(request: Json) -> str:
    """A function of the conversation, for the ids: callers take two answers with one id for the same message."""
    asked = json.dumps([request.get("instructions"), request.get("input")], sort_keys=True, default=str)
    return hashlib.blake2s(asked.encode(), digest_size=12).hexdigest()


def _items(reply: OfflineReply, name: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    if reply.chunks:
        part = {"type": "output_text", "text": "".join(reply.chunks), "annotations": [], "logprobs": []}
        found.append(
            {"id": f"msg_{name}", "type": "message", "status": "completed", "role": "assistant", "content": [part]}
        )
    for number, call in enumerate(reply.calls):
        called = {"call_id": call["id"], "name": call["name"], "arguments": call["arguments"]}
        found.append({"id": f"fc_{name}_{number}", "type": "function_call", "status": "completed", **called})
    return found


def _response(reply: OfflineReply, request: Json, name: str, status: str, items: Sequence[Json]) -> dict[str, Any]:
    usage = {
        "input_tokens": reply.input_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": reply.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": reply.input_tokens + reply.output_tokens,
    }
    return {
        "id": f"resp_{name}",
        "object": "response",
        "created_at": 0,
        "status": status,
        "model": request.get("model") or OfflineModel.name,
        "output": list(items),
        "usage": usage if status == "completed" else None,
        "error": None,
        "incomplete_details": None,
        "instructions": request.get("instructions"),
        "metadata": {},
        "parallel_tool_calls": True,
        "temperature": request.get("temperature"),
        "tool_choice": request.get("tool_choice") or "auto",
        "tools": list(request.get("tools") or ()),
        "top_p": request.get("top_p"),
    }
