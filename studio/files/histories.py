"""Rows of JSON by session, in files of lines or in SQLite: where histories of agents are kept.

Both keep all rows of one call or none, also when the process is killed meanwhile.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from studio.files.database import SqliteFile


class FileHistoryRows:
    """A file of JSON lines per session. A call's rows are one line, so a cut line is a call that never was."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        self._lock = threading.Lock()

    async def load(self, session: str) -> list[dict[str, Any]]:
        """All rows; lines that cannot be read at the end of the file are left out."""
        return await asyncio.to_thread(self._load, session)

    async def append(self, session: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Rows behind the others; they are on the disk when this returns."""
        line = json.dumps(list(rows), ensure_ascii=False).encode() + b"\n"
        await asyncio.to_thread(self._append, session, line)

    def path(self, session: str) -> Path:
        """The session's file. Names that no file may have are replaced by their hash."""
        if re.fullmatch(r"[A-Za-z0-9_-]{1,80}", session):
            return self._folder / f"{session}.jsonl"
        return self._folder / f"~{hashlib.sha256(session.encode()).hexdigest()[:40]}.jsonl"

    def _load(self, session: str) -> list[dict[str, Any]]:
        with self._lock:
            try:
                lines = self.path(session).read_bytes().split(b"\n")
            except FileNotFoundError:
                return []
        rows: list[dict[str, Any]] = []
        for line in lines[:-1]:  # behind the last line end there is nothing, or a line that was cut
            rows += json.loads(line)
        return rows

    def _append(self, session: str, line: bytes) -> None:
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            handle = os.open(self.path(session), os.O_RDWR | os.O_CREAT, 0o600)
            with os.fdopen(handle, "r+b") as file:
                _cut_torn_line(file)
                file.write(line)
                file.flush()
                os.fsync(file.fileno())


def _cut_torn_line(file: BinaryIO) -> None:
    """Goes to the end of the file; a last line without line end is taken away."""
    if file.seek(0, os.SEEK_END) == 0:
        return
    file.seek(-1, os.SEEK_END)
    if file.read(1) != b"\n":
        file.seek(0)
        whole = file.read().rfind(b"\n") + 1
        file.seek(whole)
        file.truncate()


class SqliteHistoryRows:
    """All sessions in one SQLite file."""

    def __init__(self, path: str | Path) -> None:
        self._file = SqliteFile(
            path,
            "CREATE TABLE IF NOT EXISTS history (number INTEGER PRIMARY KEY, session TEXT NOT NULL, row TEXT NOT NULL)",
            "CREATE INDEX IF NOT EXISTS history_session ON history (session)",
        )

    async def load(self, session: str) -> list[dict[str, Any]]:
        """All rows in order."""
        return await asyncio.to_thread(self._load, session)

    async def append(self, session: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Rows behind the others, in one transaction."""
        await asyncio.to_thread(self._append, session, [json.dumps(row, ensure_ascii=False) for row in rows])

    async def close(self) -> None:
        """Gives the file back; a later call opens it again."""
        self._file.close()

    def _load(self, session: str) -> list[dict[str, Any]]:
        with self._file.using() as connection:
            found = connection.execute("SELECT row FROM history WHERE session=? ORDER BY number", (session,))
            return [json.loads(row) for (row,) in found]

    def _append(self, session: str, rows: Sequence[str]) -> None:
        with self._file.using() as connection, connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT INTO history (session, row) VALUES (?, ?)", [(session, row) for row in rows])
