"""The built-in model over HTTP, for the transport and for the server: Chat Completions, and Responses."""

from __future__ import annotations

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

from studio.agents.offline import responses
from studio.agents.offline.model import OfflineModel, OfflineReply

MODELS = ("offline",)
JSON_TYPE = "application/json"
STREAM_TYPE = "text/event-stream"


@dataclass(frozen=True, slots=True)
class OfflineResponse:
    """``pieces`` come as they are made; closing the iterator ends the answer."""

    status: int
    headers: Mapping[str, str]
    pieces: AsyncIterator[bytes]


def respond(model: OfflineModel, method: str, path: str, body: bytes, node: str | None = None) -> OfflineResponse:
    """Answers a request; ``path`` is without query."""
    route = path.rstrip("/").removeprefix("/v1")
    if route == "/models" and method == "GET":
        listed = [{"id": m, "object": "model", "created": 0, "owned_by": "superstep-studio"} for m in MODELS]
        return _document(200, {"object": "list", "data": listed})
    if route not in ("/chat/completions", "/responses"):
        return problem(404, f"nothing at {path}; the model answers at /v1/chat/completions and /v1/responses")
    if method != "POST":
        return problem(405, f"{method} is not answered here")
    try:
        request = json.loads(body)
    except ValueError:
        return problem(400, "the body is no JSON")
    if route == "/responses" and isinstance(request, dict):
        return _responded(model, request, node)
    if not isinstance(request, dict) or not isinstance(request.get("messages"), list):
        return problem(400, "messages are missing")
    reply = model.reply(request, node)
    if reply.status >= 400:
        return _document(reply.status, _error(reply.error), model, reply)
    if request.get("stream"):
        return OfflineResponse(200, {"content-type": STREAM_TYPE}, _stream(model, reply, request))
    return _document(200, _completion(reply, request), model, reply)


def _responded(model: OfflineModel, request: dict[str, Any], node: str | None) -> OfflineResponse:
    """The answer of the Responses API."""
    try:
        reply = model.reply(responses.chat_body(request, model), node)
    except responses.NotAnswered as error:
        return problem(400, str(error))
    if reply.status >= 400:
        return _document(reply.status, _error(reply.error), model, reply)
    if request.get("stream"):
        return OfflineResponse(200, {"content-type": STREAM_TYPE}, responses.events(model, reply, request))
    return _document(200, responses.response(reply, request), model, reply)


def problem(status: int, message: str) -> OfflineResponse:
    """A refused request."""
    return _document(status, _error(message))


def _error(message: str) -> dict[str, Any]:
    return {"error": {"message": message, "type": "offline_model", "param": None, "code": None}}


def _document(
    status: int, body: Mapping[str, Any], model: OfflineModel | None = None, reply: OfflineReply | None = None
) -> OfflineResponse:
    """One JSON body, sent after as long as the whole answer takes. A script fails the same way at every try."""
    data = json.dumps(body, ensure_ascii=False).encode()
    headers = {"content-type": JSON_TYPE, "content-length": str(len(data))}
    if status >= 400:
        headers["x-should-retry"] = "false"

    async def pieces() -> AsyncIterator[bytes]:
        if model is not None and reply is not None:
            await model.sleep(reply.wait + reply.delay * max(len(reply.chunks) - 1, 0))
        yield data

    return OfflineResponse(status, headers, pieces())


def _head(request: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The id is a function of the conversation: callers take two answers with one id for the same message."""
    asked = json.dumps(request.get("messages"), sort_keys=True, default=str).encode()
    id = f"chatcmpl-{hashlib.blake2s(asked, digest_size=12).hexdigest()}"
    return {"id": id, "object": kind, "created": 0, "model": request.get("model") or MODELS[0]}


def _usage(reply: OfflineReply) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def _calls(reply: OfflineReply) -> list[dict[str, Any]]:
    return [
        {"id": c["id"], "type": "function", "function": {"name": c["name"], "arguments": c["arguments"]}}
        for c in reply.calls
    ]


def _finish(reply: OfflineReply) -> str:
    return "tool_calls" if reply.calls else "stop"


def _completion(reply: OfflineReply, request: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "".join(reply.chunks) if reply.chunks else None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": _finish(reply)}
    return {**_head(request, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


async def _stream(model: OfflineModel, reply: OfflineReply, request: Mapping[str, Any]) -> AsyncIterator[bytes]:
    """Server-sent events, each made when it is due."""
    head = _head(request, "chat.completion.chunk")

    def event(delta: Mapping[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**head, "choices": [choice]})

    await model.sleep(reply.wait)
    yield event({"role": "assistant", "content": ""})
    for number, chunk in enumerate(reply.chunks):
        await model.sleep(reply.delay if number else 0)
        yield event({"content": chunk})
    if reply.calls:
        await model.sleep(reply.delay)
        yield event({"tool_calls": [{"index": i, **c} for i, c in enumerate(_calls(reply))]})
    yield event({}, _finish(reply))
    if (request.get("stream_options") or {}).get("include_usage"):
        yield _event({**head, "choices": [], "usage": _usage(reply)})
    yield b"data: [DONE]\n\n"


def _event(body: Mapping[str, Any]) -> bytes:
    return b"data: " + json.dumps(body, ensure_ascii=False).encode() + b"\n\n"
