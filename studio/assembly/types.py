"""Types as a document writes them -> types of the engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.agents.messages import AgentReply, AgentRequest, AgentResponse, Message
from studio.document.types import item_type, split
from studio.engine.types import ANY, CONTENT, ListOf, RecordType, Type, UnionOf, fits
from studio.engine.values import Record, TurnToken

_TYPES: Mapping[str, tuple[Type, ...]] = {
    "text": (str,),
    "integer": (int,),
    "number": (float, int),
    "boolean": (bool,),
    "bool": (bool,),
    "object": (dict,),
    "list": (list,),
    "message": (Message,),
    "messages": (ListOf(Message),),
    "request": (AgentRequest,),
    "response": (AgentResponse,),
    "reply": (AgentReply,),
    "turn_token": (TurnToken,),
    "content": CONTENT.members,
    "any": (ANY,),
}
TEXTS: tuple[Type, ...] = (str, Message, ListOf(Message), AgentResponse, AgentReply)
"""What a handler takes that accepts ``text``: everything with a text."""


def members(name: str) -> tuple[Type, ...]:
    """The engine types of one written name; an unknown name is a declared type."""
    inner = item_type(name)
    if inner is not None:
        found = members(inner)
        return (ListOf(found[0] if len(found) == 1 else UnionOf(*found)),)
    return _TYPES.get(name, (RecordType(name),))


def sent_types(written: str | None) -> tuple[Type, ...]:
    """What a node sends or yields; empty for nothing."""
    return tuple(dict.fromkeys(t for name in split(written or "") for t in members(name)))


def accepted_type(written: str) -> Type:
    """What a function takes; ``text`` is everything with a text, nothing written is everything."""
    found = tuple(t for name in split(written) for t in (TEXTS if name == "text" else members(name)))
    unique = tuple(dict.fromkeys(found))
    return ANY if not unique else unique[0] if len(unique) == 1 else UnionOf(*unique)


def is_taken_as_text(data: object, written: str) -> bool:
    """Whether a function with these ``accepts`` gets the text of a message instead of the message: it accepts
    ``text`` and names no other type that the message has."""
    names = split(written)
    return "text" in names and not any(fits(data, t) for name in names if name != "text" for t in members(name))


def answer_type(written: str) -> Type:
    """The type of an answer to a question: ``choice`` is one of the offered texts."""
    if written in ("choice", "text", ""):
        return str
    if written == "number":
        return float
    found = sent_types(written)
    return found[0] if len(found) == 1 else UnionOf(*found) if found else ANY


def as_record(name: str, schema: Mapping[str, Any], value: Mapping[str, Any]) -> Record:
    """An object as a value of a declared type, with the defaults of the schema. Raises ``TypeError`` as the data class
    of an exported project does: for a missing field and for one that the type does not have."""
    properties = schema.get("properties")
    known: Mapping[str, Any] = properties if isinstance(properties, dict) else {}
    required = schema.get("required") or ()
    unknown = [field for field in value if field not in known]
    missing = [f for f in known if f in required and f not in value and "default" not in known[f]]
    if unknown:
        raise TypeError(f"{name} has no field {unknown[0]!r}")
    if missing:
        raise TypeError(f"{name} needs the field {missing[0]!r}")
    return Record(name, {f: value[f] if f in value else known[f].get("default") for f in known})
