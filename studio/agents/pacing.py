"""Reading a fast stream once per frame instead of once per token."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any

PACE = 0.016
"""Seconds from one read of a stream to the next: what comes meanwhile is read at once, since a read through the event
loop and the layers of the HTTP client costs more than the token it brings. About a frame, so nobody sees it."""


class PacedReads:
    """Slows the reads of a connection's stream down while an answer is read; use as ``with``.

    A read that comes soon after another waits for the next tick. Ticks are the same for all streams of a loop, which
    then wakes once for all of them. A token that comes alone is never late: reads that had to wait are over at once.
    """

    __slots__ = ("_read", "_stream", "returned")

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        """The network stream of ``httpcore2``, or None: then nothing is paced."""
        self._read: Any = None
        self.returned = perf_counter()
        """When the last read was over: the loop has had its turn then."""

    def __enter__(self) -> PacedReads:
        if self._stream is not None:
            self._read = self._stream.read
            self._stream.read = self._paced
        return self

    def __exit__(self, *_: object) -> None:
        if self._stream is not None:
            del self._stream.read

    async def _paced(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ASYNC109 - as httpcore2 calls it
        now = perf_counter()
        if now - self.returned < PACE:
            await asyncio.sleep(PACE - now % PACE)
        data: bytes = await self._read(max_bytes, timeout)
        self.returned = perf_counter()
        return data
