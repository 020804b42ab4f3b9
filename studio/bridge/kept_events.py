"""The newest events of a run, for the events panel; the whole log is in the store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

from studio.engine.events import Event

KEPT = 50_000
"""Rows of the events panel; some hundred bytes each."""
_SPARE = 10


class KeptEvents(Sequence[Event]):
    """A list that forgets its oldest events, a tenth at a time so that appending stays cheap."""

    def __init__(self, limit: int = KEPT) -> None:
        self._limit = limit
        self._events: list[Event] = []
        self.gone = 0
        """How many were forgotten; ``gone + len(self)`` were appended."""

    def append(self, event: Event) -> None:
        """Takes the next event."""
        self._events.append(event)
        if len(self._events) > self._limit + self._limit // _SPARE:
            spare = len(self._events) - self._limit
            del self._events[:spare]
            self.gone += spare

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events)

    @overload
    def __getitem__(self, index: int) -> Event: ...

    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...

    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        return self._events[index]
