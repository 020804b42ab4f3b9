"""Large texts in the logs of runs: kept once in the file by their content, however many branches speak of them.

A 2 MB image stands in the events of every branch of a chat. In a log it is a reference; the text is in ``large``.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from studio.checkpoints.database import Database
from studio.checkpoints.packing import LARGE

SCHEMA = "CREATE TABLE IF NOT EXISTS large (id INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, body TEXT NOT NULL)"
_FORM = "large"
_MARK = f'"$":"{_FORM}"'
_REFERENCE = re.compile(r'\{"\$":"large","hash":"([0-9a-f]{64})"\}')
"""Inside a JSON text the quotation marks are escaped, so a text never looks like this."""
LOST = "(This text is missing from the file of runs.)"


def has_large(value: Any) -> bool:
    """Whether a JSON value holds a text that is kept apart. For the loop: it looks at no text itself."""
    if isinstance(value, str):
        return len(value) > LARGE
    if isinstance(value, dict):
        return any(map(has_large, value.values()))
    return isinstance(value, list) and any(map(has_large, value))


def apart(value: Any, texts: dict[str, str]) -> Any:
    """The value with references instead of its large texts, which are added to ``texts`` by hash. For a thread."""
    if isinstance(value, str):
        if len(value) <= LARGE:
            return value
        hash = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        texts[hash] = value
        return {"$": _FORM, "hash": hash}
    if isinstance(value, dict):
        return {key: apart(item, texts) for key, item in value.items()}
    return [apart(item, texts) for item in value] if isinstance(value, list) else value


def keep(database: Database, texts: dict[str, str]) -> None:
    """Adds what is not there, within a transaction."""
    database.execute(SCHEMA)
    database.connection.executemany("INSERT OR IGNORE INTO large (hash, body) VALUES (?, ?)", list(texts.items()))


def hashes_in(bodies: Iterable[str]) -> set[str]:
    """The large texts that rows of a log refer to."""
    return {hash for body in bodies if _MARK in body for hash in _REFERENCE.findall(body)}


def together(database: Database, body: str, value: Any, known: dict[str, str]) -> Any:
    """A value that was read from ``body`` with its large texts in their places; ``known`` are those met before, so that
    one text is one object."""
    return _filled(database, value, known) if _MARK in body else value


def _filled(database: Database, value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_filled(database, item, known) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("$") != _FORM:
        return {key: _filled(database, item, known) for key, item in value.items()}
    hash = value["hash"]
    if hash not in known:
        row = database.execute("SELECT body FROM large WHERE hash=?", (hash,)).fetchone() if _has(database) else None
        known[hash] = row[0] if row is not None else LOST
    return known[hash]


def freed_by(database: Database, runs: Collection[str]) -> int:
    """The bytes of large texts that only the logs of these runs speak of."""
    if not runs or not _has(database):
        return 0
    gone, kept = set(runs), dict[bool, set[str]]({True: set(), False: set()})
    for run, body in _rows(database):
        kept[run not in gone] |= hashes_in((body,))
    only = kept[False] - kept[True]
    sizes = database.execute("SELECT hash, length(body) FROM large").fetchall()
    return sum(size for hash, size in sizes if hash in only)


def sweep(database: Database) -> None:
    """Removes what no log speaks of any more, within a transaction. For a thread: it reads all logs."""
    if _has(database):
        needed = {hash for _, body in _rows(database) for hash in hashes_in((body,))}
        gone = [row for row in database.execute("SELECT hash FROM large").fetchall() if row[0] not in needed]
        database.connection.executemany("DELETE FROM large WHERE hash=?", gone)


def _rows(database: Database) -> Iterator[tuple[str, str]]:
    """Run and body of the events that have a large text."""
    return iter(database.execute("SELECT run, body FROM event WHERE instr(body, ?)", (_MARK,)))


def _has(database: Database) -> bool:
    query = "SELECT count(*) FROM sqlite_master WHERE name='large'"
    return bool(database.execute(query).fetchone()[0])
