"""Values inside the worker process: look-alikes of the framework's message classes, dataclasses of declared types.

Standard library only; runs on the interpreter that the user chose (3.9 or newer). User code sees the attribute names
of ``agent_framework``, so that the same text runs in an exported project. On the wire everything is JSON:

* ``{"$record": NAME, FIELD: ...}`` a declared type,
* ``{"$": "message" | "reply" | "response" | "request" | "content" | "turn_token", ...}`` what agents take and give,
* ``{"$": "dict", "items": [[KEY, VALUE], ...]}`` a plain object that has one of these marks as a key.
"""

from __future__ import annotations

import copy
import dataclasses
import keyword
import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class NotJsonError(TypeError):
    """A value that cannot leave the worker."""


class Content:
    """One part of a message; fields that it does not have are None."""

    def __init__(self, type: str, **fields: Any) -> None:
        self.type = type
        self._fields = fields

    @classmethod
    def from_text(cls, text: str) -> Content:
        return cls("text", text=text)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        fields = self._fields
        return fields.get("call") if name == "function_call" and "call" in fields else fields.get(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Content) and (self.type, self._fields) == (other.type, other._fields)

    def __repr__(self) -> str:
        return f"Content({self.type!r}, {self._fields!r})"


@dataclasses.dataclass
class Message:
    """One chat message."""

    role: str
    contents: Any = None
    author_name: str | None = None
    message_id: str | None = None
    additional_properties: Any = None

    def __post_init__(self) -> None:
        given = [self.contents] if isinstance(self.contents, (str, Content)) else list(self.contents or ())
        self.contents = [Content.from_text(c) if isinstance(c, str) else c for c in given]
        self.additional_properties = dict(self.additional_properties or {})

    @property
    def text(self) -> str:
        return " ".join(c.text for c in self.contents if c.type == "text")


class AgentResponse:
    """What one agent run gave."""

    def __init__(self, *, messages: Any = None, value: Any = None, finish_reason: Any = None) -> None:
        self.messages: list[Message] = [messages] if isinstance(messages, Message) else list(messages or ())
        self.value = value
        self.finish_reason = finish_reason

    @property
    def text(self) -> str:
        return "".join(m.text for m in self.messages)


@dataclasses.dataclass
class AgentExecutorResponse:
    """What an agent node sends on."""

    executor_id: str
    agent_response: AgentResponse
    full_conversation: list[Message]

    def with_text(self, text: str) -> AgentExecutorResponse:
        """The same with its reply replaced by one message of this text, also at the end of the conversation."""
        message = Message("assistant", [text])
        kept = self.full_conversation[: len(self.full_conversation) - len(self.agent_response.messages)]
        return AgentExecutorResponse(self.executor_id, AgentResponse(messages=[message]), [*kept, message])


@dataclasses.dataclass
class AgentExecutorRequest:
    """Messages for an agent node; without ``should_respond`` they only fill its cache."""

    messages: list[Message]
    should_respond: bool = True


@dataclasses.dataclass
class TurnToken:
    """Lets an agent with the turn-token host take its turn; None leaves updates to the agent's own option."""

    emit_events: bool | None = None


PUBLIC: dict[str, Any] = {
    c.__name__: c for c in (Content, Message, AgentResponse, AgentExecutorResponse, AgentExecutorRequest, TurnToken)
}

# ------------------------------------------------------------------------------------------------ declared types


def make_types(declared: dict[str, dict[str, Any]]) -> dict[str, type]:
    """Dataclasses from JSON Schemas: fields without default first, each in the order of ``properties``."""
    return {name: _make_type(name, schema) for name, schema in declared.items()}


def _make_type(name: str, schema: dict[str, Any]) -> type:
    required = set(schema.get("required", ()))
    plain: list[Any] = []
    optional: list[Any] = []
    for field, described in (schema.get("properties") or {}).items():
        if not field.isidentifier() or keyword.iskeyword(field):
            raise ValueError(f"field {field!r} of type {name} is not a Python name")
        kind = _python_type(described)
        if field in required and "default" not in described:
            plain.append((field, kind))
        else:
            default = described.get("default")
            optional.append((field, kind, dataclasses.field(default_factory=_copies(default))))
    return dataclasses.make_dataclass(name, plain + optional, namespace={"__module__": "types"})


def _copies(default: Any) -> Callable[[], Any]:
    return lambda: copy.deepcopy(default)


def _python_type(described: dict[str, Any]) -> Any:
    names = {"string": str, "integer": int, "number": float, "boolean": bool, "array": list, "object": dict}
    kind = described.get("type")
    return names.get(kind, Any) if isinstance(kind, str) else Any


# ------------------------------------------------------------------------------------------------------- decode


def decode(value: Any, types: dict[str, type]) -> Any:
    """JSON from the wire -> what user code sees."""
    if isinstance(value, list):
        return [decode(v, types) for v in value]
    if not isinstance(value, dict):
        return value
    record = value.get("$record")
    if record is not None:
        fields = {k: decode(v, types) for k, v in value.items() if k != "$record"}
        kind = types.get(record)
        return kind(**fields) if kind is not None else fields
    tag = value.get("$")
    if tag is None:
        return {k: decode(v, types) for k, v in value.items()}
    if tag == "dict":
        return {k: decode(v, types) for k, v in value["items"]}
    return _DECODERS[tag](value, types)


def _message(value: dict[str, Any], types: dict[str, type]) -> Message:
    parts = [_content(p) for p in value.get("parts", ())]
    return Message(value["role"], parts, value.get("author"), value.get("id"), value.get("extra"))


def _content(value: dict[str, Any]) -> Content:
    fields = {k: v for k, v in value.items() if k not in ("$", "type")}
    if isinstance(fields.get("call"), dict):
        fields["call"] = _content(fields["call"])
    return Content(value["type"], **fields)


def _reply(value: dict[str, Any], types: dict[str, type]) -> AgentResponse:
    messages = [_message(m, types) for m in value["messages"]]
    return AgentResponse(
        messages=messages, value=decode(value.get("value"), types), finish_reason=value.get("finish_reason")
    )


def _response(value: dict[str, Any], types: dict[str, type]) -> AgentExecutorResponse:
    conversation = [_message(m, types) for m in value["conversation"]]
    return AgentExecutorResponse(value["executor"], _reply(value["reply"], types), conversation)


def _request(value: dict[str, Any], types: dict[str, type]) -> AgentExecutorRequest:
    return AgentExecutorRequest([_message(m, types) for m in value["messages"]], value.get("should_respond", True))


_DECODERS: dict[str, Any] = {
    "message": _message,
    "content": lambda value, types: _content(value),
    "reply": _reply,
    "response": _response,
    "request": _request,
    "turn_token": lambda value, types: TurnToken(value.get("emit_events")),
}

# ------------------------------------------------------------------------------------------------------- encode


def encode(value: Any) -> Any:
    """What user code gave -> JSON for the wire. Raises :class:`NotJsonError` naming the type that does not fit."""
    if value is None or isinstance(value, (str, bool)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJsonError(f"the number {value} is no JSON value")
        return float(value)
    if isinstance(value, (list, tuple)):
        return [encode(v) for v in value]
    if isinstance(value, dict):
        return _encode_dict(value)
    return _encode_object(value)


def _encode_dict(value: dict[Any, Any]) -> Any:
    wrong = next((k for k in value if not isinstance(k, str)), None)
    if wrong is not None:
        raise NotJsonError(f"a key of type {type(wrong).__name__} is no JSON key; keys must be texts")
    if "$" in value or "$record" in value:
        return {"$": "dict", "items": [[k, encode(v)] for k, v in value.items()]}
    return {k: encode(v) for k, v in value.items()}


def _encode_object(value: Any) -> Any:
    if isinstance(value, Message):
        return {
            "$": "message",
            "role": str(value.role),
            "parts": [_encode_content(c) for c in value.contents],
            "author": value.author_name,
            "id": value.message_id,
            "extra": encode(value.additional_properties),
        }
    if isinstance(value, Content):
        return {"$": "content", **_encode_content(value)}
    if isinstance(value, AgentResponse):
        messages = [encode(m) for m in value.messages]
        return {"$": "reply", "messages": messages, "value": encode(value.value), "finish_reason": value.finish_reason}
    if isinstance(value, AgentExecutorResponse):
        return {
            "$": "response",
            "executor": value.executor_id,
            "reply": encode(value.agent_response),
            "conversation": [encode(m) for m in value.full_conversation],
        }
    if isinstance(value, AgentExecutorRequest):
        messages = [encode(m) for m in value.messages]
        return {"$": "request", "messages": messages, "should_respond": bool(value.should_respond)}
    if isinstance(value, TurnToken):
        return {"$": "turn_token", "emit_events": value.emit_events}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"$record": type(value).__name__, **_fields(value)}
    raise NotJsonError(f"a value of type {type(value).__name__} is no JSON value")


def _encode_content(value: Content) -> dict[str, Any]:
    fields = {k: _encode_content(v) if isinstance(v, Content) else encode(v) for k, v in value._fields.items()}
    return {"type": value.type, **fields}


def _fields(value: Any) -> dict[str, Any]:
    """Fields of a dataclass; records inside a record are plain objects."""
    return {f.name: _plain(getattr(value, f.name)) for f in dataclasses.fields(value)}


def _plain(value: Any) -> Any:
    if type(value) in (list, tuple):
        return [_plain(v) for v in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and type(value).__name__ not in PUBLIC:
        return _fields(value)
    return encode(value)
