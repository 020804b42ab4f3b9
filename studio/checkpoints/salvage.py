"""What can still be read of a damaged file of runs: copied row by row into a file of its own, the damaged one is only
read. The copy takes nothing new, so that nobody goes on without noticing what is missing."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sqlite3
import struct
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.checkpoints import large_texts
from studio.checkpoints.checkpoint import Checkpoint
from studio.checkpoints.database import Database
from studio.checkpoints.index import Index
from studio.checkpoints.keys import parsed_head, rest_of
from studio.checkpoints.marks import Mark
from studio.checkpoints.runs import RunRecord
from studio.checkpoints.sqlite import SqliteStore
from studio.checkpoints.store import Codec, ReadOnlyStore, StoreError

_TABLES = {
    "entry": "id", "checkpoint": "hash", "origin": "id", "run": "place", "event": "number",
    "large": "id",
    "document": "", "mark": "", "setting": "", "discard": "number", "discarded": "",
}  # fmt: skip
"""Tables by the column whose numbers find their rows; "" for tables that are read from front to back alone."""
_ONE_BY_ONE = 256
"""So many rows behind damage are tried each; then the steps grow, up to:"""
_LARGEST_STEP = 1 << 20
_CHECKPOINTS = frozenset({"entry", "origin"})
"""Tables without which a checkpoint cannot be put together."""
_WORDS = {
    "run": "branches",
    "event": "parts of what happened in the runs",
    "large": "long texts",
    "document": "drawings of earlier runs",
    "mark": "names, notes and pins",
    "setting": "rules of what is kept",
}
"""What else is missing when a table could not be copied as a whole."""


@dataclass(frozen=True, slots=True)
class Lost:
    """What a damaged file no longer gives. ``tables`` names those that cannot be read at all."""

    checkpoints: int = 0
    readable: int = 0
    runs: int = 0
    tables: tuple[str, ...] = ()

    def sentence(self) -> str:
        """In words."""
        if not self.readable and not self.runs:
            return "Nothing of it can be read."
        text = f"{self.runs} {'branch' if self.runs == 1 else 'branches'} and {self.readable} "
        text += f"{'checkpoint' if self.readable == 1 else 'checkpoints'} can be read"
        if _CHECKPOINTS.intersection(self.tables):  # what could say how many there were is gone, too
            text += f"; {f'at least {self.checkpoints}' if self.checkpoints else 'others'} are lost"
        elif self.checkpoints:
            text += f"; {self.checkpoints} {'is' if self.checkpoints == 1 else 'are'} lost"
        parts = [words for table, words in _WORDS.items() if table in self.tables]
        return f"{text}. Missing as well: {', '.join(parts)}." if parts else f"{text}."


class SalvagedStore(SqliteStore):
    """Reads like any store; everything that would write raises :class:`ReadOnlyStore`."""

    def __init__(self, path: Path, original: Path, codec: Codec, folder: tempfile.TemporaryDirectory[str]) -> None:
        super().__init__(path, codec)
        self.original = original
        self.lost = Lost()
        self._folder = folder

    def _refuse(self) -> ReadOnlyStore:
        name = self.original.name
        return ReadOnlyStore(f"{name} is damaged and was opened to be read only. Begin a new file to run the workflow.")

    async def save(self, checkpoint: Checkpoint) -> int:
        """Refused."""
        raise self._refuse()

    async def delete(self, ids: Collection[str]) -> int:
        """Refused."""
        raise self._refuse()

    async def start_run(self, record: RunRecord) -> RunRecord:
        """Refused."""
        raise self._refuse()

    async def update_run(self, id: str, **fields: Any) -> None:
        """Refused."""
        raise self._refuse()

    async def append_events(self, run: str, events: Sequence[Any]) -> None:
        """Refused."""
        raise self._refuse()

    async def set_mark(self, checkpoint: str, mark: Mark) -> None:
        """Refused."""
        raise self._refuse()

    async def claim_run(self, id: str) -> None:
        """Refused."""
        raise self._refuse()

    async def discard(self, text: str, at: float, checkpoints: Collection[str] = (), runs: Collection[str] = ()) -> int:
        """Refused."""
        raise self._refuse()

    async def close(self) -> None:
        """Closes the copy and takes it away."""
        await super().close()
        self._folder.cleanup()


async def salvage(path: Path, codec: Codec) -> SalvagedStore:
    """A store of what can be read of a damaged file, copied in a thread; :attr:`SalvagedStore.lost` tells the rest."""
    folder = tempfile.TemporaryDirectory(prefix="superstep-salvage-")
    copy = Path(folder.name) / path.name
    broken = await asyncio.to_thread(_copy, path, copy)
    store = SalvagedStore(copy, path, codec, folder)
    store.lost = await _measure(store, broken)
    return store


async def _measure(store: SalvagedStore, broken: tuple[str, ...]) -> Lost:
    """Takes away checkpoints that cannot be loaded, and counts."""
    database = store._database
    unreadable: list[int] = []
    readable = 0
    rows = database.execute(
        "SELECT c.hash, c.entry, e.id FROM checkpoint c LEFT JOIN entry e ON e.id=c.entry"
    ).fetchall()
    for hash, _, entry in rows:
        if entry is None:
            unreadable.append(hash)
    database.connection.executemany("DELETE FROM checkpoint WHERE hash=?", [(hash,) for hash in unreadable])
    lost = len(unreadable)
    try:
        infos = await SqliteStore.infos(store)
    except (StoreError, ValueError, TypeError):
        infos = []
    for info in infos:
        try:
            await store.load(info.id)
            readable += 1
        except (StoreError, ValueError, TypeError):
            lost += 1
            number = store._entry_of(info.id)
            database.execute("DELETE FROM checkpoint WHERE entry=?", (number,))
            database.execute(
                "UPDATE entry SET head=NULL WHERE id=?", (number,)
            )  # others may say only what changed since
        await asyncio.sleep(0)
    try:
        runs = len(await store.runs())
    except (StoreError, ValueError, TypeError):
        runs = 0
    return Lost(lost, readable, runs, broken)


def _copy(source: Path, target: Path) -> tuple[str, ...]:
    """Copies every row that can be read; gives the tables of which something is missing."""
    made = Database(target)
    try:
        made.make_runs()
        made.make_marks()
        made.execute(large_texts.SCHEMA)
        made.execute("DELETE FROM entry")
        broken: list[str] = []
        try:
            damaged = sqlite3.connect(_address(source), uri=True, timeout=1)
        except sqlite3.Error:
            return tuple(_TABLES)
        made.execute("BEGIN")
        for table, key in _TABLES.items():
            if not _copy_table(damaged, made.connection, table, key):
                broken.append(table)
        made.execute("INSERT OR IGNORE INTO entry VALUES (0, NULL, NULL, 0)")
        _find_again(made)
        made.execute("COMMIT")
        damaged.close()
        return tuple(broken)
    finally:
        made.connection.close()


def _find_again(made: Database) -> None:
    """Checkpoints get their rows from their own heads: the table that finds them may have lost them, the last have none
    yet."""
    index = Index(made)
    for entry, head in made.execute("SELECT id, head FROM entry WHERE head IS NOT NULL").fetchall():
        try:
            number, rest = parsed_head(head)[0], rest_of(head)
        except (struct.error, TypeError, ValueError, LookupError):
            continue
        if rest is not None:
            index.add(number, entry, rest)
    made.execute("UPDATE entry SET parent=(SELECT max(id) FROM entry) WHERE id=0")


def _address(source: Path) -> str:
    """How SQLite opens the file without writing: a log beside it is read too, but none is made."""
    log = source.with_name(source.name + "-wal")
    still = "" if log.exists() and log.stat().st_size else "&immutable=1"
    return f"{source.absolute().as_uri()}?mode=ro{still}"


def _copy_table(damaged: sqlite3.Connection, made: sqlite3.Connection, table: str, key: str) -> bool:
    """Whether the table was copied as a whole; one that neither file has is whole."""
    try:
        columns = [row[1] for row in damaged.execute(f"PRAGMA table_info({table})")]
    except sqlite3.Error:
        return False
    known = {row[1] for row in made.execute(f"PRAGMA table_info({table})")}
    if not columns or not known:
        return table not in ("entry", "checkpoint", "origin")
    shared = [column for column in columns if column in known]
    names, marks = ", ".join(shared), ", ".join("?" * len(shared))
    whole = True
    for row in _rows(damaged, f"SELECT {names} FROM {table}", key, shared.index(key) if key else 0):
        if row is None or (table == "event" and not _is_json(row[shared.index("body")])):
            whole = False
            continue
        try:
            made.execute(f"INSERT OR IGNORE INTO {table} ({names}) VALUES ({marks})", row)
        except sqlite3.Error:
            whole = False
    return whole


def _is_json(body: Any) -> bool:
    """Whether an entry of a log can be read: SQLite gives a row whose further pages were overwritten as if it were
    whole."""
    try:
        json.loads(body)
    except (TypeError, ValueError):
        return False
    return True


def _rows(damaged: sqlite3.Connection, query: str, key: str, at: int) -> Iterator[tuple[Any, ...] | None]:
    """The rows that can be read; None where some are missing. Behind damage it goes on further and further on."""
    if not key:
        try:
            yield from damaged.execute(query)
        except sqlite3.Error:
            yield None
        return
    last, step, missed, end = -(1 << 62), 1, 0, _end(damaged, query, key, at)
    while True:
        with contextlib.suppress(sqlite3.Error):
            for row in damaged.execute(f"{query} WHERE {key} > ? ORDER BY {key}", (last,)):
                yield row
                last, step, missed = row[at], 1, 0
            return
        # Python steps one row ahead: the error of a damaged row hides the whole one before it.
        found = _next(damaged, query, key, last)
        if found is not None:
            yield found
            last, step, missed = found[at], 1, 0
            continue
        yield None
        missed += 1
        step = min(step * 2, _LARGEST_STEP) if missed > _ONE_BY_ONE else 1
        last = max(last, 0) + step
        if last > end:
            return


def _next(damaged: sqlite3.Connection, query: str, key: str, last: int) -> tuple[Any, ...] | None:
    """The row behind one, if it can be read."""
    try:
        row: tuple[Any, ...] | None = damaged.execute(
            f"{query} WHERE {key} > ? ORDER BY {key} LIMIT 1", (last,)
        ).fetchone()
    except sqlite3.Error:
        return None
    return row


def _end(damaged: sqlite3.Connection, query: str, key: str, at: int) -> int:
    """The largest number, if that end of the table can be read."""
    try:
        row = damaged.execute(f"{query} ORDER BY {key} DESC LIMIT 1").fetchone()
    except sqlite3.Error:
        return 1 << 24
    return int(row[at]) if row is not None and isinstance(row[at], int) else 0
