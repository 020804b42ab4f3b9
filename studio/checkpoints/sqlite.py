"""Checkpoints, runs and event logs in one SQLite file.

A checkpoint is durable when ``save`` returns: it survives ``kill -9``. After a power loss the file is sound and the
last seconds may be missing (WAL, ``synchronous=NORMAL``).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from studio.checkpoints.bodies import Bodies
from studio.checkpoints.checkpoint import Checkpoint, CheckpointInfo
from studio.checkpoints.database import Database
from studio.checkpoints.drafts import read_drafts, write_drafts
from studio.checkpoints.index import Index
from studio.checkpoints.keys import head_of, key_of, parsed_head
from studio.checkpoints.large_texts import apart, has_large, keep, sweep, together
from studio.checkpoints.listing import KINDS, described
from studio.checkpoints.marks import Mark
from studio.checkpoints.packing import Packer, TooLarge, dumps
from studio.checkpoints.quick import uncollected
from studio.checkpoints.removal import remove
from studio.checkpoints.runs import RunRecord, free
from studio.checkpoints.store import CheckpointNotFound, Codec, StoreError
from studio.checkpoints.upkeep import Upkeep

_LOG = "INSERT INTO event (run, body) VALUES (?, ?)"
_ADD = "INSERT INTO entry (parent, head, body) VALUES (?, ?, ?)"
_RUN_FIELDS = tuple(field.name for field in fields(RunRecord))
_RUN = ", ".join(_RUN_FIELDS)
_KIND = {kind: number for number, kind in enumerate(KINDS)}
_ROW_BYTES = 60
"""What a checkpoint's row takes beside its body."""
_KEPT = 10_000
_MANY = 400
"""Waiting messages from which a checkpoint is not written on the loop; ``_LONG``: bytes of a body, for reading."""
_LONG = 4_000


class SqliteStore(Upkeep):
    """A store in one file; also a :class:`studio.checkpoints.runs.RunStore`. Several processes may use one file."""

    def __init__(self, path: str | Path, codec: Codec) -> None:
        self._database = Database(path)
        self._hide = codec.hide
        self._packer = Packer(self._database, codec)
        self._bodies = Bodies(self._database, self._packer, codec.hide)
        self._index = Index(self._database)
        self._numbers: dict[str, int] = {}
        self._origins: dict[tuple[str, str, str], int] = {}

    # --------------------------------------------------------------------------------------------- checkpoints

    async def save(self, checkpoint: Checkpoint) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.save`."""
        database = self._database
        async with database.lock:
            try:
                if not database.begun():
                    await database.begin()
                try:
                    if len(checkpoint.messages) > _MANY:
                        raise TooLarge
                    size = self._write(checkpoint)
                except TooLarge:
                    size = await database.in_thread(lambda: self._write_large(checkpoint))
                database.execute("COMMIT")
            except BaseException as error:
                database.undo()
                self._forget()
                if isinstance(error, sqlite3.Error):
                    raise database.trouble(error) from error
                raise
        database.folded_now_and_then()
        return size

    def _write(self, c: Checkpoint) -> int:
        """The rows of a checkpoint, within a transaction."""
        database = self._database
        if database.removed_elsewhere():
            self._forget()
        database.added = 0
        body, base = self._bodies.write(c)
        size = database.added + len(body) + _ROW_BYTES
        key, rest = key_of(c.id)
        later = isinstance(rest, bytes) and self._index.may_wait(key)
        if not later and self._entry_of(c.id) is not None:
            raise StoreError(f"A checkpoint with the id {c.id!r} is there already")
        known = rest if later and isinstance(rest, bytes) else None
        head = head_of(key, _KIND[c.kind], self._origin(c), c.superstep, size, c.created, c.name, known)
        number = database.execute(_ADD, (self._parent(c.parent), head, body)).lastrowid or 0
        if known is None:
            self._index.add(key, number, rest)
        else:
            self._index.add_later(key, number, known)
        self._bodies.keep(c.id, number, base)
        if len(self._numbers) >= _KEPT:
            self._numbers.clear()
        self._numbers[c.id] = number
        return size

    def _write_large(self, c: Checkpoint) -> int:
        """The same with what is too large, or too much, for the loop."""
        self._packer.large_allowed = True
        try:
            return self._write(c)
        finally:
            self._packer.large_allowed = False

    def _forget(self) -> None:
        """Numbers of entries are no longer valid."""
        self._packer.forget()
        self._bodies.forget()
        self._index.forget()
        self._numbers.clear()
        self._origins.clear()

    def _parent(self, id: str | None) -> int | str | None:
        """The entry of a checkpoint; its id if it is not in this file."""
        if id is None:
            return None
        number = self._numbers.get(id)
        if number is None:
            number = self._entry_of(id)
        return id if number is None else number

    def _entry_of(self, id: str) -> int | None:
        return self._index.entry_of(id)

    def _id_of(self, entry: int | str | None) -> str | None:
        """The id of the checkpoint at an entry; an id of another file as it is."""
        if not isinstance(entry, int):
            return entry
        row = self._one("SELECT head FROM entry WHERE id=?", (entry,))
        return None if row is None else self._index.id_at(entry, row[0])

    def _origin(self, c: Checkpoint) -> int:
        """The row of run, workflow and signature, which many checkpoints share."""
        values = (c.run, c.workflow, c.signature)
        known = self._origins.get(values)
        if known is not None:
            return known
        execute = self._database.execute
        found = execute("SELECT id FROM origin WHERE run=? AND workflow=? AND signature=?", values).fetchone()
        if found is None:
            add = "INSERT INTO origin (run, workflow, signature) VALUES (?, ?, ?)"
            found = (execute(add, values).lastrowid or 0,)
        origin = self._origins[values] = int(found[0])
        return origin

    async def load(self, id: str) -> Checkpoint:
        """See :meth:`studio.checkpoints.store.CheckpointStore.load`."""
        database = self._database
        async with database.lock:
            with database.sound(f"checkpoint {id}"):
                if database.removed_elsewhere():
                    self._forget()
                entry = self._entry_of(id)
                row = None if entry is None else self._one("SELECT parent, head, body FROM entry WHERE id=?", (entry,))
                if row is None or entry is None:
                    raise CheckpointNotFound(id)
                _, kind, origin, superstep, _, created, name = parsed_head(row[1])
                if len(row[2]) < _LONG:
                    parts = self._bodies.read(row[2], entry, id, superstep)
                else:
                    body, number = row[2], entry
                    parts = await database.in_thread(lambda: self._bodies.read(body, number, id, superstep))
                run, workflow, signature = self._all_origins(None)[origin]
                return Checkpoint(
                    id=id, parent=self._id_of(row[0]), run=run, workflow=workflow, signature=signature,
                    kind=KINDS[kind], superstep=superstep, created=created, name=name, **parts,
                )  # fmt: skip

    async def infos(self, run: str | None = None) -> list[CheckpointInfo]:
        """See :meth:`studio.checkpoints.store.CheckpointStore.infos`."""
        async with self._database.reading():
            with uncollected():
                rows = self._index.rows()
            origins = self._all_origins(run)
            return described(rows, origins)

    def _all_origins(self, run: str | None) -> dict[int, tuple[str, str, str]]:
        rows = self._all("SELECT id, run, workflow, signature FROM origin", ())
        return {row[0]: row[1:] for row in rows if run is None or row[1] == run}

    async def latest(self, run: str | None = None) -> CheckpointInfo | None:
        """See :meth:`studio.checkpoints.store.CheckpointStore.latest`."""
        async with self._database.reading():
            origins = self._all_origins(run)
            query = (
                "SELECT e.id, e.parent, e.head, p.head FROM entry e LEFT JOIN entry p ON p.id=e.parent"
                " WHERE e.head IS NOT NULL ORDER BY e.id DESC"
            )
            if run is None:
                query += " LIMIT 1"  # else the row before it is looked for, too: a cursor reads one ahead
            for entry, parent, head, before in self._database.execute(query):
                _, kind, origin, superstep, size, created, name = parsed_head(head)
                if origin in origins:
                    id = self._index.id_at(entry, head) or ""
                    above = self._index.id_at(parent, before) if before is not None else None
                    above = parent if isinstance(parent, str) else above
                    run, workflow, signature = origins[origin]
                    return CheckpointInfo(
                        id, above, run, workflow, signature, KINDS[kind], superstep, created, size, name
                    )
        return None

    async def delete(self, ids: Collection[str]) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.delete`."""
        database = self._database
        async with database.writing():
            found = {id: self._entry_of(id) for id in ids}
            numbers = {number: id for id, number in found.items() if number is not None}
            with database.sound():
                removed = await database.in_thread(lambda: remove(database, self._bodies, numbers))
            self._forget()
        return removed

    async def prune(self, keep: int, run: str | None = None) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.prune`."""
        infos = await self.infos(run)
        return await self.delete([info.id for info in infos[: max(len(infos) - keep, 0)]])

    # ---------------------------------------------------------------------------------------------------- runs

    async def start_run(self, record: RunRecord) -> RunRecord:
        """See :meth:`studio.checkpoints.runs.RunStore.start_run`."""
        marks = ", ".join("?" * len(_RUN_FIELDS))
        async with self._database.writing() as connection:
            self._database.make_runs()
            record = free(record, connection.execute("SELECT number, name FROM run").fetchall())
            values = tuple(self._clean(getattr(record, name)) for name in _RUN_FIELDS)
            connection.execute(f"INSERT INTO run ({_RUN}) VALUES ({marks})", values)
        return record

    async def update_run(self, id: str, **fields: Any) -> None:
        """Changes fields of a run. Raises KeyError for an unknown run or field."""
        unknown = [name for name in fields if name not in _RUN_FIELDS or name == "id"]
        if unknown or not fields:
            raise KeyError(f"A run has no field {', '.join(unknown) or '(none given)'}")
        sets = ", ".join(f"{name}=?" for name in fields)
        async with self._database.writing() as connection:
            self._database.make_runs()
            if not connection.execute(
                f"UPDATE run SET {sets} WHERE id=?", (*map(self._clean, fields.values()), id)
            ).rowcount:
                raise KeyError(id)

    async def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""
        async with self._database.reading():
            usage = "usage" if self._database.has_usage else "''"
            query = f"SELECT {_RUN.removesuffix('usage')}{usage} FROM run ORDER BY place"
            return [RunRecord(*row) for row in self._of_runs(query, ())]

    async def append_events(self, run: str, events: Sequence[Any]) -> None:
        """Adds JSON values to the log of a run."""
        database = self._database
        if any(map(has_large, events)):
            async with database.writing():
                database.make_runs()
                await database.in_thread(lambda: self._append_large(run, events))
            return
        rows = [(run, self._hide(dumps(event))) for event in events]
        async with database.writing() as connection:
            database.make_runs()
            connection.executemany(_LOG, rows)

    def _append_large(self, run: str, events: Sequence[Any]) -> None:
        """The same for events with large texts: each is in the file once, whatever logs speak of it."""
        texts: dict[str, str] = {}
        rows = [(run, self._hide(dumps(apart(event, texts)))) for event in events]
        keep(self._database, {hash: self._hide(text) for hash, text in texts.items()})
        self._database.connection.executemany(_LOG, rows)

    async def load_events(self, run: str) -> list[Any]:
        """The whole log of a run."""
        async with self._database.reading():
            rows = self._of_runs("SELECT body FROM event WHERE run=? ORDER BY number", (run,))
            known: dict[str, str] = {}
            return [together(self._database, body, json.loads(body), known) for (body,) in rows]

    async def save_document(self, fingerprint: str, text: str) -> None:
        """Keeps a document that ran, once."""
        async with self._database.writing() as connection:
            self._database.make_runs()
            connection.execute("INSERT OR IGNORE INTO document VALUES (?, ?)", (fingerprint, text))

    async def load_document(self, fingerprint: str) -> str:
        """The document with this fingerprint. Raises KeyError."""
        async with self._database.reading():
            row = next(iter(self._of_runs("SELECT body FROM document WHERE fingerprint=?", (fingerprint,))), None)
        if row is None:
            raise KeyError(fingerprint)
        text: str = row[0]
        return text

    async def delete_run(self, id: str) -> int:
        """See :meth:`studio.checkpoints.runs.RunStore.delete_run`."""
        checkpoints = [info.id for info in await self.infos(id)]
        removed = await self.delete(checkpoints)
        async with self._database.writing() as connection:
            if self._database.has_runs:
                connection.execute("DELETE FROM event WHERE run=?", (id,))
                connection.execute("DELETE FROM run WHERE id=?", (id,))
                await self._database.in_thread(lambda: sweep(self._database))
            if self._database.has_marks:
                connection.executemany("DELETE FROM mark WHERE checkpoint=?", [(c,) for c in checkpoints])
        return removed

    async def set_mark(self, checkpoint: str, mark: Mark) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.set_mark`."""
        async with self._database.writing() as connection:
            self._database.make_marks()
            if mark:
                texts = self._hide(mark.name), self._hide(mark.note)
                values = (checkpoint, *texts, mark.pinned, self._hide("\n".join(mark.tags)))
                query = "INSERT OR REPLACE INTO mark (checkpoint, name, note, pinned, tags) VALUES (?, ?, ?, ?, ?)"
                connection.execute(query, values)
            else:
                connection.execute("DELETE FROM mark WHERE checkpoint=?", (checkpoint,))

    async def marks(self) -> dict[str, Mark]:
        """See :meth:`studio.checkpoints.runs.RunStore.marks`."""
        async with self._database.reading():
            has, tags = self._database.has_marks, "tags" if self._database.has_tags else "''"
            rows = self._all(f"SELECT checkpoint, name, note, pinned, {tags} FROM mark", ()) if has else []
            return {row[0]: Mark(row[1], row[2], bool(row[3]), tuple(filter(None, row[4].split("\n")))) for row in rows}

    async def set_drafts(self, drafts: Mapping[str, Any]) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.set_drafts`."""
        async with self._database.writing():
            write_drafts(self._database, drafts, self._hide)

    async def drafts(self) -> dict[str, Any]:
        """See :meth:`studio.checkpoints.runs.RunStore.drafts`."""
        async with self._database.reading():
            return read_drafts(self._database)

    async def close(self) -> None:
        """Gives up what is owned, folds the log into the file and closes it."""
        if self._owned is not None:
            self._owned.close()
        await self._database.close()

    # ------------------------------------------------------------------------------------------------- reading

    def _clean(self, value: Any) -> Any:
        return self._hide(value) if isinstance(value, str) else value

    def _one(self, query: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return next(iter(self._all(query, values)), None)

    def _of_runs(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        return self._all(query, values) if self._database.has_runs else []

    def _all(self, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._database.trouble(error) from error
