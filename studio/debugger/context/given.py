"""What an invocation was given, and which of the messages that a model saw are of it.

Origins are never guessed from a text: a message is known by the parts that it is made of, which a log keeps apart from
others that read the same. Only texts that a host wraps into a message itself are known by being equal, from the end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from studio.agents.messages import AgentRequest, AgentResponse, Message
from studio.agents.told import read_settings
from studio.assembly.texts import is_messages, messages_of
from studio.debugger.context.items import Host, Item, Maker, Origin
from studio.engine.values import TurnToken

ATTRIBUTION = "attribution"
CONTINUE = "please continue."
_Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Given:
    """A message that an invocation was given."""

    message: Message
    origin: Origin
    ref: str


def given_by(data: Any, host: Host, purpose: str, ref: str) -> list[Given]:
    """What a delivered value adds to the input of a node. ``purpose`` is the engine's word, ``ref`` who sent it."""
    if isinstance(data, AgentResponse):
        before = data.conversation[: len(data.conversation) - len(data.reply.messages)]
        passed = [Given(message, "implicit_conversation", ref) for message in before]
        return passed + [Given(message, "explicit_input", ref) for message in data.reply.messages]
    if isinstance(data, TurnToken):
        return []
    if isinstance(data, list | tuple) and data and not is_messages(data):
        return [one for item in data for one in given_by(item, host, purpose, ref)]
    told = isinstance(data, AgentRequest) and not data.should_respond
    implicit = told or purpose == "forward"
    origin: Origin = "implicit_conversation" if implicit else "explicit_input"
    return [Given(message, origin, ref) for message in messages_of(data)]


def _key(message: Message) -> _Key:
    return tuple(id(part) for part in message.parts)


def first_call(messages: Sequence[Message], given: Sequence[Given], maker: Maker) -> tuple[Item, ...]:
    """The items of an invocation's first model call. The input of a run comes last: what is left in front of it is
    history, or of a provider that signed it."""
    waiting = list(given)
    items: list[Item] = []
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        signed = _signed(message, maker)
        if signed is not None:
            items.append(signed)
            continue
        found = _taken(waiting, message)
        if found is not None:
            item = maker.item(message, origin=found.origin, origin_ref=found.ref)
            if found.message.role != message.role:
                item = replace(item, role_original=found.message.role)
        else:
            item = maker.item(message, origin=_other(message, last=at == len(messages) - 1), origin_ref="session")
        items.append(item)
    return tuple(reversed(items))


def next_call(messages: Sequence[Message], before: Sequence[tuple[Message, Item]], maker: Maker) -> tuple[Item, ...]:
    """The items of a later call of the same invocation: what the call before had keeps its item."""
    known: dict[_Key, list[Item]] = {}
    for message, item in before:
        known.setdefault(_key(message), []).append(item)
    items: list[Item] = []
    for message in messages:
        same = known.get(_key(message))
        if same:
            items.append(same.pop(0))
        else:
            items.append(_signed(message, maker) or maker.item(message, origin="tool_loop", origin_ref="this turn"))
    return tuple(items)


@lru_cache(maxsize=256)
def instructions_in(settings: str) -> str:
    """The instructions that went with a model call; "" if there were none, or an older log does not say. The calls of
    an agent share one text."""
    return str(read_settings(settings).get("instructions") or "")


def _signed(message: Message, maker: Maker) -> Item | None:
    """An item whose origin the message itself names."""
    source = message.extra.get(ATTRIBUTION)
    if source is not None:
        history = "History" in source.get("source_type", "")
        return maker.item(message, origin="history" if history else "provider", origin_ref=source.get("source_id", ""))
    if message.role == "system":
        return maker.item(message, origin="instructions", origin_ref="drawing")
    return None


def _taken(waiting: list[Given], message: Message) -> Given | None:
    """Takes the last given message that this one is."""
    parts = Counter(_key(message))
    for at in range(len(waiting) - 1, -1, -1):
        if _key(waiting[at].message) == _key(message) or waiting[at].message == message:
            return waiting.pop(at)
    inside = [g for g in waiting if set(_key(g.message)) & set(parts)]
    for one in inside:  # answers to several requests become one message
        waiting.remove(one)
    return inside[0] if inside else None


def _other(message: Message, *, last: bool) -> Origin:
    return "synthetic" if last and message.role == "user" and message.text == CONTINUE else "history"
