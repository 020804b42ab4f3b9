"""JSON for everything that travels or is saved: ``{"$": tag, ...}`` for objects, plain JSON for plain values."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from datetime import date
from decimal import Decimal
from typing import Any

from studio.agents import messages as m
from studio.agents.cost import Cost
from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage, UnknownType
from studio.checkpoints.quick import maker
from studio.engine.values import (
    LedgerItem,
    PlanReview,
    PlanReviewRequest,
    ProgressLedger,
    Record,
    ResetChat,
    ResetNode,
    SubRequest,
    SubResponse,
    TurnToken,
    plain,
)


@dataclass(frozen=True, slots=True)
class _Tuple:
    """A tuple in a field that may hold anything; elsewhere lists are written and the class says what they were."""

    items: tuple[Any, ...]


_CLASSES: dict[str, type] = {
    "text": m.Text,
    "reasoning": m.Reasoning,
    "data": m.Data,
    "call": m.ToolCall,
    "result": m.ToolResult,
    "approval": m.ApprovalRequest,
    "approved": m.ApprovalResponse,
    "error": m.ErrorPart,
    "usage_part": m.UsagePart,
    "message": m.Message,
    "usage": m.Usage,
    "cost": Cost,
    "agent_reply": m.AgentReply,
    "agent_update": m.AgentUpdate,
    "request": m.AgentRequest,
    "response": m.AgentResponse,
    "record": Record,
    "sub_request": SubRequest,
    "sub_response": SubResponse,
    "turn_token": TurnToken,
    "reset_chat": ResetChat,
    "reset_node": ResetNode,
    "ledger_item": LedgerItem,
    "ledger": ProgressLedger,
    "plan_review_request": PlanReviewRequest,
    "plan_review": PlanReview,
    "queued": QueuedMessage,
    "pending": PendingRequest,
    "checkpoint": Checkpoint,
    "a_tuple": _Tuple,
}


_TEXTS: dict[str, Callable[[str], Any]] = {"decimal": Decimal, "date": date.fromisoformat}
"""Values of the standard library that are written as texts."""


class _Shape:
    """How one class goes apart: field names, their defaults, and which are tuples."""

    def __init__(self, tag: str, kind: type) -> None:
        self.tag = tag
        self.kind = kind
        self.names: list[tuple[str, Any]] = []
        self.tuples: set[str] = set()
        for field in fields(kind):
            default = field.default
            if default is MISSING and field.default_factory is not MISSING:
                default = field.default_factory()
            self.names.append((field.name, default))
            if str(field.type).startswith("tuple["):
                self.tuples.add(field.name)
        self._tuple_places = [at for at, (name, _) in enumerate(self.names) if name in self.tuples]

    def values(self, value: object) -> list[Any]:
        """The fields in order; the last ones that have their default are left out."""
        found = [getattr(value, name) for name, _ in self.names]
        for _, default in reversed(self.names):
            item = found[-1]
            if item is default or (type(item) is type(default) and item == default):
                found.pop()
            else:
                break
        for at, item in enumerate(found):
            if type(item) is tuple and at not in self._tuple_places:
                found[at] = _Tuple(item)
        return found

    def make(self, *values: Any) -> Any:
        """The object of its first fields in order."""
        if not self._tuple_places:
            return self.kind(*values)
        whole = list(values)
        for at in self._tuple_places:
            if at < len(whole) and whole[at] is not None:
                whole[at] = tuple(whole[at])
        return self.kind(*whole)


_message = maker(m.Message)
_text_part = maker(m.Text)


def _said(role: m.Role) -> Callable[..., m.Message]:
    """Makes messages of one text; a resumed conversation has thousands."""

    def make(text: str, author: str | None = None) -> m.Message:
        return _message(role, (_text_part(text),), author)

    return make


_SAID: dict[str, str] = {"user": "u", "assistant": "a"}
_SAID_MAKERS: dict[str, tuple[Callable[..., Any], bool]] = {tag: (_said(role), True) for role, tag in _SAID.items()}  # type: ignore[arg-type]
_LONG_TAGS = {"message": "m", "text": "t_", "agent_reply": "y", "response": "r", "queued": "q", "call": "c"}
"""Short names of tags in stores."""


class Codec:
    """The codec given to stores. ``classes`` are dataclasses of a script's own that may be saved, by their names.

    ``hide`` takes secrets out of every text that a store writes to a disk.
    """

    def __init__(self, *classes: type, hide: Callable[[str], str] = str) -> None:
        self.hide = hide
        every = {**_CLASSES, **{kind.__name__: kind for kind in classes}}
        self._by_tag = {tag: _Shape(tag, kind) for tag, kind in every.items()}
        self._by_class = {shape.kind: shape for shape in self._by_tag.values()}
        self._short = {
            shape.kind: _LONG_TAGS.get(tag, tag) if tag in _CLASSES else f".{tag}"
            for tag, shape in self._by_tag.items()
        }
        self._makers = dict(_SAID_MAKERS)

    def open(self, value: object) -> tuple[str, Mapping[str, Any]]:
        """Tag and fields of an object; fields that have their default are left out."""
        kind = type(value)
        shape = self._by_class.get(kind)
        if shape is None:
            if isinstance(value, bytes):
                return "bytes", {"base64": base64.b64encode(value).decode("ascii")}
            if isinstance(value, Decimal | date):
                return ("decimal" if isinstance(value, Decimal) else "date"), {"text": str(value)}
            raise UnknownType(
                f"A value of type {kind.__module__}.{kind.__qualname__} cannot be saved; "
                "give the store's codec its class, or use plain data"
            )
        if isinstance(value, Record):
            return shape.tag, {"type_name": value.type_name, "data": plain(value.data)}
        found = {}
        for name, default in shape.names:
            item = getattr(value, name)
            if item is not default and (type(item) is not type(default) or item != default):
                found[name] = _Tuple(item) if type(item) is tuple and name not in shape.tuples else item
        return shape.tag, found

    def close(self, tag: str, fields: Mapping[str, Any]) -> Any:
        """The object of a tag and its fields."""
        shape = self._by_tag.get(tag)
        if shape is None:
            if tag == "bytes":
                return base64.b64decode(fields["base64"])
            if tag in _TEXTS:
                return _TEXTS[tag](fields["text"])
            raise UnknownType(f"A saved value has the unknown type {tag!r}")
        values = dict(fields)
        for name in shape.tuples:
            if name in values:
                values[name] = tuple(values[name])
        if shape.kind is Checkpoint and "fan_in" in values:
            values["fan_in"] = {key: tuple(buffer) for key, buffer in values["fan_in"].items()}
        return values["items"] if shape.kind is _Tuple else shape.kind(**values)

    def flat(self, value: object) -> tuple[str, Sequence[Any]]:
        """Tag and fields in order; a message of one text is nothing but text and author."""
        kind = type(value)
        if kind is m.Message:
            message: m.Message = value  # type: ignore[assignment]
            parts = message.parts
            if len(parts) == 1 and type(parts[0]) is m.Text and message.id is None and not message.extra:
                said = _SAID.get(message.role)
                if said is not None:
                    text = parts[0].text
                    return said, (text,) if message.author is None else (text, message.author)
        shape = self._by_class.get(kind)
        if shape is None or kind is Record:
            tag, opened = self.open(value)
            return tag, tuple(opened.values())
        if kind is m.AgentResponse:
            response: m.AgentResponse = value  # type: ignore[assignment]
            return "r", (response.conversation, response.executor, response.reply)
        return self._short[kind], shape.values(value)

    def maker(self, tag: str) -> tuple[Callable[..., Any], bool]:
        """The reverse of :meth:`flat`."""
        made = self._makers.get(tag)
        if made is None:
            made = self._makers[tag] = (self._maker(tag), False)
        return made

    def _maker(self, tag: str) -> Callable[..., Any]:
        if tag == "r":
            return lambda conversation, executor, reply: m.AgentResponse(executor, reply, tuple(conversation))
        if tag == "bytes":
            return base64.b64decode
        if tag in _TEXTS:
            return _TEXTS[tag]
        long = tag[1:] if tag[0] == "." else next((name for name, short in _LONG_TAGS.items() if short == tag), tag)
        shape = self._by_tag.get(long)
        if shape is None:
            raise UnknownType(f"A saved value has the unknown type {tag!r}")
        if shape.kind is _Tuple:
            return tuple
        if shape.kind is Checkpoint:
            return lambda *values: self.close(long, dict(zip([name for name, _ in shape.names], values, strict=False)))
        return shape.make


_DEFAULT = Codec()


def encode(value: Any, codec: Codec = _DEFAULT) -> Any:
    """``value`` as JSON: objects as ``{"$": tag, ...}``, tuples and strange dicts tagged too. Raises UnknownType."""
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, list):
        return [encode(item, codec) for item in value]
    if isinstance(value, tuple):
        return {"$": "tuple", "items": [encode(item, codec) for item in value]}
    if isinstance(value, Mapping) and not isinstance(value, Record):
        if "$" in value or not all(isinstance(key, str) for key in value):
            return {"$": "dict", "items": [[encode(k, codec), encode(v, codec)] for k, v in value.items()]}
        return {key: encode(item, codec) for key, item in value.items()}
    tag, opened = codec.open(value)
    return {"$": tag, **{name: _field(item, codec) for name, item in opened.items()}}


def _field(value: Any, codec: Codec) -> Any:
    """A field of an object: its tuples are known from the class and written as lists."""
    return [encode(item, codec) for item in value] if isinstance(value, tuple) else encode(value, codec)


def decode(value: Any, codec: Codec = _DEFAULT) -> Any:
    """The value that :func:`encode` was given, as far as plain data can tell."""
    if isinstance(value, list):
        return [decode(item, codec) for item in value]
    if not isinstance(value, dict):
        return value
    tag = value.get("$")
    if tag is None:
        return {key: decode(item, codec) for key, item in value.items()}
    if tag == "tuple":
        return tuple(decode(item, codec) for item in value["items"])
    if tag == "dict":
        items: Sequence[Sequence[Any]] = value["items"]
        return {decode(key, codec): decode(item, codec) for key, item in items}
    return codec.close(tag, {name: decode(item, codec) for name, item in value.items() if name != "$"})
