"""Joins the token texts of each stream, so that a screen or a log gets one event where a model sent many."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import replace
from typing import TypeGuard

from studio.agents.messages import AgentUpdate, Text
from studio.engine.events import Event, OutputYielded, TokensArrived

_Joinable = TokensArrived | OutputYielded


class TokenJoiner:
    """Collects events in order; chunks of a stream join the last ones of that stream if nothing else of its invocation
    came between. A joined event stands where its first part stood and keeps that one's time.

    A streaming agent tells each chunk twice: as tokens, and as an output if it is an output node. Each of the two is
    a stream of its own, and neither ends the other.
    """

    def __init__(self) -> None:
        self._ready: deque[Event | _Stream] = deque()
        self._open: dict[tuple[str, type], _Stream] = {}

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, event: Event) -> None:
        """Takes one event."""
        if isinstance(event, TokensArrived) or (isinstance(event, OutputYielded) and _is_text_chunk(event.data)):
            key = (event.invocation, type(event))
            stream = self._open.get(key)
            if stream is None or not stream.takes(event):
                stream = self._open[key] = _Stream()
                self._ready.append(stream)
            stream.parts.append(event)
            return
        invocation = getattr(event, "invocation", None)
        if invocation is not None:
            self._open.pop((invocation, TokensArrived), None)
            self._open.pop((invocation, OutputYielded), None)
        self._ready.append(event)

    def pop(self) -> Event:
        """The next joined event."""
        item = self._ready.popleft()
        if not isinstance(item, _Stream):
            return item
        first = item.parts[0]
        if self._open.get((first.invocation, type(first))) is item:
            del self._open[first.invocation, type(first)]
        return item.joined()


class _Stream:
    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[_Joinable] = []

    def takes(self, event: _Joinable) -> bool:
        last = self.parts[-1]
        if isinstance(event, TokensArrived) and isinstance(last, TokensArrived):
            return event.kind == last.kind
        if isinstance(event, OutputYielded) and isinstance(last, OutputYielded):
            return _continues(last.data, event.data) and event.intermediate == last.intermediate
        return False

    def joined(self) -> Event:
        first = self.parts[0]
        if len(self.parts) == 1:
            return first
        if isinstance(first, TokensArrived):
            tokens = [p for p in self.parts if isinstance(p, TokensArrived)]
            text, chunks = "".join(t.text for t in tokens), sum(t.chunks for t in tokens)
            return TokensArrived(first.t, first.node, first.invocation, text, first.kind, first.inside, chunks)
        data = _joined([p.data for p in self.parts if isinstance(p, OutputYielded)])
        return replace(first, data=data)


def _is_text_chunk(data: object) -> TypeGuard[AgentUpdate]:
    if type(data) is not AgentUpdate or not data.parts:
        return False
    parts = data.parts
    return type(parts[0]) is Text if len(parts) == 1 else all(isinstance(p, Text) for p in parts)


def _continues(old: AgentUpdate, new: AgentUpdate) -> bool:
    return (new.role, new.author, new.message_id) == (old.role, old.author, old.message_id)


def _joined(updates: list[AgentUpdate]) -> AgentUpdate:
    last = updates[-1]
    return AgentUpdate(
        (Text("".join(u.text for u in updates)),),
        last.role,
        last.author,
        last.message_id,
        last.response_id,
        next((u.usage for u in reversed(updates) if u.usage is not None), None),
        last.finish_reason,
    )


def join_updates(outputs: Iterable[object]) -> list[object]:
    """The same outputs with neighbouring chunks of one answer joined."""
    joined: list[object] = []
    chunks: list[AgentUpdate] = []

    def close() -> None:
        if chunks:
            joined.append(chunks[0] if len(chunks) == 1 else _joined(chunks))
            chunks.clear()

    for output in outputs:
        if not _is_text_chunk(output):
            close()
            joined.append(output)
            continue
        if chunks and not _continues(chunks[-1], output):
            close()
        chunks.append(output)
    close()
    return joined


def join_tokens(events: Iterable[Event]) -> list[Event]:
    """The same events with each stream's neighbouring chunks joined."""
    joiner = TokenJoiner()
    for event in events:
        joiner.add(event)
    return [joiner.pop() for _ in range(len(joiner))]
