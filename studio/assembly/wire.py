"""Messages and records as JSON for a worker process and back; the marks are those of ``studio.workers``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Data,
    ErrorPart,
    Message,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
)
from studio.engine.values import Record, SubRequest, SubResponse, TurnToken, plain

_PARTS: Mapping[str, type[Any]] = {
    "text": Text,
    "text_reasoning": Reasoning,
    "data": Data,
    "uri": Data,
    "hosted_file": Data,
    "function_call": ToolCall,
    "function_result": ToolResult,
    "function_approval_request": ApprovalRequest,
    "function_approval_response": ApprovalResponse,
    "error": ErrorPart,
}
_PART = Text | Reasoning | Data | ToolCall | ToolResult | ApprovalRequest | ApprovalResponse | ErrorPart


def to_worker(value: Any) -> Any:
    """A message as JSON. Raises ``TypeError`` for what user code cannot be given."""
    if value is None or isinstance(value, str | int | float):
        return value
    if isinstance(value, Record):
        return {"$record": value.type_name, **value.plain()}
    if isinstance(value, Mapping):
        return _object(value)
    if isinstance(value, list | tuple):
        return [to_worker(item) for item in value]
    if isinstance(value, _PART):
        return {"$": "content", **_part(value)}
    write = _WRITERS.get(type(value))
    if write is None:
        raise TypeError(f"code cannot be given a {type(value).__name__}")
    return write(value)


def _object(value: Mapping[str, Any]) -> Any:
    items = {key: to_worker(item) for key, item in value.items()}
    if "$" in items or "$record" in items:
        return {"$": "dict", "items": [[key, item] for key, item in items.items()]}
    return items


def _part(part: Part) -> dict[str, Any]:
    found = {f.name: getattr(part, f.name) for f in fields(part)}
    if isinstance(part, ApprovalRequest | ApprovalResponse):
        found["call"] = _part(part.call)
    if isinstance(part, ApprovalResponse) and part.instead is not None:
        found["instead"] = _part(part.instead)
    return {name: plain(item) for name, item in found.items()}


def _message(message: Message) -> dict[str, Any]:
    return {
        "$": "message",
        "role": message.role,
        "parts": [_part(p) for p in message.parts],
        "author": message.author,
        "id": message.id,
        "extra": plain(message.extra),
    }


def _reply(reply: AgentReply) -> dict[str, Any]:
    return {
        "$": "reply",
        "messages": [_message(m) for m in reply.messages],
        "value": to_worker(reply.value),
        "finish_reason": reply.finish_reason,
    }


_WRITERS: Mapping[type, Callable[[Any], Any]] = {
    Message: _message,
    AgentReply: _reply,
    AgentUpdate: lambda u: _message(Message(u.role, u.parts, u.author, u.message_id)),
    AgentResponse: lambda r: {
        "$": "response",
        "executor": r.executor,
        "reply": _reply(r.reply),
        "conversation": [_message(m) for m in r.conversation],
    },
    AgentRequest: lambda r: {
        "$": "request",
        "messages": [_message(m) for m in r.messages],
        "should_respond": r.should_respond,
    },
    SubRequest: lambda r: {"executor": r.executor, "request": r.request, "data": to_worker(r.data)},
    SubResponse: lambda r: {"request": r.request, "data": to_worker(r.data)},
    TurnToken: lambda t: {"$": "turn_token", "emit_events": t.emit_events},
}

# --------------------------------------------------------------------------------------------------------- back


def from_worker(value: Any) -> Any:
    """What user code gave, as a message: declared types become records."""
    if isinstance(value, list):
        return [from_worker(item) for item in value]
    if not isinstance(value, dict):
        return value
    record = value.get("$record")
    if record is not None:
        return Record(record, {k: _plain_of(v) for k, v in value.items() if k != "$record"})
    tag = value.get("$")
    if tag is None:
        return {key: from_worker(item) for key, item in value.items()}
    return _READERS[tag](value)


def _plain_of(value: Any) -> Any:
    return plain(from_worker(value))


def read_messages(values: Sequence[Any]) -> tuple[Message, ...]:
    """Messages from their JSON."""
    return tuple(_read_message(v) for v in values)


def _read_message(value: Mapping[str, Any]) -> Message:
    parts = tuple(_read_part(p) for p in value["parts"])
    return Message(value["role"], parts, value["author"], value["id"], value["extra"] or {})


def _read_part(value: Mapping[str, Any]) -> Part:
    kind = _PARTS.get(value["type"])
    if kind is None:
        raise TypeError(f"the code made a part of the unknown type {value['type']}")
    given = {f.name: value[f.name] for f in fields(kind) if value.get(f.name) is not None}
    call = value.get("call", value.get("function_call"))
    if isinstance(call, Mapping):
        given["call"] = _read_part(call)
    if isinstance(given.get("instead"), Mapping):
        given["instead"] = _read_part(given["instead"])
    if isinstance(given.get("arguments"), dict):
        given["arguments"] = json.dumps(given["arguments"], ensure_ascii=False)
    made: Part = kind(**given)
    return made


def _read_reply(value: Mapping[str, Any]) -> AgentReply:
    return AgentReply(read_messages(value["messages"]), None, value["finish_reason"], from_worker(value["value"]))


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "dict": lambda v: {key: from_worker(item) for key, item in v["items"]},
    "content": _read_part,
    "message": _read_message,
    "reply": _read_reply,
    "response": lambda v: AgentResponse(v["executor"], _read_reply(v["reply"]), read_messages(v["conversation"])),
    "turn_token": lambda v: TurnToken(v["emit_events"]),
    "request": lambda v: AgentRequest(read_messages(v["messages"]), v["should_respond"]),
}
