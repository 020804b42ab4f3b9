"""Takes checkpoints out of a file, and every entry that no other checkpoint needs."""

from __future__ import annotations

import re
from collections.abc import Mapping

from studio.checkpoints.bodies import Bodies, parsed, written
from studio.checkpoints.database import Database
from studio.checkpoints.index import Index
from studio.checkpoints.packing import dumps

_REFERENCE = re.compile(r'\{"[#@]":(\d+)\}')
"""Inside a JSON text the quotation marks are escaped, so a text never looks like this."""


def references(text: str) -> list[int]:
    """The entries that a JSON text refers to."""
    return list(map(int, _REFERENCE.findall(text)))


def remove(database: Database, bodies: Bodies, numbers: Mapping[int, str]) -> int:
    """Removes the checkpoints at these entries (with their ids) within the running transaction; gives how many.

    For a thread: it may take long.
    """
    if not numbers:
        return 0
    Index(database).complete()  # numbers of entries at the end may be given again: none may wait before the mark
    needed = _detach(database, bodies, numbers)
    database.execute("CREATE TEMP TABLE IF NOT EXISTS gone (entry INTEGER PRIMARY KEY)")
    database.execute("DELETE FROM gone")
    database.connection.executemany("INSERT INTO gone VALUES (?)", [(number,) for number in numbers])
    database.execute("DELETE FROM checkpoint WHERE entry IN (SELECT entry FROM gone)")
    database.execute("DELETE FROM entry WHERE id IN (SELECT entry FROM gone)")
    _sweep(database, needed)
    database.execute("UPDATE entry SET body = body + 1, parent = (SELECT max(id) FROM entry) WHERE id=0")
    return len(numbers)


def _detach(database: Database, bodies: Bodies, numbers: Mapping[int, str]) -> set[int]:
    """Makes the others independent of what goes; gives the entries that they refer to."""
    execute = database.execute
    needed: set[int] = set()
    for number, parent, stored in execute("SELECT id, parent, body FROM entry WHERE head IS NOT NULL").fetchall():
        if number in numbers:
            continue
        body = parsed(stored)
        if body.get("b") in numbers:
            whole, _ = bodies.merged(body)
            body = {key: value for key, value in body.items() if key not in ("b", "x", "s", "-x", "-s")}
            body.update({part: values for part, values in whole.items() if values})
            execute("UPDATE entry SET body=? WHERE id=?", (written(body), number))
        if parent in numbers:
            execute("UPDATE entry SET parent=? WHERE id=?", (numbers[parent], number))
        needed.update(references(dumps(body)))
    return needed


def _sweep(database: Database, needed: set[int]) -> None:
    """Removes the entries that are neither needed nor referred to by a needed one."""
    execute = database.execute
    waiting = list(needed)
    while waiting:
        row = execute("SELECT parent, body FROM entry WHERE id=?", (waiting.pop(),)).fetchone()
        if row is None:
            continue
        parent, body = row
        found = [body] if type(body) is int else references(body)
        for entry in (*found, *((parent,) if parent else ())):
            if entry not in needed:
                needed.add(entry)
                waiting.append(entry)
    rows = execute("SELECT id FROM entry WHERE head IS NULL AND id > 0").fetchall()
    gone = [row for row in rows if row[0] not in needed]
    database.connection.executemany("DELETE FROM entry WHERE id=?", gone)
