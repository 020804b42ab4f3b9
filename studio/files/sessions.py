"""Records of conversations by id, in one SQLite file: where conversation runners keep their sessions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from studio.files.database import SqliteFile


class SqliteSessions:
    """A record of JSON per session; a turn is one transaction, so a reader sees whole turns only."""

    def __init__(self, path: str | Path) -> None:
        self._file = SqliteFile(path, "CREATE TABLE IF NOT EXISTS session (id TEXT PRIMARY KEY, record TEXT NOT NULL)")

    async def load(self, session: str) -> dict[str, Any] | None:
        """The record; None if there is none."""
        return await asyncio.to_thread(self._load, session)

    async def save(self, session: str, record: Mapping[str, Any]) -> None:
        """The record in place of the old one."""
        await asyncio.to_thread(self._save, session, json.dumps(record, ensure_ascii=False, sort_keys=True))

    async def delete(self, session: str) -> None:
        """Takes the record away; one that is not there is fine."""
        await asyncio.to_thread(self._delete, session)

    async def ids(self) -> list[str]:
        """All sessions, in order of their names."""
        return await asyncio.to_thread(self._ids)

    async def close(self) -> None:
        """Gives the file back; a later call opens it again."""
        self._file.close()

    def _load(self, session: str) -> dict[str, Any] | None:
        with self._file.using() as connection:
            row = connection.execute("SELECT record FROM session WHERE id=?", (session,)).fetchone()
        if row is None:
            return None
        record: dict[str, Any] = json.loads(row[0])
        return record

    def _save(self, session: str, record: str) -> None:
        with self._file.using() as connection:
            connection.execute(
                "INSERT INTO session (id, record) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET record=excluded.record",
                (session, record),
            )

    def _delete(self, session: str) -> None:
        with self._file.using() as connection:
            connection.execute("DELETE FROM session WHERE id=?", (session,))

    def _ids(self) -> list[str]:
        with self._file.using() as connection:
            return [id for (id,) in connection.execute("SELECT id FROM session ORDER BY id")]
