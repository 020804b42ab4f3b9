"""Values as the JSON lines show them: chat messages and the like as objects with a ``$`` field, the rest as it is."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from studio.agents.cost import Cost
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
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from studio.engine.values import Record, SubRequest, SubResponse, TurnToken


def shown(value: Any) -> Any:
    """``value`` as JSON."""
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Message():
            return {"$": "message", **_text_and_parts(value)}
        case AgentRequest():
            return {"$": "request", "messages": shown(value.messages), "should_respond": value.should_respond}
        case AgentResponse():
            reply, conversation = shown(value.reply.messages), shown(value.conversation)
            return {"$": "response", "executor": value.executor, "reply": reply, "conversation": conversation}
        case AgentReply():
            return {"$": "agent_reply", "messages": shown(value.messages)}
        case AgentUpdate():
            return {"$": "agent_update", **_text_and_parts(value)}
        case SubRequest():
            inner = {"inner_executor": value.inner_executor, "data": shown(value.data)}
            return {"$": "sub_request", "executor": value.executor, **inner}
        case SubResponse():
            return {"$": "sub_response", "data": shown(value.data)}
        case TurnToken():
            return {"$": "turn_token", "emit_events": value.emit_events}
        case Usage():
            return usage(value)
        case Record():
            return shown(value.plain())
        case Mapping():
            return {str(key): shown(item) for key, item in value.items()}
        case list() | tuple():
            return [shown(item) for item in value]
    part = _part(value)
    return {"$": "content", **part} if part else str(value)


def usage(value: Usage) -> dict[str, Any]:
    """Token counts and cost; what is not known is left out."""
    counts = {"input": value.input, "output": value.output, "cached": value.cached, "reasoning": value.reasoning}
    found: dict[str, Any] = {name: n for name, n in counts.items() if n is not None}
    if value.partial:
        found["partial"] = True
    if value.cost is not None:
        found["cost"] = cost(value.cost)
    return found


def cost(value: Cost) -> dict[str, Any]:
    """Amounts by currency as texts; ``partial``: at least so much, ``without_price``: calls that no price fits."""
    found: dict[str, Any] = {currency: f"{amount:f}" for currency, amount in value.amounts.items()}
    if value.partial:
        found["partial"] = True
    return found | ({"without_price": value.without_price} if value.without_price else {})


def _text_and_parts(value: Message | AgentUpdate) -> dict[str, Any]:
    found: dict[str, Any] = {"role": value.role, "text": value.text}
    if value.author is not None:
        found["author"] = value.author
    if not all(isinstance(part, Text) for part in value.parts):
        found["parts"] = [_part(part) for part in value.parts]
    return found


def _part(part: Any) -> dict[str, Any]:
    match part:
        case Text() | Reasoning():
            return {"type": part.type, "text": part.text}
        case ToolCall():
            return {
                "type": part.type, "call_id": part.call_id, "name": part.name, "arguments": _arguments(part.arguments),
            }  # fmt: skip
        case ToolResult():
            return {"type": part.type, "call_id": part.call_id, "result": shown(part.result)}
        case ApprovalRequest():
            return {"type": part.type, "name": part.call.name, "arguments": _arguments(part.call.arguments)}
        case ApprovalResponse():
            said = {"type": part.type, "approved": part.approved, "name": part.call.name}
            return said if part.instead is None else {**said, "instead": _arguments(part.instead.arguments)}
        case Data():
            return {"type": part.type, "uri": part.uri, "media_type": part.media_type}
        case ErrorPart():
            return {"type": part.type, "message": part.message}
    return {}


def _arguments(text: str) -> Any:
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return text
