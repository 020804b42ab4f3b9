"""Types of messages: Python classes, lists, unions and declared records; when a value fits, when an edge can work."""

from __future__ import annotations

from dataclasses import dataclass
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
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    UsagePart,
)
from studio.checkpoints.list_types import equal_means_same_type, types_in
from studio.engine.values import Record, ResetChat, ResetNode, SubRequest, SubResponse, TurnToken


@dataclass(frozen=True, slots=True)
class AnyType:
    """Every value."""


ANY = AnyType()


@dataclass(frozen=True, slots=True)
class ListOf:
    """A list whose items all fit ``item``; an empty list fits every one."""

    item: Type


@dataclass(frozen=True, slots=True, init=False)
class UnionOf:
    """Any of the members."""

    members: tuple[Type, ...]

    def __init__(self, *members: Type) -> None:
        object.__setattr__(self, "members", members)


@dataclass(frozen=True, slots=True)
class RecordType:
    """A :class:`Record` of this name."""

    name: str


Type = type[Any] | AnyType | ListOf | UnionOf | RecordType

CONTENT = UnionOf(Text, Reasoning, Data, ToolCall, ToolResult, ApprovalRequest, ApprovalResponse, ErrorPart, UsagePart)
"""One part of a message."""

_NAMES: dict[Type, str] = {
    str: "str",
    int: "int",
    float: "float",
    bool: "bool",
    dict: "object",
    list: "list",
    type(None): "none",
    ANY: "any",
    CONTENT: "content",
    Message: "message",
    AgentRequest: "request",
    AgentResponse: "response",
    AgentReply: "agent_reply",
    AgentUpdate: "agent_update",
    SubRequest: "sub_request",
    SubResponse: "sub_response",
    TurnToken: "turn_token",
    ResetChat: "reset_chat",
    ResetNode: "reset_node",
    ApprovalResponse: "approval_response",
    ToolResult: "tool_result",
}
_BY_NAME: dict[str, Type] = {name: kind for kind, name in _NAMES.items()}

equal_means_same_type(Message)


def fits(value: Any, wanted: Type) -> bool:
    """Whether a handler that accepts ``wanted`` takes ``value``. As in Python a bool is an int, an int no float."""
    if isinstance(wanted, type):
        return isinstance(value, wanted)
    if isinstance(wanted, ListOf):
        if not isinstance(value, list):
            return False
        if len(value) > 4 and isinstance(wanted.item, type):
            return all(issubclass(kind, wanted.item) for kind in types_in(value))
        return all(fits(item, wanted.item) for item in value)
    if isinstance(wanted, UnionOf):
        return any(fits(value, member) for member in wanted.members)
    if isinstance(wanted, RecordType):
        return isinstance(value, Record) and value.type_name == wanted.name
    return True


def compatible(sent: Type, accepted: Type) -> bool:
    """Whether values of type ``sent`` may be delivered to a handler that accepts ``accepted``."""
    if sent == accepted or isinstance(sent, AnyType) or isinstance(accepted, AnyType):
        return True
    if isinstance(sent, UnionOf):
        return all(compatible(member, accepted) for member in sent.members)
    if isinstance(accepted, UnionOf):
        return any(compatible(sent, member) for member in accepted.members)
    if isinstance(sent, ListOf) and isinstance(accepted, ListOf):
        return compatible(sent.item, accepted.item)
    if isinstance(sent, ListOf):
        return isinstance(accepted, type) and issubclass(list, accepted)
    if isinstance(accepted, ListOf):
        return isinstance(sent, type) and issubclass(sent, list)
    if isinstance(sent, type) and isinstance(accepted, type):
        return issubclass(sent, accepted)
    return False


def type_name(wanted: Type) -> str:
    """The name people and checkpoints see: ``list[message]``, ``str | message``, a record's or class's name."""
    known = _NAMES.get(wanted)
    if known is not None:
        return known
    if isinstance(wanted, ListOf):
        return f"list[{type_name(wanted.item)}]"
    if isinstance(wanted, UnionOf):
        return " | ".join(type_name(member) for member in wanted.members)
    if isinstance(wanted, RecordType):
        return wanted.name
    return wanted.__name__ if isinstance(wanted, type) else "any"


def _members(name: str) -> list[str]:
    """The members of a union name; bars inside brackets do not count."""
    members, depth, start = [], 0, 0
    for at, sign in enumerate(name):
        depth += (sign == "[") - (sign == "]")
        if sign == "|" and depth == 0:
            members.append(name[start:at].strip())
            start = at + 1
    return [*members, name[start:].strip()]


def parse_type(name: str) -> Type:
    """The type of a name as :func:`type_name` gives it; an unknown name is a record."""
    known = _BY_NAME.get(name)
    if known is not None:
        return known
    members = _members(name)
    if len(members) > 1:
        return UnionOf(*(parse_type(member) for member in members))
    if name.startswith("list[") and name.endswith("]"):
        return ListOf(parse_type(name[5:-1]))
    return RecordType(name)


def coerced(value: Any, wanted: Type) -> Any:
    """An answer as it was surely meant: an int for a float, an object for a record, a text for a part."""
    if fits(value, wanted):
        return value
    if wanted is float and isinstance(value, int):
        return float(value)
    if isinstance(wanted, RecordType) and isinstance(value, dict):
        return Record(wanted.name, value)
    if wanted == CONTENT and isinstance(value, str):
        return Text(value)
    if isinstance(wanted, ListOf) and isinstance(value, list):
        return [coerced(item, wanted.item) for item in value]
    if isinstance(wanted, UnionOf):
        candidates = (coerced(value, member) for member in wanted.members)
        return next((c for c, m in zip(candidates, wanted.members, strict=True) if fits(c, m)), value)
    return value
