"""One turn at a time per session: first come, first served, over event loops and threads."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator
from concurrent.futures import Future
from contextlib import asynccontextmanager


class SessionLines:
    """A line per session; a session without waiting turns takes no memory."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._lines: dict[str, deque[Future[None]]] = {}

    @asynccontextmanager
    async def turn(self, session: str) -> AsyncIterator[None]:
        """Waits for the session's turn. Cancelling gives the place up."""
        await self._enter(session)
        try:
            yield
        finally:
            self._leave(session)

    async def _enter(self, session: str) -> None:
        with self._guard:
            line = self._lines.get(session)
            if line is None:
                self._lines[session] = deque()
                return
            place: Future[None] = Future()
            line.append(place)
        try:
            await asyncio.shield(asyncio.wrap_future(place))
        except BaseException:
            self._give_up(session, place)
            raise

    def _give_up(self, session: str, place: Future[None]) -> None:
        with self._guard:
            line = self._lines.get(session)
            if line is not None and place in line:
                line.remove(place)
                return
        self._leave(session)  # it was our turn already

    def _leave(self, session: str) -> None:
        with self._guard:
            line = self._lines[session]
            if not line:
                del self._lines[session]
                return
            place = line.popleft()
        place.set_result(None)
