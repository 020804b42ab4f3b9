"""Checkpoints, runs and event logs in one SQLite file.

A checkpoint is durable when ``save`` returns: it survives ``kill -9``. After a power loss the file is sound and the
last seconds may be missing (WAL, ``synchronous=NORMAL``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from studio.checkpoints.checkpoint import Checkpoint, CheckpointInfo
from studio.checkpoints.database import Database
from studio.checkpoints.packing import Packer, dumps
from studio.checkpoints.runs import RunRecord
from studio.checkpoints.store import CheckpointNotFound, Codec, StoreError

_INFO = "c.id, parent, run, workflow, signature, kind, superstep, created, bytes, name"
_FROM = "FROM checkpoint c JOIN origin o ON o.id = c.origin"
_RUN_FIELDS = tuple(field.name for field in fields(RunRecord))
_RUN = ", ".join(_RUN_FIELDS)
_ROW_BYTES = 140
"""What a checkpoint's row takes beside its body."""


class SqliteStore:
    """A store in one file; also a :class:`studio.checkpoints.runs.RunStore`. Several processes may use one file."""

    def __init__(self, path: str | Path, codec: Codec) -> None:
        self._database = Database(path)
        self._packer = Packer(self._database, codec)

    # --------------------------------------------------------------------------------------------- checkpoints

    async def save(self, checkpoint: Checkpoint) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.save`."""
        c = checkpoint
        try:
            async with self._database.writing() as connection:
                body = dumps(self._body(c))
                size = self._database.added + len(body.encode()) + _ROW_BYTES
                connection.execute(
                    "INSERT INTO checkpoint (id, parent, origin, kind, superstep, created, bytes, name, body)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (c.id, c.parent, self._origin(c), c.kind, c.superstep, c.created, size, c.name, body),
                )
        except BaseException:
            self._packer.forget()
            raise
        return size

    def _origin(self, c: Checkpoint) -> int:
        """The row of run, workflow and signature, which many checkpoints share."""
        values = (c.run, c.workflow, c.signature)
        found = self._one("SELECT id FROM origin WHERE run=? AND workflow=? AND signature=?", values)
        if found is not None:
            return int(found[0])
        add = "INSERT INTO origin (run, workflow, signature) VALUES (?, ?, ?)"
        return self._database.connection.execute(add, values).lastrowid or 0

    def _body(self, c: Checkpoint) -> dict[str, Any]:
        """What is there, packed; empty parts are left out."""
        pack, rows = self._packer.pack, self._packer.pack_rows
        parts = {
            "messages": rows(c.messages),
            "requests": rows(c.requests),
            "state": pack(dict(c.state)),
            "executors": pack({node: dict(state) for node, state in c.executors.items()}),
            "fan_in": {key: rows(buffer) for key, buffer in c.fan_in.items()},
        }
        return {name: packed for name, packed in parts.items() if packed}

    async def load(self, id: str) -> Checkpoint:
        """See :meth:`studio.checkpoints.store.CheckpointStore.load`."""
        row = self._one(f"SELECT {_INFO}, body {_FROM} WHERE c.id=?", (id,))
        if row is None:
            raise CheckpointNotFound(id)
        body = json.loads(row[10])
        unpack = self._packer.unpack
        return Checkpoint(
            id=row[0], parent=row[1], run=row[2], workflow=row[3], signature=row[4], kind=row[5], superstep=row[6],
            created=row[7], name=row[9],
            messages=tuple(unpack(body.get("messages", []))),
            requests=tuple(unpack(body.get("requests", []))),
            state=unpack(body.get("state", {})),
            executors=unpack(body.get("executors", {})),
            fan_in={key: tuple(unpack(buffer)) for key, buffer in body.get("fan_in", {}).items()},
        )  # fmt: skip

    async def infos(self, run: str | None = None) -> list[CheckpointInfo]:
        """See :meth:`studio.checkpoints.store.CheckpointStore.infos`."""
        where, values = ("", ()) if run is None else (" WHERE run=?", (run,))
        rows = self._all(f"SELECT {_INFO} {_FROM}{where} ORDER BY number", values)
        return [CheckpointInfo(*row) for row in rows]

    async def latest(self, run: str | None = None) -> CheckpointInfo | None:
        """The checkpoint that was saved last (of one run)."""
        where, values = ("", ()) if run is None else (" WHERE run=?", (run,))
        row = self._one(f"SELECT {_INFO} {_FROM}{where} ORDER BY number DESC LIMIT 1", values)
        return None if row is None else CheckpointInfo(*row)

    # ---------------------------------------------------------------------------------------------------- runs

    async def start_run(self, record: RunRecord) -> None:
        """Keeps a new run."""
        values = tuple(getattr(record, name) for name in _RUN_FIELDS)
        marks = ", ".join("?" * len(values))
        async with self._database.writing() as connection:
            connection.execute(f"INSERT INTO run ({_RUN}) VALUES ({marks})", values)

    async def update_run(self, id: str, **fields: Any) -> None:
        """Changes fields of a run. Raises KeyError for an unknown run or field."""
        unknown = [name for name in fields if name not in _RUN_FIELDS or name == "id"]
        if unknown or not fields:
            raise KeyError(f"A run has no field {', '.join(unknown) or '(none given)'}")
        sets = ", ".join(f"{name}=?" for name in fields)
        async with self._database.writing() as connection:
            if not connection.execute(f"UPDATE run SET {sets} WHERE id=?", (*fields.values(), id)).rowcount:
                raise KeyError(id)

    async def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        return [RunRecord(*row) for row in self._all(f"SELECT {_RUN} FROM run ORDER BY place", ())]

    async def append_events(self, run: str, events: Sequence[Any]) -> None:
        """Adds JSON values to the log of a run."""
        rows = [(run, dumps(event)) for event in events]
        async with self._database.writing() as connection:
            connection.executemany("INSERT INTO event (run, body) VALUES (?, ?)", rows)

    async def load_events(self, run: str) -> list[Any]:
        """The whole log of a run."""
        return [json.loads(row[0]) for row in self._all("SELECT body FROM event WHERE run=? ORDER BY number", (run,))]

    async def save_document(self, fingerprint: str, text: str) -> None:
        """Keeps a document that ran, once."""
        async with self._database.writing() as connection:
            connection.execute("INSERT OR IGNORE INTO document VALUES (?, ?)", (fingerprint, text))

    async def load_document(self, fingerprint: str) -> str:
        """The document with this fingerprint. Raises KeyError."""
        row = self._one("SELECT body FROM document WHERE fingerprint=?", (fingerprint,))
        if row is None:
            raise KeyError(fingerprint)
        text: str = row[0]
        return text

    async def close(self) -> None:
        """Folds the log into the file and closes it."""
        await self._database.close()

    # ------------------------------------------------------------------------------------------------- reading

    def _one(self, query: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return next(iter(self._all(query, values)), None)

    def _all(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._database.connection.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self._database.path}: {error}") from error
