"""The answer of a provider as it came over the wire, within a limit and without secrets."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable

from studio.agents.redaction import SECRET, redact

FIRST, LAST = 24_000, 8_000
"""Bytes that are kept of the beginning and of the end of a body."""
_SILENT = frozenset({"set-cookie", "authorization", "www-authenticate"})
"""Headers that are left out."""


class RawAnswer:
    """Takes status, headers and the pieces of one body as they are read."""

    def __init__(self) -> None:
        self._head = ""
        self._first: list[bytes] = []
        self._last: deque[bytes] = deque()
        self._first_size = self._last_size = self._size = 0

    def begin(self, status: int, headers: Iterable[tuple[str, str]]) -> None:
        """The answer has begun."""
        lines = [f"HTTP {status}", *(f"{name}: {value}" for name, value in headers if name.lower() not in _SILENT)]
        self._head = "\n".join(lines)

    def take(self, piece: bytes) -> None:
        """The next bytes of the body."""
        self._size += len(piece)
        room = FIRST - self._first_size
        if room > 0:
            self._first.append(piece[:room])
            self._first_size += min(room, len(piece))
            piece = piece[room:]
            if not piece:
                return
        self._last.append(piece)
        self._last_size += len(piece)
        while self._last_size - len(self._last[0]) >= LAST:
            self._last_size -= len(self._last.popleft())

    def text(self, secrets: Collection[str], shown: str) -> str:
        """Head and body; "" if nothing came. ``shown``: what was read of the answer. A key that a model repeats may be
        spread over many events of a stream, where nobody finds it: then the body is left out."""
        if not self._head:
            return ""
        body = b"".join(self._first)
        last = b"".join(self._last)[-LAST:]
        gone = self._size - len(body) - len(last)
        parts = [body.decode("utf-8", "replace")]
        if gone > 0:
            parts.append(f"\n\n… {gone} bytes are left out …\n\n")
        parts.append(last.decode("utf-8", "replace"))
        if SECRET in shown:
            parts = [f"The body of {self._size} bytes is left out: the answer holds a secret."]
        found = redact(f"{self._head}\n\n{''.join(parts)}", secrets)
        assert isinstance(found, str)
        return found
