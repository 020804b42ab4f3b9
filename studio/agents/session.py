"""The memory of an agent between turns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import is_
from typing import Any
from uuid import uuid4

from studio.agents.messages import Message, Part


@dataclass(slots=True)
class Session:
    """Messages of all finished turns, and what the tool loop must remember (plain JSON values)."""

    id: str = field(default_factory=lambda: uuid4().hex)
    messages: list[Message] = field(default_factory=list)
    state: dict[str, Any] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """A copy for a checkpoint; the messages stay :class:`Message` (immutable, the store's codec writes them)."""
        return {"id": self.id, "messages": list(self.messages), "state": dict(self.state)}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Session:
        """The session as :meth:`to_dict` gave it; missing entries are empty."""
        id = data.get("id")
        return Session(
            id if isinstance(id, str) else uuid4().hex, list(data.get("messages", ())), dict(data.get("state", {}))
        )

    def add(self, messages: Sequence[Message]) -> None:
        """Appends what is new in ``messages``: input and reply of a turn."""
        self.messages.extend(new_messages(self.messages, messages))


Identity = tuple[str, str] | tuple[str, str, tuple[Part, ...]]


def _identity(message: Message) -> Identity:
    """The author does not count: a message is the same after an agent signed it."""
    return ("id", message.id) if message.id is not None else ("content", message.role, message.parts)


def new_messages(stored: Sequence[Message], incoming: Sequence[Message]) -> list[Message]:
    """``incoming`` without its overlap with ``stored``: a repeated transcript is not stored twice.

    First the whole of ``stored`` is looked for anywhere in ``incoming``, then the longest end of ``stored`` that
    ``incoming`` starts with. One equal user message alone is no overlap: a person may say the same thing again.
    """
    if not stored:
        return list(incoming)
    count = len(stored)
    if 1 < count <= len(incoming) and all(map(is_, stored, incoming)):
        return list(incoming[count:])  # the usual transcript: the same objects, so nothing need be compared
    old = [_identity(m) for m in stored]
    new = [_identity(m) for m in incoming]
    lone_user = stored[-1].role == "user" and old[-1][0] != "id"
    for start in range(len(new) - len(old) + 1):
        if new[start : start + len(old)] == old:
            if start == 0 and len(old) == 1 and lone_user:
                break
            return list(incoming[start + len(old) :])
    for overlap in range(min(len(old), len(new)), 0, -1):
        if old[-overlap:] == new[:overlap] and not (overlap == 1 and lone_user):
            return list(incoming[overlap:])
    return list(incoming)
