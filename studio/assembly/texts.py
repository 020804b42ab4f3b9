"""Messages as texts, type names and values: the one place that decides how a message is shown and what conditions,
templates and text handlers see of it. Exported projects carry the same rules in their ``support.py``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

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
    user,
)
from studio.document.conditions import Scope
from studio.engine.values import Record, SubRequest, SubResponse, TurnToken, plain

_FIELD = re.compile(r"\{([A-Za-z_][\w.]*)\}")
_PARTS = (Text, Reasoning, Data, ToolCall, ToolResult, ApprovalRequest, ApprovalResponse, ErrorPart)
_WITH_TEXT = (Message, AgentReply, AgentResponse, AgentUpdate)


def value_text(data: object) -> str:
    """The text of a message: of the last message for a request or a list of messages (a turn ends with its answer),
    of the items for another list, else the value as JSON."""
    if isinstance(data, str):
        return data
    if data is None:
        return ""
    if isinstance(data, _WITH_TEXT):
        return data.text
    if isinstance(data, AgentRequest):
        return data.messages[-1].text if data.messages else ""
    if isinstance(data, SubRequest | SubResponse):
        return value_text(data.data)
    if isinstance(data, _PARTS):
        return part_text(data)
    if isinstance(data, Mapping):
        text = data.get("text")
        return text if isinstance(text, str) else json_text(plain_value(data))
    if isinstance(data, TurnToken):
        return "turn token"
    if is_messages(data):
        return data[-1].text
    if isinstance(data, Sequence) and not isinstance(data, bytes):
        return " ".join(value_text(item) for item in data)
    return json_text(data)


def is_messages(data: object) -> TypeGuard[Sequence[Message]]:
    """Whether a value is a list of chat messages, and not an empty one."""
    return isinstance(data, list | tuple) and bool(data) and all(isinstance(item, Message) for item in data)


def part_text(part: object) -> str:
    """One part of a message: a text itself, a call as ``name(arguments)``, a result as its value, an
    answered approval as what was said and the call."""
    match part:
        case Text(text) | Reasoning(text):
            return text
        case ToolCall():
            return f"{part.name}({part.arguments})"
        case ToolResult():
            return value_text(part.result)
        case ApprovalRequest():
            return part_text(part.call)
        case ApprovalResponse():
            said = "approved" if part.approved else "refused" if part.instead is None else "changed to"
            return f"{said} {part_text(part.instead or part.call)}"
        case ErrorPart():
            return part.message
        case Data():
            return part.uri
    return ""


def json_text(value: object) -> str:
    """A plain value as JSON; what is none is shown by its class."""
    return json.dumps(value, ensure_ascii=False, default=lambda v: f"<{type(v).__name__}>")


def type_name(data: object) -> str:
    """The name of a message's type as a document writes it: ``text``, ``response``, a declared type ..."""
    for kinds, name in _NAMES:
        if isinstance(data, kinds):
            return name
    if isinstance(data, Record):
        return data.type_name
    if isinstance(data, Mapping):
        return "object"
    if isinstance(data, list | tuple):
        return "messages" if is_messages(data) else "list"
    return type(data).__name__


_NAMES: tuple[tuple[type | tuple[type, ...], str], ...] = (
    (str, "text"),
    (type(None), "nothing"),
    (bool, "boolean"),
    (int, "integer"),
    (float, "number"),
    (Message, "message"),
    (AgentResponse, "response"),
    (AgentRequest, "request"),
    (AgentReply, "reply"),
    (AgentUpdate, "update"),
    (_PARTS, "content"),
    (SubRequest, "sub_request"),
    (SubResponse, "sub_response"),
    (TurnToken, "turn_token"),
)


def plain_value(data: object) -> Any:
    """A value as JSON has it: a record as an object, what has a text as that text."""
    if isinstance(data, (*_WITH_TEXT, *_PARTS, AgentRequest, SubRequest, SubResponse)):
        return value_text(data)
    if isinstance(data, Record | Mapping):
        return {str(k): plain_value(v) for k, v in data.items()}
    if isinstance(data, list | tuple):
        return [plain_value(item) for item in data]
    return plain(data)


def structured_value(data: object) -> Any:
    """What ``value`` means in conditions and templates: the JSON answer of an agent (None if it is none), also where it
    ends a list of messages, a record as an object, else the plain value."""
    if isinstance(data, AgentResponse | AgentReply):
        reply = data.reply if isinstance(data, AgentResponse) else data
        if reply.value is not None:
            return reply.value
        return _json_of(reply.text)
    if is_messages(data) and data[-1].role == "assistant":
        return _json_of(data[-1].text)
    return plain_value(data)


def _json_of(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def scope_of(data: object, state: Mapping[str, object] | None = None) -> Scope:
    """What a condition sees of a message."""
    return Scope(value_text(data), structured_value(data), type_name(data), state)


def field_of(value: Any, path: str) -> Any:
    """A field by its dotted path; a missing one is None."""
    for name in path.split(".") if path else ():
        if isinstance(value, Mapping):
            value = value.get(name)
        elif isinstance(value, Sequence) and not isinstance(value, str) and name.isdecimal() and int(name) < len(value):
            value = value[int(name)]
        else:
            return None
    return value


def fill(template: str, data: object, state: Callable[[str], Any]) -> str:
    """A text with its ``{text}``, ``{value.path}`` and ``{state.key}`` marks filled; a missing value is empty, other
    braces stay. ``{input}`` is another word for ``{text}``."""

    def found(match: re.Match[str]) -> str:
        first, _, rest = match[1].partition(".")
        if first in ("text", "input") and not rest:
            return value_text(data)
        if first == "value":
            value = field_of(structured_value(data), rest)
        elif first == "state" and rest:
            key, _, path = rest.partition(".")
            value = field_of(plain_value(state(key)), path)
        else:
            return match[0]
        return "" if value is None else value if isinstance(value, str) else json_text(value)

    return _FIELD.sub(found, template)


def messages_of(data: object) -> tuple[Message, ...]:
    """The messages that a value stands for: the reply of an agent, messages as they are, else one user message."""
    match data:
        case AgentResponse():
            return data.reply.messages
        case AgentReply() | AgentRequest():
            return data.messages
        case Message():
            return (data,)
        case list() | tuple():
            return tuple(message for item in data for message in messages_of(item))
    return (user(value_text(data)),)
