"""A history outside the session: in a file or a database."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from studio.agents.context_providers import HistoryProvider
from studio.agents.messages import Message
from studio.agents.plain import message_from_plain, message_to_plain
from studio.agents.session import Session, new_messages


class HistoryRows(Protocol):
    """Keeps rows of JSON by session, in order. ``append`` keeps all rows or none."""

    async def load(self, session: str) -> list[dict[str, Any]]:
        """All rows of a session; none if it is not known."""

    async def append(self, session: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Further rows."""


class StoredHistory(HistoryProvider):
    """Messages of a session in ``rows``; survives the session object."""

    def __init__(self, rows: HistoryRows, source_id: str = "history", **options: Any) -> None:
        super().__init__(source_id, **options)
        self._rows = rows
        self._line = asyncio.Lock()

    async def get_messages(self, session: Session, state: dict[str, Any]) -> Sequence[Message]:
        return [message_from_plain(row) for row in await self._rows.load(session.id)]

    async def save_messages(self, session: Session, messages: Sequence[Message], state: dict[str, Any]) -> None:
        async with self._line:  # two runs at once would both miss what the other adds
            stored = await self.get_messages(session, state)
            new = new_messages(stored, messages)
            if new:
                await self._rows.append(session.id, [message_to_plain(message) for message in new])
