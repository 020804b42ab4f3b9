"""Reading server-sent events from bytes that arrive in any pieces."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from studio.checkpoints.quick import quickly_made

DONE = "[DONE]"


@quickly_made
@dataclass(frozen=True, slots=True)
class SseEvent:
    """One event; ``name`` is empty unless an ``event:`` line gave one."""

    name: str
    data: str


class SseReader:
    """Splits at line feeds only: JSON inside a line may hold U+2028 and other characters that look like line ends.

    An event without data is no event (a bare ``id:`` or ``event: ping``); comments are skipped.
    """

    __slots__ = ("_data", "_name", "_rest")

    def __init__(self) -> None:
        self._rest = b""
        self._name = ""
        self._data: list[str] = []

    def feed(self, piece: bytes) -> Iterator[SseEvent]:
        """The events that ``piece`` completes. Consume the iterator before feeding the next piece."""
        lines = (self._rest + piece).split(b"\n") if self._rest else piece.split(b"\n")
        self._rest = lines.pop()
        for line in lines:
            event = self._line(line)
            if event is not None:
                yield event

    def end(self) -> SseEvent | None:
        """The event that the end of the stream left without its blank line."""
        rest, self._rest = self._rest, b""
        event = self._line(rest) if rest else None
        return event if event is not None else self._dispatch()

    def _line(self, raw: bytes) -> SseEvent | None:
        if raw.endswith(b"\r"):
            raw = raw[:-1]
        if not raw:
            return self._dispatch()
        if raw.startswith(b"data: "):  # nearly every line
            self._data.append(raw[6:].decode("utf-8", "replace"))
            return None
        if raw.startswith(b":"):
            return None
        name, _, value = raw.decode("utf-8", "replace").partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "event":
            self._name = value
        return None

    def _dispatch(self) -> SseEvent | None:
        name, data = self._name, self._data
        self._name, self._data = "", []
        return SseEvent(name, "\n".join(data)) if data else None
