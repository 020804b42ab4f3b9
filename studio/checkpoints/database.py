"""The SQLite file: opening, schema, contents and links, transactions."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path

from studio.checkpoints.store import StoreError

VERSION = 1
_APPLICATION = 0x53555053
_BRIEF = 0.004
"""Seconds to wait for another process's lock on the loop; longer waits go to a thread."""
_PATIENT_MS = 10_000
_FOLD_BYTES = 4_000_000
"""Size of the write-ahead log from which it is folded into the file, in a thread."""
_KEPT_IDS = 100_000

_SCHEMA = """
CREATE TABLE content (id INTEGER PRIMARY KEY, hash INTEGER NOT NULL, body TEXT NOT NULL);
CREATE INDEX content_by_hash ON content (hash);
CREATE TABLE link (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, item INTEGER NOT NULL);
CREATE UNIQUE INDEX link_by_parent ON link (parent, item);
CREATE TABLE origin (
    id INTEGER PRIMARY KEY, run TEXT NOT NULL, workflow TEXT NOT NULL, signature TEXT NOT NULL,
    UNIQUE (run, workflow, signature));
CREATE TABLE checkpoint (
    number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, parent TEXT, origin INTEGER NOT NULL, kind TEXT NOT NULL,
    superstep INTEGER NOT NULL, created REAL NOT NULL, bytes INTEGER NOT NULL, name TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX checkpoint_by_origin ON checkpoint (origin);
CREATE TABLE run (
    place INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, number INTEGER NOT NULL, name TEXT NOT NULL,
    parent_checkpoint TEXT, input TEXT NOT NULL, state TEXT NOT NULL, started REAL NOT NULL, ended REAL,
    note TEXT NOT NULL, document_fingerprint TEXT NOT NULL);
CREATE TABLE event (number INTEGER PRIMARY KEY, run TEXT NOT NULL, body TEXT NOT NULL);
CREATE INDEX event_by_run ON event (run);
CREATE TABLE document (fingerprint TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
"""


def connect(path: str | Path) -> sqlite3.Connection:
    """An open file with the current schema. Raises :class:`StoreError` with the reason."""
    connection: sqlite3.Connection | None = None
    try:
        connection = sqlite3.connect(path, timeout=_BRIEF, isolation_level=None, check_same_thread=False)
        _prepare(connection, path)
    except sqlite3.DatabaseError as error:
        if connection is not None:
            connection.close()
        raise StoreError(_reason(path, error)) from error
    except StoreError:
        if connection is not None:
            connection.close()
        raise
    return connection


def _reason(path: str | Path, error: sqlite3.Error) -> str:
    text = str(error)
    if "not a database" in text or "malformed" in text:
        return f"{path} is damaged or no file of runs ({text}); move it away to begin a new one"
    if "unable to open" in text or "readonly" in text:
        return f"{path} cannot be written; check that its folder exists and is writable"
    return f"{path}: {text}"


def _prepare(connection: sqlite3.Connection, path: str | Path) -> None:
    connection.execute(f"PRAGMA busy_timeout={_PATIENT_MS}")
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    connection.execute("PRAGMA wal_autocheckpoint=0")
    connection.execute("BEGIN IMMEDIATE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version == 0:
        for statement in _SCHEMA.strip().split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA application_id={_APPLICATION}")
        connection.execute(f"PRAGMA user_version={VERSION}")
    connection.execute("COMMIT")
    if version > VERSION:
        raise StoreError(f"{path} was written by a newer version of the program; update the program to open it")
    connection.execute(f"PRAGMA busy_timeout={int(_BRIEF * 1000)}")


class Database:
    """One connection. Transactions are short and on the loop; only waiting for a lock goes to a thread."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.connection = connect(path)
        self.added = 0
        """Bytes of new rows in the running transaction, without those of indexes."""
        self._ids: dict[bytes, int] = {}
        self._links: dict[tuple[int, int], int] = {}
        self._lock = asyncio.Lock()
        self._saves = 0
        self._folding: asyncio.Task[None] | None = None

    # -------------------------------------------------------------------------------------- contents and links

    def content(self, body: str) -> int:
        """Id of this text, stored if it is new."""
        data = body.encode()
        digest = blake2b(data, digest_size=16).digest()
        known = self._ids.get(digest)
        if known is not None:
            return known
        hashed = int.from_bytes(digest[:8], "big", signed=True)
        rows = self.connection.execute("SELECT id, body FROM content WHERE hash=?", (hashed,))
        id: int | None = next((row[0] for row in rows if row[1] == body), None)
        if id is None:
            cursor = self.connection.execute("INSERT INTO content (hash, body) VALUES (?, ?)", (hashed, body))
            id = cursor.lastrowid or 0
            self.added += len(data) + 24
        if len(self._ids) >= _KEPT_IDS:
            self._ids.clear()
        self._ids[digest] = id
        return id

    def link(self, parent: int, item: int) -> int:
        """Id of this link, stored if it is new."""
        known = self._links.get((parent, item))
        if known is not None:
            return known
        found = (parent, item)
        row = self.connection.execute("SELECT id FROM link WHERE parent=? AND item=?", found).fetchone()
        if row is None:
            id = self.connection.execute("INSERT INTO link (parent, item) VALUES (?, ?)", found).lastrowid or 0
            self.added += 12
        else:
            id = row[0]
        if len(self._links) >= _KEPT_IDS:
            self._links.clear()
        self._links[found] = id
        return id

    def body(self, content: int) -> str:
        """The text of a content. Raises :class:`StoreError` if the file has lost it."""
        row = self.connection.execute("SELECT body FROM content WHERE id=?", (content,)).fetchone()
        if row is None:
            raise StoreError(f"{self.path} is damaged: content {content} is missing")
        text: str = row[0]
        return text

    def items(self, link: int) -> list[tuple[int, str]]:
        """Ids and texts of a list, in order."""
        rows = self.connection.execute(
            "WITH RECURSIVE chain (id, parent, item, n) AS ("
            " SELECT id, parent, item, 0 FROM link WHERE id=?"
            " UNION ALL SELECT l.id, l.parent, l.item, n + 1 FROM link l JOIN chain c ON l.id=c.parent)"
            " SELECT item, body FROM chain JOIN content ON content.id=chain.item ORDER BY n DESC",
            (link,),
        )
        return [(item, body) for item, body in rows]

    # -------------------------------------------------------------------------------------------- transactions

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[sqlite3.Connection]:
        """A transaction: all or nothing. Raises :class:`StoreError` for trouble of the file."""
        async with self._lock:
            try:
                await self._begin()
                try:
                    self.added = 0
                    yield self.connection
                    self.connection.execute("COMMIT")
                except BaseException:
                    self._ids.clear()
                    self._links.clear()
                    if self.connection.in_transaction:
                        self.connection.execute("ROLLBACK")
                    raise
            except sqlite3.Error as error:
                raise StoreError(_reason(self.path, error)) from error
        self._fold_now_and_then()

    async def _begin(self) -> None:
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise
            await asyncio.to_thread(self._begin_patiently)

    def _begin_patiently(self) -> None:
        self.connection.execute(f"PRAGMA busy_timeout={_PATIENT_MS}")
        try:
            self.connection.execute("BEGIN IMMEDIATE")
        finally:
            self.connection.execute(f"PRAGMA busy_timeout={int(_BRIEF * 1000)}")

    def _fold_now_and_then(self) -> None:
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
