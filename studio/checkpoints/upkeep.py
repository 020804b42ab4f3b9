"""Looking after a file of runs: owners, settings, what was discarded and can come back, sizes, making it smaller."""

from __future__ import annotations

import json
import sqlite3
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from typing import Any

from studio.checkpoints import large_texts, usage
from studio.checkpoints.bodies import Bodies
from studio.checkpoints.database import Database
from studio.checkpoints.leases import Leases
from studio.checkpoints.removal import remove
from studio.checkpoints.retention import RetentionRules

_SCHEMA = (
    "CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS discard (number INTEGER PRIMARY KEY, at REAL NOT NULL, text TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS discarded (kind TEXT NOT NULL, id TEXT NOT NULL, number INTEGER NOT NULL,"
    " PRIMARY KEY (kind, id)) WITHOUT ROWID",
)
"""Made when the first setting is kept or the first thing is discarded."""
_RULES = "retention"
_CHECKPOINT, _RUN = "checkpoint", "run"
_STEPS = 20_000
"""Steps of SQLite's machine between two looks at whether somebody wants it to stop: some milliseconds."""


@dataclass(frozen=True, slots=True)
class Discarded:
    """What was taken away in one go: hidden, and there until the file is compacted. ``at``: unix seconds."""

    number: int
    at: float
    text: str
    checkpoints: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Sizes:
    """Bytes. ``file`` with its log; ``free`` is what compacting gives back, as far as it is known without doing it."""

    file: int
    free: int = 0


@dataclass(slots=True)
class Stop:
    """Lets somebody end a long piece of work; safe from any thread."""

    _event: threading.Event = field(default_factory=threading.Event)

    def set(self) -> None:
        """Asks for the end."""
        self._event.set()

    def __bool__(self) -> bool:
        return self._event.is_set()


class Stopped(Exception):
    """The work ended because somebody wanted it; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Compaction:
    """Bytes before and after, and what went for good."""

    before: int
    after: int
    checkpoints: int = 0
    runs: int = 0


class Upkeep(ABC):
    """Part of :class:`studio.checkpoints.sqlite.SqliteStore`."""

    program = "another program"
    """What others are told when a run is at work here."""
    _database: Database
    _bodies: Bodies
    _owned: Leases | None = None

    @abstractmethod
    def _forget(self) -> None:
        """Remembered entries may be gone."""

    @abstractmethod
    def _entry_of(self, id: str) -> int | None:
        """The entry of a checkpoint; None if there is none."""

    # ------------------------------------------------------------------------------------------------- owners

    @property
    def _leases(self) -> Leases:
        if self._owned is None:
            self._owned = Leases(self._database, self.program)
        return self._owned

    async def claim_run(self, id: str) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.claim_run`."""
        await self._leases.claim(id)

    async def release_run(self, id: str) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.release_run`."""
        await self._leases.release(id)

    async def owners(self) -> dict[str, str]:
        """See :meth:`studio.checkpoints.runs.RunStore.owners`."""
        return await self._leases.elsewhere()

    def changed_elsewhere(self) -> bool:
        """Whether another connection wrote since the last call; False while this one is busy."""
        return self._database.written_elsewhere()

    # ---------------------------------------------------------------------------------------------- settings

    async def retention(self) -> RetentionRules:
        """See :meth:`studio.checkpoints.runs.RunStore.retention`."""
        async with self._database.reading():
            rows = self._optional("setting", "SELECT value FROM setting WHERE name=?", (_RULES,))
            return RetentionRules.from_json(json.loads(rows[0][0])) if rows else RetentionRules()

    async def set_retention(self, rules: RetentionRules) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.set_retention`."""
        async with self._database.writing() as connection:
            _make(connection)
            value = json.dumps(rules.to_json())
            connection.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (_RULES, value))

    # ---------------------------------------------------------------------------------------------- discarding

    async def discard(self, text: str, at: float, checkpoints: Collection[str] = (), runs: Collection[str] = ()) -> int:
        """See :meth:`studio.checkpoints.runs.RunStore.discard`."""
        async with self._database.writing() as connection:
            _make(connection)
            number = connection.execute("INSERT INTO discard (at, text) VALUES (?, ?)", (at, text)).lastrowid or 0
            rows = [(_CHECKPOINT, id, number) for id in checkpoints] + [(_RUN, id, number) for id in runs]
            connection.executemany("INSERT OR IGNORE INTO discarded VALUES (?, ?, ?)", rows)
        return number

    async def put_back(self, number: int) -> None:
        """See :meth:`studio.checkpoints.runs.RunStore.put_back`."""
        async with self._database.writing() as connection:
            _make(connection)
            connection.execute("DELETE FROM discarded WHERE number=?", (number,))
            connection.execute("DELETE FROM discard WHERE number=?", (number,))

    async def discarded(self) -> list[Discarded]:
        """See :meth:`studio.checkpoints.runs.RunStore.discarded`."""
        async with self._database.reading():
            return self._batches()

    def _batches(self) -> list[Discarded]:
        """With the lock."""
        batches = self._optional("discard", "SELECT number, at, text FROM discard ORDER BY number", ())
        rows = self._optional("discarded", "SELECT number, kind, id FROM discarded", ())
        found: dict[tuple[int, str], list[str]] = {}
        for number, kind, id in rows:
            found.setdefault((number, kind), []).append(id)
        return [
            Discarded(n, at, text, tuple(found.get((n, _CHECKPOINT), ())), tuple(found.get((n, _RUN), ())))
            for n, at, text in batches
        ]

    # --------------------------------------------------------------------------------------------------- sizes

    async def sizes(self) -> Sizes:
        """See :meth:`studio.checkpoints.runs.RunStore.sizes`."""
        batches = await self.discarded()
        free = await self.freed_by([c for b in batches for c in b.checkpoints], [r for b in batches for r in b.runs])
        async with self._database.reading():
            execute = self._database.execute
            empty = execute("PRAGMA freelist_count").fetchone()[0] * execute("PRAGMA page_size").fetchone()[0]
        return Sizes(self._database.file_bytes(), free + empty)

    async def freed_by(self, checkpoints: Iterable[str], runs: Iterable[str] = ()) -> int:
        """See :meth:`studio.checkpoints.runs.RunStore.freed_by`."""
        async with self._database.reading():
            numbers = {n for n in map(self._entry_of, checkpoints) if n is not None}
            database = self._database
            total = await database.in_thread(lambda: usage.freed_by(database, numbers)) if numbers else 0
            logs = tuple(runs)
            for run in logs:
                rows = self._optional("event", "SELECT sum(length(body)) FROM event WHERE run=?", (run,))
                total += rows[0][0] or 0 if rows else 0
            return total + await database.in_thread(lambda: large_texts.freed_by(database, logs))

    async def weight(self, id: str) -> usage.Weight:
        """See :meth:`studio.checkpoints.runs.RunStore.weight`."""
        async with self._database.reading():
            database, number = self._database, self._entry_of(id)
            if number is None:
                return usage.Weight(0, 0)
            return await database.in_thread(lambda: usage.weight(database, number))

    # ---------------------------------------------------------------------------------------------- compacting

    async def compact(self, say: Callable[[str], None], stop: Stop) -> Compaction:
        """See :meth:`studio.checkpoints.runs.RunStore.compact`."""
        database = self._database
        before = database.file_bytes()
        async with database.writing():
            batches = self._batches()  # in the transaction: another program may put back until it begins
            runs = [r for b in batches for r in b.runs]
            ids = {c for b in batches for c in b.checkpoints}
            found = {id: self._entry_of(id) for id in ids}
            numbers = {number: id for id, number in found.items() if number is not None}
            say("Removing what was discarded")
            try:
                with database.sound():
                    await database.in_thread(lambda: self._remove_for_good(numbers, runs, stop))
            finally:
                self._forget()
        async with database.lock:
            say("Writing the file anew")
            await database.in_thread(lambda: _vacuum(database, stop))
        return Compaction(before, database.file_bytes(), len(numbers), len(runs))

    def _remove_for_good(self, numbers: dict[int, str], runs: Collection[str], stop: Stop) -> None:
        database = self._database
        database.connection.set_progress_handler(lambda: bool(stop), _STEPS)
        try:
            remove(database, self._bodies, numbers)
            if stop:
                raise Stopped
            gone = [(id,) for id in numbers.values()]
            if database.has_marks:
                database.connection.executemany("DELETE FROM mark WHERE checkpoint=?", gone)
            if database.has_runs:
                database.connection.executemany("DELETE FROM event WHERE run=?", [(run,) for run in runs])
                database.connection.executemany("DELETE FROM run WHERE id=?", [(run,) for run in runs])
                large_texts.sweep(database)
                database.execute("DELETE FROM document WHERE fingerprint NOT IN (SELECT document_fingerprint FROM run)")
            for table in ("discarded", "discard"):
                if self._has(table):
                    database.execute(f"DELETE FROM {table}")
        except sqlite3.OperationalError as error:
            if stop:
                raise Stopped from error
            raise
        finally:
            database.connection.set_progress_handler(None, 0)

    # ------------------------------------------------------------------------------------------------- reading

    def _has(self, table: str) -> bool:
        query = "SELECT count(*) FROM sqlite_master WHERE name=?"
        return bool(self._database.execute(query, (table,)).fetchone()[0])

    def _optional(self, table: str, query: str, values: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """The rows of a table that is perhaps not there yet."""
        try:
            return self._database.execute(query, values).fetchall() if self._has(table) else []
        except sqlite3.Error as error:
            raise self._database.trouble(error) from error


def _make(connection: sqlite3.Connection) -> None:
    for statement in _SCHEMA:
        connection.execute(statement)


def _vacuum(database: Database, stop: Stop) -> None:
    """Writes the file anew without gaps, then the log into it. Killed or stopped in between, the file is as before."""
    connection = sqlite3.connect(database.path, timeout=10, isolation_level=None)
    connection.set_progress_handler(lambda: bool(stop), _STEPS)
    try:
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    except sqlite3.OperationalError as error:
        if not stop:
            raise database.trouble(error) from error
    finally:
        connection.close()
