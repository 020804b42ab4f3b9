"""The SQLite file: opening, schema, contents and links, transactions."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import struct
import time
import zlib
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TypeVar

from studio.checkpoints.store import StoreError, UnknownType, UnusableStore

_Given = TypeVar("_Given")

VERSION = 4
_READABLE = 3
"""The oldest version that this program reads; the first checkpoint whose row waits makes it :data:`VERSION`."""
_APPLICATION = 0x53555053
_BRIEF = 0.004
"""Seconds to wait for another process's lock on the loop; longer waits go to a thread."""
_PATIENT_MS = 10_000
_STRANGERS = 64
"""So many other entries, and three for each item, may lie between the items of a list that is read backwards."""
_FOLD_BYTES = 4_000_000
"""Size of the write-ahead log from which it is folded into the file, in a thread."""

_UNREADABLE = (ValueError, LookupError, AttributeError, TypeError, RecursionError, struct.error, zlib.error)
"""What comes of bytes that nobody wrote so."""

_SCHEMA = """
CREATE TABLE entry (id INTEGER PRIMARY KEY, parent, head BLOB, body NOT NULL);
INSERT INTO entry VALUES (0, 0, NULL, 0);
CREATE TABLE checkpoint (hash INTEGER PRIMARY KEY, entry INTEGER NOT NULL, rest NOT NULL);
CREATE TABLE origin (id INTEGER PRIMARY KEY, run TEXT NOT NULL, workflow TEXT NOT NULL, signature TEXT NOT NULL);
"""
"""``entry`` is the append-only log, see ``packing.py``; checkpoints stand in it too (with a ``head``), so that a
superstep writes to the end of one table. ``parent`` of a checkpoint is an entry, or the id of one that is elsewhere.
Entry 0 counts removals. ``checkpoint`` finds an entry by id, see ``index.py``; entry 0 says how far it goes."""

_RUN_SCHEMA = """
CREATE TABLE run (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, name TEXT NOT NULL,
    parent_checkpoint TEXT, input TEXT NOT NULL, state TEXT NOT NULL, started REAL NOT NULL, ended REAL,
    note TEXT NOT NULL, document_fingerprint TEXT NOT NULL, usage TEXT NOT NULL DEFAULT '');
CREATE TABLE event (number INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX event_by_run ON event (run);
CREATE TABLE document (fingerprint TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
"""
"""Made when the first run is kept: a script that only wants checkpoints has a smaller file."""

_MARK_SCHEMA = """
CREATE TABLE IF NOT EXISTS mark (
    checkpoint TEXT PRIMARY KEY, name TEXT NOT NULL, note TEXT NOT NULL, pinned INTEGER NOT NULL,
    tags TEXT NOT NULL DEFAULT '') WITHOUT ROWID
"""


def connect(path: str | Path) -> sqlite3.Connection:
    """An open file with the current schema. Raises :class:`StoreError` with the reason.

    SQLite answers "locked" at once, without waiting, while another process turns a new file to WAL, folds the log as
    the last to close, or recovers it after a crash; such an opening is tried again for up to ten seconds.
    """
    until = time.monotonic() + _PATIENT_MS / 1000
    while True:
        try:
            return _opened(path)
        except sqlite3.OperationalError as error:
            if not _is_busy(error) or time.monotonic() > until:
                raise _trouble(path, error) from error
            time.sleep(random.uniform(0.001, 0.01))
        except sqlite3.DatabaseError as error:
            raise _trouble(path, error) from error
        except UnicodeDecodeError as error:  # SQLite quotes what it cannot read in its message
            raise UnusableStore(f"{path} is damaged; nothing of it was changed", "damaged") from error


def _is_busy(error: sqlite3.OperationalError) -> bool:
    """Whether another connection stood in the way for a moment."""
    return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY


def _opened(path: str | Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BRIEF, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _trouble(path: str | Path, error: sqlite3.Error) -> StoreError:
    """The error as people should read it."""
    text = str(error)
    if any(sign in text for sign in ("not a database", "malformed", "Could not decode", "no such ")):
        return UnusableStore(f"{path} is damaged or no file of runs ({text}); nothing of it was changed", "damaged")
    if "unable to open" in text or "readonly" in text:
        return StoreError(f"{path} cannot be written; check that its folder exists and is writable")
    return StoreError(f"{path}: {text}")


def _prepare(connection: sqlite3.Connection, path: str | Path) -> None:
    connection.execute(f"PRAGMA busy_timeout={_PATIENT_MS}")
    version = _known_version(connection, path)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    if version == 0:
        _create(connection)
    connection.execute(f"PRAGMA busy_timeout={int(_BRIEF * 1000)}")


def _known_version(connection: sqlite3.Connection, path: str | Path) -> int:
    """The version of the file, 0 for a new one. Raises :class:`UnusableStore` before anything is written to it."""
    connection.execute("BEGIN")  # one moment of the file: another process may just be making it
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        tables = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        application = connection.execute("PRAGMA application_id").fetchone()[0]
    finally:
        connection.execute("ROLLBACK")
    if application != _APPLICATION and (version or tables):
        raise UnusableStore(f"{path} is a database of another program; nothing of it was changed", "foreign")
    if 0 < version < _READABLE:
        text = f"{path} has version {version} of the format, written by an early version of the program"
        raise UnusableStore(f"{text}; this one reads version {_READABLE} and later", "older", version)
    if version > VERSION:
        text = f"{path} has version {version} of the format; this program reads version {VERSION}"
        raise UnusableStore(f"{text}. Update the program to open it", "newer", version)
    return version


def _run_all(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.strip().split(";\n"):
        connection.execute(statement)


def _create(connection: sqlite3.Connection) -> None:
    """Makes the tables, unless another process has just done so."""
    connection.execute("BEGIN IMMEDIATE")
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        _run_all(connection, _SCHEMA)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")


class Database:
    """One connection. Transactions are short and on the loop; only waiting for a lock goes to a thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.connection = connect(path)
        self.execute = self.connection.execute
        self.added = 0
        """Bytes of new entries in the running transaction."""
        self.lock = asyncio.Lock()
        """Held while a transaction waits or works in a thread."""
        self._has_runs = self._has_usage = False
        self.version = self._removals = -1
        """Changes when another connection writes; as of the last call of :meth:`removed_elsewhere`."""
        self._seen: int = self.execute("PRAGMA data_version").fetchone()[0]
        self._saves = 0
        self._folding: asyncio.Task[None] | None = None

    # ------------------------------------------------------------------------------------------------- entries

    def add(self, parent: int | None, body: str | int) -> int:
        """A new entry, see :class:`studio.checkpoints.packing.Entries`."""
        self.added += len(body) + 14 if isinstance(body, str) else 16
        return self.execute("INSERT INTO entry (parent, body) VALUES (?, ?)", (parent, body)).lastrowid or 0

    def body(self, entry: int) -> str:
        """The JSON of an entry. Raises :class:`StoreError` if the file has lost it."""
        row = self.execute("SELECT body FROM entry WHERE id=?", (entry,)).fetchone()
        if row is not None and type(row[0]) is int:
            row = self.execute("SELECT body FROM entry WHERE id=?", row).fetchone()
        if row is None or type(row[0]) is not str:
            raise UnusableStore(f"{self.path} is damaged: entry {entry} is missing", "damaged")
        text: str = row[0]
        return text

    def items(self, entry: int) -> tuple[list[int], list[str]]:
        """Ids of the values and their JSON of a list, in order."""
        rows = (
            self._backwards(entry)
            or self.execute(
                "WITH RECURSIVE chain (id, parent, body) AS ("
                " SELECT id, parent, body FROM entry WHERE id=?"
                " UNION ALL"
                " SELECT e.id, e.parent, e.body FROM chain c JOIN entry e ON e.id=c.parent WHERE c.parent > 0)"
                " SELECT id, parent, body FROM chain",
                (entry,),
            ).fetchall()
        )
        if not rows or rows[-1][1] != 0:
            raise UnusableStore(f"{self.path} is damaged: a part of the list at entry {entry} is missing", "damaged")
        rows.reverse()
        ids: list[int] = [row[0] for row in rows]
        bodies: list[str] = []
        for at, (_, _, body) in enumerate(rows):
            if type(body) is int:
                ids[at] = body
                body = self.body(body)
            bodies.append(body)
        return ids, bodies

    def _backwards(self, entry: int) -> list[tuple[int, int, str | int]]:
        """The rows of a list, last first, found by reading the table backwards: items mostly stand close together, and
        a step of a recursive query costs four times as much. Empty if too much else lies between."""
        rows: list[tuple[int, int, str | int]] = []
        wanted, others = entry, 0
        for row in self.execute("SELECT id, parent, body FROM entry WHERE id<=? ORDER BY id DESC", (entry,)):
            if row[0] == wanted:
                rows.append(row)
                wanted = row[1]
                if not wanted:
                    break
            else:
                others += 1
                if others > _STRANGERS + 3 * len(rows):
                    return []
        return rows

    @property
    def has_runs(self) -> bool:
        """Whether any run was kept in this file."""
        if not self._has_runs:
            query = "SELECT count(*) FROM sqlite_master WHERE name='run'"
            self._has_runs = bool(self.execute(query).fetchone()[0])
        return self._has_runs

    @property
    def has_marks(self) -> bool:
        """Whether any checkpoint of this file was ever named or pinned."""
        query = "SELECT count(*) FROM sqlite_master WHERE name='mark'"
        return bool(self.execute(query).fetchone()[0])

    def make_marks(self) -> None:
        """Makes the table of marks within a transaction, unless it is there; an early one gets its column of tags."""
        self.execute(_MARK_SCHEMA)
        if not self.has_tags:
            self.execute("ALTER TABLE mark ADD COLUMN tags TEXT NOT NULL DEFAULT ''")

    @property
    def has_tags(self) -> bool:
        """Whether the marks of this file have tags."""
        return any(row[1] == "tags" for row in self.execute("PRAGMA table_info(mark)"))

    def make_current(self, entry: int) -> None:
        """The file is of this version from now on, within a transaction: the checkpoint at ``entry`` has no row yet."""
        if self.execute("PRAGMA user_version").fetchone()[0] < VERSION:
            self.execute("UPDATE entry SET parent=? WHERE id=0", (entry - 1,))
            self.execute(f"PRAGMA user_version={VERSION}")

    def make_runs(self) -> None:
        """Makes the tables of runs within a transaction, unless they are there."""
        if not self.has_runs:
            _run_all(self.connection, _RUN_SCHEMA)
        elif not self.has_usage:
            self.execute("ALTER TABLE run ADD COLUMN usage TEXT NOT NULL DEFAULT ''")

    @property
    def has_usage(self) -> bool:
        """Whether the runs of this file say what they took: early ones do not."""
        if not self._has_usage:
            self._has_usage = any(row[1] == "usage" for row in self.execute("PRAGMA table_info(run)"))
        return self._has_usage

    def removed_elsewhere(self) -> bool:
        """Whether another connection removed entries since the last call, so that remembered ids may be gone."""
        version = self.execute("PRAGMA data_version").fetchone()[0]
        if version == self.version:
            return False
        row = self.execute("SELECT body FROM entry WHERE id=0").fetchone()
        if row is None:
            raise UnusableStore(f"{self.path} is damaged: its first entry is missing", "damaged")
        removals = row[0]
        first, changed = self.version < 0, removals != self._removals
        self.version, self._removals = version, removals
        return changed and not first

    def written_elsewhere(self) -> bool:
        """Whether another connection wrote since the last call; False while this one is busy."""
        if self.lock.locked():
            return False
        seen, self._seen = self._seen, self.execute("PRAGMA data_version").fetchone()[0]
        return seen != self._seen

    def file_bytes(self) -> int:
        """What the file and its log take."""
        parts = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(part.stat().st_size for part in parts if part.exists())

    # -------------------------------------------------------------------------------------------- transactions

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[sqlite3.Connection]:
        """A transaction: all or nothing. Raises :class:`StoreError` for trouble of the file."""
        async with self.lock:
            try:
                await self.begin()
                yield self.connection
                self.execute("COMMIT")
            except BaseException as error:
                self.undo()
                if isinstance(error, sqlite3.Error):
                    raise self.trouble(error) from error
                raise
        self.folded_now_and_then()

    @contextmanager
    def sound(self, what: str = "a part of it") -> Iterator[None]:
        """What is read inside may be damaged, which raises :class:`UnusableStore` with ``what`` cannot be read."""
        try:
            yield
        except (StoreError, UnknownType):
            raise
        except sqlite3.Error as error:
            raise self.trouble(error) from error
        except _UNREADABLE as error:
            raise UnusableStore(f"{self.path} is damaged: {what} cannot be read", "damaged") from error

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[None]:
        """Nobody else uses the connection meanwhile; for what is damaged see :meth:`sound`."""
        async with self.lock:
            with self.sound():
                yield

    def undo(self) -> None:
        """Rolls the running transaction back, if there is one."""
        if self.connection.in_transaction:
            self.execute("ROLLBACK")

    def trouble(self, error: sqlite3.Error) -> StoreError:
        """The error as people should read it."""
        return _trouble(self.path, error)

    def begun(self) -> bool:
        """Starts a transaction; False if another process has the lock, see :meth:`begin`."""
        try:
            self.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
            return False
        return True

    async def begin(self) -> None:
        """Starts a transaction; waits for the lock of another process in a thread."""
        if not self.begun():
            await self.in_thread(self._begin_patiently)

    async def in_thread(self, work: Callable[[], _Given]) -> _Given:
        """Runs ``work`` in a thread. Cancelled, it still waits for it: nothing may use the connection meanwhile."""
        task = asyncio.ensure_future(asyncio.to_thread(work))
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait({task})
            raise

    def _begin_patiently(self) -> None:
        self.connection.execute(f"PRAGMA busy_timeout={_PATIENT_MS}")
        try:
            self.execute("BEGIN IMMEDIATE")
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={int(_BRIEF * 1000)}")

    def folded_now_and_then(self) -> None:
        """Folds the log in a thread, with a connection of its own; the task is awaited at the end."""
        self._saves += 1
        if self._saves % 256 or (self._folding is not None and not self._folding.done()):
            return
        log = self.path.with_name(self.path.name + "-wal")
        if log.exists() and log.stat().st_size > _FOLD_BYTES:
            self._folding = asyncio.create_task(asyncio.to_thread(self._fold), name="folding the log of runs")

    def _fold(self) -> None:
        connection = sqlite3.connect(self.path, timeout=1)
        try:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
        except sqlite3.Error:
            pass  # the next fold or the next opening does it; nothing is lost
        finally:
            connection.close()

    async def close(self) -> None:
        """Folds the log and closes; twice is allowed."""
        if self._folding is not None:
            await self._folding
            self._folding = None
        await asyncio.to_thread(self.connection.close)
