"""Who works on a run: one process at a time. A process that is gone, even killed, owns nothing any more."""

from __future__ import annotations

import json
import os
from pathlib import Path
from uuid import uuid4

from studio.checkpoints.database import Database
from studio.checkpoints.file_locks import OwnerFile, text_of_living
from studio.checkpoints.store import RunIsElsewhere

_SCHEMA = "CREATE TABLE IF NOT EXISTS lease (run TEXT PRIMARY KEY, owner TEXT NOT NULL) WITHOUT ROWID"


class Leases:
    """The leases of one open store. A lease names a locked file beside the database; the system unlocks it when the
    process that made it ends, so no clock decides and nothing has to beat."""

    def __init__(self, database: Database, program: str) -> None:
        self._database = database
        self._program = program
        self._mine: OwnerFile | None = None
        self._made = False

    @property
    def _folder(self) -> Path:
        return self._database.path.with_name(self._database.path.name + "-owners")

    async def claim(self, run: str) -> None:
        """Makes this process the owner of a run. Raises :class:`RunIsElsewhere`."""
        if self._mine is None:
            text = json.dumps({"pid": os.getpid(), "program": self._program})
            self._mine = OwnerFile(self._folder / uuid4().hex, text)
        async with self._database.writing() as connection:
            connection.execute(_SCHEMA)
            row = connection.execute("SELECT owner FROM lease WHERE run=?", (run,)).fetchone()
            if row is not None and row[0] != self._mine.path.name:
                owner = self._living(row[0])
                if owner is not None:
                    raise RunIsElsewhere(owner)
            connection.execute("INSERT OR REPLACE INTO lease VALUES (?, ?)", (run, self._mine.path.name))

    async def release(self, run: str) -> None:
        """Gives a run up, if it is owned here."""
        if self._mine is not None:
            async with self._database.writing() as connection:
                connection.execute(_SCHEMA)
                connection.execute("DELETE FROM lease WHERE run=? AND owner=?", (run, self._mine.path.name))

    async def elsewhere(self) -> dict[str, str]:
        """The runs that other living processes work on, and who they are in words."""
        mine = self._mine.path.name if self._mine is not None else ""
        async with self._database.reading():
            rows = self._database.execute("SELECT run, owner FROM lease").fetchall() if self._has_leases() else []
        owners = {owner: self._living(owner) for owner in {row[1] for row in rows} if owner != mine}
        return {run: words for run, owner in rows if (words := owners.get(owner)) is not None}

    def close(self) -> None:
        """Gives everything up."""
        if self._mine is not None:
            self._mine.close()
            self._mine = None

    def _has_leases(self) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE name='lease'"
        self._made = self._made or bool(self._database.execute(query).fetchone()[0])
        return self._made

    def _living(self, owner: str) -> str | None:
        text = text_of_living(self._folder / owner)
        if text is None:
            return None
        try:
            found = json.loads(text)
            return f"{found['program']} (process {found['pid']})"
        except (ValueError, KeyError, TypeError):
            return "another program"
