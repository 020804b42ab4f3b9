"""Messages in groups that stay or go together, and what has been left out of a conversation so far."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from studio.agents.messages import Data, Message, Reasoning, Text, ToolCall, ToolResult

GroupKind = Literal["system", "user", "assistant", "tool_calls", "summary"]
CountTokens = Callable[[str], int]


def estimated_tokens(text: str) -> int:
    """Four characters a token, at least one: the framework's own estimate."""
    return max(1, len(text) // 4)


@dataclass(frozen=True, slots=True)
class Group:
    """One message, or tool calls with all their results. ``excluded`` says why it is left out; empty: it is shown."""

    kind: GroupKind
    messages: tuple[Message, ...]
    excluded: str = ""

    def without(self, reason: str) -> Group:
        """The same, left out."""
        return replace(self, excluded=reason)

    def tokens(self, count: CountTokens = estimated_tokens) -> int:
        """Estimated tokens of the messages."""
        return sum(count(_written(message)) for message in self.messages)


Groups = list[Group]


class Compaction(Protocol):
    """Makes a conversation shorter: gives the groups with some left out, or replaced by a summary."""

    async def __call__(self, groups: Sequence[Group], /) -> Groups: ...


def grouped(messages: Iterable[Message]) -> Groups:
    """The messages in groups. Reasoning in front of calls belongs to them, and so do the results behind."""
    groups: Groups = []
    waiting: list[Message] = []
    for message in messages:
        if message.role == "assistant" and _only_reasoning(message):
            if groups and groups[-1].kind == "tool_calls" and not waiting and groups[-1].messages[-1].role != "tool":
                groups[-1] = _longer(groups[-1], message)
            else:
                waiting.append(message)
            continue
        if message.role == "assistant" and any(isinstance(p, ToolCall) for p in message.parts):
            groups.append(Group("tool_calls", (*waiting, message)))
            waiting = []
            continue
        groups.extend(Group("assistant", (m,)) for m in waiting)
        waiting = []
        if message.role == "tool" and groups and groups[-1].kind == "tool_calls":
            groups[-1] = _longer(groups[-1], message)
        else:
            groups.append(Group("tool_calls" if message.role == "tool" else message.role, (message,)))
    groups.extend(Group("assistant", (m,)) for m in waiting)
    return _linked(groups)


def _longer(group: Group, message: Message) -> Group:
    return replace(group, messages=(*group.messages, message))


def _only_reasoning(message: Message) -> bool:
    return bool(message.parts) and all(isinstance(part, Reasoning) for part in message.parts)


def _linked(groups: Groups) -> Groups:
    """Results that stand apart from their calls: what lies between joins the group, so a pair is never split."""
    calls = {p.call_id: n for n, g in enumerate(groups) for m in g.messages for p in m.parts if isinstance(p, ToolCall)}
    linked: Groups = []
    starts: list[int] = []
    for number, group in enumerate(groups):
        results = {p.call_id for m in group.messages for p in m.parts if isinstance(p, ToolResult)}
        first = min((calls[id] for id in results if id in calls), default=number)
        parts: tuple[Message, ...] = group.messages
        kind = group.kind
        start = number
        while starts and first <= starts[-1] and first < number:
            parts = (*linked.pop().messages, *parts)
            start = starts.pop()
            kind = "tool_calls"
        linked.append(Group(kind, parts))
        starts.append(start)
    return linked


def shown(groups: Iterable[Group]) -> list[Message]:
    """The messages that are not left out."""
    return [message for group in groups if not group.excluded for message in group.messages]


def included(groups: Iterable[Group]) -> Groups:
    """The groups that are not left out."""
    return [group for group in groups if not group.excluded]


def tokens(groups: Iterable[Group], count: CountTokens = estimated_tokens) -> int:
    """Estimated tokens of what is shown."""
    return sum(group.tokens(count) for group in groups if not group.excluded)


def protected(groups: Sequence[Group]) -> int | None:
    """Index of the group that stays in any case: the newest that is no system message, else the newest."""
    indexes = [n for n, g in enumerate(groups) if not g.excluded]
    spoken = [n for n in indexes if groups[n].kind != "system"]
    return spoken[-1] if spoken else indexes[-1] if indexes else None


def _written(message: Message) -> str:
    """The message as the framework's estimate counts it: as JSON with the names of its fields
    (``agent_framework._compaction._serialize_message`` of 1.23)."""
    contents = [{"additional_properties": {}, **found} for part in message.parts if (found := _content(part))]
    payload = {"role": message.role, "message_id": message.id, "contents": contents}
    return json.dumps(payload, ensure_ascii=False, sort_keys=True, default=str)


def _content(part: object) -> dict[str, Any]:
    match part:
        case Text(text):
            return {"type": "text", "text": text}
        case Reasoning(text):
            return {"type": "text_reasoning", "text": text}
        case ToolCall():
            call = {"call_id": part.call_id, "name": part.name, "arguments": part.arguments}
            return {"type": "function_call", "hosted": False, **call}
        case ToolResult():
            return {"type": "function_result", "call_id": part.call_id, "result": part.result}
        case Data():
            return {"type": "data", "media_type": part.media_type}
    return {}


@dataclass(slots=True)
class Compactor:
    """Applies one strategy before each model call of a run and remembers what it left out or summed up."""

    strategy: Compaction
    _taken: list[Message] = field(default_factory=list, init=False)
    _groups: Groups = field(default_factory=list, init=False)

    async def compacted(self, messages: Sequence[Message]) -> list[Message]:
        """What the model is shown of ``messages``."""
        known = len(self._taken)
        if known > len(messages) or any(a is not b for a, b in zip(self._taken, messages, strict=False)):
            self._groups, known = [], 0
        self._groups = _extended(self._groups, messages[known:])
        self._taken = list(messages)
        self._groups = await self.strategy(self._groups)
        return shown(self._groups)


def _extended(groups: Groups, messages: Sequence[Message]) -> Groups:
    """New messages behind; results may belong to the calls of the last group."""
    new = list(messages)
    if groups and groups[-1].kind == "tool_calls" and not groups[-1].excluded:
        calls = {p.call_id for m in groups[-1].messages for p in m.parts if isinstance(p, ToolCall)}
        last = groups[-1]
        while new and new[0].role == "tool" and _results(new[0]) <= calls:
            last = _longer(last, new.pop(0))
        groups = [*groups[:-1], last]
    return [*groups, *grouped(new)]


def _results(message: Message) -> set[str]:
    return {part.call_id for part in message.parts if isinstance(part, ToolResult)}
