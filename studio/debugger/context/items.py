"""The values of the context inspector: items, records, warnings; when two items are the same."""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

from studio.agents.messages import Data, Message, Reasoning, Text, ToolCall, ToolResult, UsagePart
from studio.assembly.texts import messages_of, part_text, plain_value, value_text

Origin = Literal[
    "explicit_input", "implicit_conversation", "provider", "history", "instructions", "tool_loop", "synthetic", ""
]
"""Where something seen came from; "" for what the invocation gave itself."""
Host = Literal["turn_token", "python", "runner", "plain"]
Severity = Literal["error", "warning", "info"]

LONG = 40
"""Texts of this many characters are the same if nearly all of their words are."""
NEARLY = 0.85
_SHINGLE = 3
_TOKEN = 4


@dataclass(frozen=True, slots=True)
class Item:
    """One message, request, state value or part. ``role_original`` differs from ``role`` where the host changed it.
    ``digest`` leaves roles, authors and ids out. ``plain``: it is nothing but text."""

    id: str
    role: str
    text: str
    digest: str
    origin: Origin = ""
    origin_ref: str = ""
    """Edge, provider, node or call that it came from."""
    author: str = ""
    message_id: str = ""
    role_original: str = ""
    tokens: int = 0
    """Estimated."""
    plain: bool = True
    note: str = ""
    """Why it stayed hidden: "condition", "reasoning" ..."""

    @property
    def original(self) -> str:
        """The role before a host changed it."""
        return self.role_original or self.role


@dataclass(slots=True)
class ContextRecord:
    """One invocation. ``seen``: one list per model call; a node that calls no model has one list."""

    invocation: str
    node: str
    kind: str
    superstep: int
    turn: int
    started: float
    order: int
    sources: tuple[str, ...] = ()
    inside: tuple[str, ...] = ()
    host: Host = "plain"
    status: str = "running"
    ended: float | None = None
    calls_model: bool = False
    took_turn: bool = False
    """It was let to answer, not only told something."""
    by_answer: bool = False
    """An answer to one of its requests started it."""
    seen: list[tuple[Item, ...]] = field(default_factory=list)
    explicit_out: list[Item] = field(default_factory=list)
    implicit_out: list[Item] = field(default_factory=list)
    written: list[Item] = field(default_factory=list)
    """What its turn left in its history; ``origin_ref`` says in which, "session" for its own memory."""
    shown: list[Item] = field(default_factory=list)
    intermediate: set[str] = field(default_factory=set)
    """Ids of shown items that are no results."""
    hidden: list[Item] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    """Requests that it raised."""
    answers: list[str] = field(default_factory=list)
    """What the model answered, call by call."""
    sent_reply: str | None = None
    """The text of the response that was sent, if one was."""
    emit: bool | None = None
    """What the token of its turn says about updates."""
    replaced: bool = False
    """A debugger gave the reply: pinned, muted or replayed."""

    @property
    def context(self) -> tuple[Item, ...]:
        """What the last model call was sent; of other nodes what they were given."""
        return self.seen[-1] if self.seen else ()

    def all_seen(self) -> dict[str, Item]:
        """Every item that it saw, by id."""
        return {item.id: item for call in self.seen for item in call}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found in a record. ``fix``: what a person can change; ``items``: ids of the items it is about."""

    rule: str
    title: str
    severity: Severity
    node: str
    invocation: str
    text: str
    why: str
    fix: str
    items: tuple[str, ...] = ()


def normal(text: str) -> str:
    """A text as digests see it: NFKC, without case, white space collapsed."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def digest_of(data: object) -> str:
    """SHA-256 of the text, data, link and function parts, as canonical JSON; roles, authors and ids left out."""
    parts = data.parts if isinstance(data, Message) else (data,)
    told = [_canonical(part) for part in parts if not isinstance(part, Reasoning | UsagePart)]
    return hashlib.sha256(json.dumps(told, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _canonical(part: object) -> Any:
    match part:
        case str() as text:
            return ["text", normal(text)]
        case Text(text):
            return ["text", normal(text)]
        case Data():
            return ["data", part.uri]
        case ToolCall():
            return ["call", part.name, part.arguments]
        case ToolResult():
            return ["result", normal(value_text(part.result))]
    try:
        return ["value", plain_value(part)] if _is_json(plain_value(part)) else ["value", value_text(part)]
    except (TypeError, ValueError):
        return ["value", type(part).__name__]


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError):
        return False
    return True


def same(a: Item, b: Item) -> bool:
    """Equal digest or message id, or both long and nearly the same words. Short texts with ids of their own differ."""
    if a.message_id and a.message_id == b.message_id:
        return True
    if a.digest == b.digest:
        return len(a.text) >= LONG or not (a.message_id and b.message_id)
    return len(a.text) >= LONG and len(b.text) >= LONG and likeness(a.text, b.text) >= NEARLY


def likeness(a: str, b: str) -> float:
    """Jaccard index of the runs of three words."""
    one, other = _shingles(a), _shingles(b)
    return len(one & other) / len(one | other) if one and other else 0.0


@lru_cache(maxsize=256)
def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = normal(text).split()
    count = max(1, len(words) - _SHINGLE + 1)
    return frozenset(tuple(words[at : at + _SHINGLE]) for at in range(count)) if words else frozenset()


def message_text(message: Message) -> str:
    """All parts in words: texts, calls as ``name(arguments)``, results."""
    return "\n".join(text for text in (part_text(p) for p in message.parts if not isinstance(p, UsagePart)) if text)


def tokens_of(text: str) -> int:
    """Estimated tokens of a text."""
    return max(1, round(len(text) / _TOKEN)) if text else 0


class Maker:
    """Makes items; what was digested once is remembered by identity, so a growing conversation costs its growth."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[object, str, str]] = {}
        self._count = 0

    def item(self, data: object, **fields: Any) -> Item:
        """An item of a message or of any value; ``fields`` are those of :class:`Item`."""
        known = self._known.get(id(data))
        if known is None or known[0] is not data:
            text = message_text(data) if isinstance(data, Message) else value_text(data)
            known = self._known[id(data)] = data, text, digest_of(data)
        _, text, digest = known
        self._count += 1
        made: dict[str, Any] = {"id": f"i{self._count}", "role": "", "text": text, "digest": digest}
        made["tokens"] = tokens_of(text)
        if isinstance(data, Message):
            made |= {"role": data.role, "author": data.author or "", "message_id": data.id or ""}
            made["plain"] = all(isinstance(p, Text | Reasoning | UsagePart) for p in data.parts)
        else:
            made["plain"] = isinstance(data, str)
        return Item(**(made | fields))

    def items(self, data: object, **fields: Any) -> list[Item]:
        """The messages that a value stands for."""
        return [self.item(message, **fields) for message in messages_of(data)]


def canonical_parts(items: Iterable[Item]) -> list[Mapping[str, Any]]:
    """Items as JSON."""
    return [
        {
            "item_id": i.id, "message_id": i.message_id or None, "role_seen": i.role, "role_original": i.original,
            "author": i.author, "text": i.text, "tokens_est": i.tokens, "digest": i.digest, "origin": i.origin,
            "origin_ref": i.origin_ref, "note": i.note,
        }
        for i in items
    ]  # fmt: skip
