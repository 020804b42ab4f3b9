"""Messages as plain JSON and back, for stores that know nothing of messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.agents.messages import (
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
    Usage,
    UsagePart,
)

Json = dict[str, Any]


def message_to_plain(message: Message) -> Json:
    """The message as JSON values; what is empty is left out."""
    found: Json = {"role": message.role, "parts": [part_to_plain(part) for part in message.parts]}
    for name, value in (("author", message.author), ("id", message.id), ("extra", dict(message.extra))):
        if value:
            found[name] = value
    return found


def message_from_plain(row: Mapping[str, Any]) -> Message:
    """The message of :func:`message_to_plain`."""
    parts = tuple(_part_from_plain(part) for part in row["parts"])
    return Message(row["role"], parts, row.get("author"), row.get("id"), dict(row.get("extra", {})))


def part_to_plain(part: Part) -> Json:
    """A part as JSON values."""
    match part:
        case Text() | Reasoning():
            return {"type": part.type, "text": part.text}
        case Data():
            return {"type": part.type, "uri": part.uri, "media_type": part.media_type}
        case ToolCall():
            return _call_to_plain(part)
        case ToolResult():
            return {"type": part.type, "call_id": part.call_id, "result": part.result, "error": part.error}
        case ApprovalRequest():
            return {"type": part.type, "id": part.id, "call": _call_to_plain(part.call)}
        case ApprovalResponse():
            said: Json = {
                "type": part.type,
                "id": part.id,
                "approved": part.approved,
                "call": _call_to_plain(part.call),
            }
            return said if part.instead is None else {**said, "instead": _call_to_plain(part.instead)}
        case ErrorPart():
            return {"type": part.type, "message": part.message, "code": part.code}
        case UsagePart():
            return {"type": part.type, **usage_to_plain(part.usage)}


def _call_to_plain(call: ToolCall) -> Json:
    found: Json = {"type": call.type, "call_id": call.call_id, "name": call.name, "arguments": call.arguments}
    return {**found, "extra": dict(call.extra)} if call.extra else found


def _call_from_plain(row: Mapping[str, Any]) -> ToolCall:
    return ToolCall(row["call_id"], row["name"], row["arguments"], dict(row.get("extra", {})))


def _part_from_plain(row: Mapping[str, Any]) -> Part:
    match row["type"]:
        case "text":
            return Text(row["text"])
        case "text_reasoning":
            return Reasoning(row["text"])
        case "data" | "uri" | "hosted_file" as kind:
            return Data(row["uri"], row.get("media_type", ""), kind)
        case "function_call":
            return _call_from_plain(row)
        case "function_result":
            return ToolResult(row["call_id"], row.get("result"), row.get("error"))
        case "function_approval_request":
            return ApprovalRequest(row["id"], _call_from_plain(row["call"]))
        case "function_approval_response":
            instead = row.get("instead")
            return ApprovalResponse(
                row["id"],
                row["approved"],
                _call_from_plain(row["call"]),
                instead=None if instead is None else _call_from_plain(instead),
            )
        case "error":
            return ErrorPart(row["message"], row.get("code", ""))
        case "usage":
            return UsagePart(usage_from_plain(row))
    raise ValueError(f"unknown type of part: {row['type']!r}")


def usage_to_plain(usage: Usage) -> Json:
    """Token counts; unknown ones are left out."""
    counts = {"input": usage.input, "output": usage.output, "cached": usage.cached, "reasoning": usage.reasoning}
    found: Json = {name: count for name, count in counts.items() if count is not None}
    return {**found, "partial": True} if usage.partial else found


def usage_from_plain(row: Mapping[str, Any]) -> Usage:
    """The counts of :func:`usage_to_plain`."""
    return Usage(
        row.get("input"), row.get("output"), row.get("cached"), row.get("reasoning"), bool(row.get("partial", False))
    )
