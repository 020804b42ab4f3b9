"""Joins the token texts of each stream, so that a screen or a log gets one event where a model sent many."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from studio.engine.events import Event, TokensArrived


class TokenJoiner:
    """Collects events in order; a stream's tokens join the last ones of that stream if nothing else of its invocation
    came between. The joined event keeps the time of its first part."""

    def __init__(self) -> None:
        self._ready: deque[Event | _Stream] = deque()
        self._open: dict[str, _Stream] = {}

    def __len__(self) -> int:
        return len(self._ready)

    def add(self, event: Event) -> None:
        """Takes one event."""
        invocation = getattr(event, "invocation", None)
        if isinstance(event, TokensArrived):
            stream = self._open.get(event.invocation)
            if stream is not None and stream.first.kind == event.kind:
                stream.texts.append(event.text)
                return
            self._open[event.invocation] = stream = _Stream(event)
            self._ready.append(stream)
            return
        if invocation is not None:
            self._open.pop(invocation, None)
        self._ready.append(event)

    def pop(self) -> Event:
        """The next joined event."""
        item = self._ready.popleft()
        if not isinstance(item, _Stream):
            return item
        if self._open.get(item.first.invocation) is item:
            del self._open[item.first.invocation]
        return item.joined()


class _Stream:
    __slots__ = ("first", "texts")

    def __init__(self, first: TokensArrived) -> None:
        self.first = first
        self.texts = [first.text]

    def joined(self) -> TokensArrived:
        first = self.first
        if len(self.texts) == 1:
            return first
        return TokensArrived(first.t, first.node, first.invocation, "".join(self.texts), first.kind, first.inside)


def join_tokens(events: Iterable[Event]) -> list[Event]:
    """The same events with each stream's neighbouring tokens joined."""
    joiner = TokenJoiner()
    for event in events:
        joiner.add(event)
    return [joiner.pop() for _ in range(len(joiner))]
