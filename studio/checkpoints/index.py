"""Where a checkpoint stands in a file: by id, and the id by entry.

The table ``checkpoint`` is written for many checkpoints at once: a row of it for each would cost a second page of the
file in every superstep. Ids of the engine are numbers that grow, and the head of an entry has the whole id; so an entry
with such a head behind the *mark* (``parent`` of entry 0) is found by reading the few heads there. What is before the
mark, and every other id, has its row; without a mark (files of version 3) all have. One transaction writes rows and
mark, so a killed process leaves nothing undone.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from operator import itemgetter

from studio.checkpoints.database import Database
from studio.checkpoints.keys import HAS_REST, id_of, key_of, parsed_head, rest_of
from studio.checkpoints.listing import Row

_ADD = "INSERT INTO checkpoint VALUES (?, ?, ?)"
BATCH = 64
"""So many checkpoints of one process wait for their rows."""

_DENSE = 3
"""So many entries for each checkpoint may be read to list them all."""


class Index:
    """Finds checkpoints in one open file."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._waiting: list[tuple[int, int, bytes]] = []
        """Rows of checkpoints that were saved here and have none yet."""
        self._newest = -1
        """The largest number of an id in the file; -1: to be looked up."""
        self._version = -1
        self._current = False

    def forget(self) -> None:
        """What is remembered may be wrong: a transaction was rolled back, or entries were removed."""
        self._waiting.clear()
        self._newest = self._version = -1
        self._current = False

    # ------------------------------------------------------------------------------------------------- writing

    def may_wait(self, number: int) -> bool:
        """Whether an id with this number is surely new in the file, so that nothing must be looked up to add it.

        Within a transaction that has asked ``Database.removed_elsewhere``: another process may have written.
        """
        if self._version != self._database.version:
            self.forget()
            self._version = self._database.version
            newest = self._database.execute("SELECT max(hash) FROM checkpoint").fetchone()[0]
            self._newest = max([newest or 0, *(parsed_head(head)[0] for _, _, head in self._tail())])
            self._waiting_of_all()
        return number > self._newest

    def add_later(self, number: int, entry: int, rest: bytes) -> None:
        """A checkpoint whose head has its id; its row comes with the others."""
        if not self._current:
            self._database.make_current(entry)
            self._current = True
        self._newest = number
        self._waiting.append((number, entry, rest))
        if len(self._waiting) >= BATCH:
            self._write()

    def add(self, number: int, entry: int, rest: bytes | str) -> None:
        """A checkpoint that gets its row at once. Nobody else has its id."""
        try:
            self._database.execute(_ADD, (number, entry, rest))
        except sqlite3.IntegrityError:  # two ids with one number: this one gets another, below all that ids have
            execute = self._database.execute
            if execute("SELECT 1 FROM checkpoint WHERE entry=?", (entry,)).fetchone() is None:
                free = "(SELECT min(0, min(hash)) - 1 FROM checkpoint)"
                execute(f"INSERT INTO checkpoint VALUES ({free}, ?, ?)", (entry, rest))
        self._newest = max(self._newest, number)

    def complete(self) -> None:
        """Every checkpoint gets its row now, within a transaction."""
        self._waiting_of_all()
        self._write()

    def _waiting_of_all(self) -> None:
        """What waits in the file, whichever process saved it."""
        heads = ((parsed_head(head)[0], entry, rest_of(head)) for entry, _, head in self._tail())
        self._waiting = [(number, entry, rest) for number, entry, rest in heads if rest is not None]

    def _write(self) -> None:
        waiting, self._waiting = self._waiting, []
        for row in waiting:
            self.add(*row)
        self._database.execute("UPDATE entry SET parent=(SELECT max(id) FROM entry) WHERE id=0")

    # ------------------------------------------------------------------------------------------------- reading

    def entry_of(self, id: str) -> int | None:
        """The entry of a checkpoint; None if there is none."""
        number, rest = key_of(id)
        execute = self._database.execute
        row = execute("SELECT entry, rest FROM checkpoint WHERE hash=?", (number,)).fetchone()
        if row is not None and row[1] == rest:
            return int(row[0])
        if isinstance(rest, bytes):
            for entry, _, head in self._tail():
                if parsed_head(head)[0] == number and rest_of(head) == rest:
                    return entry
        # Of two ids with one number, only the head of the entry has that number for the second.
        query = "SELECT c.entry, e.head FROM checkpoint c JOIN entry e ON e.id=c.entry WHERE c.hash < 0 AND c.rest=?"
        found = (entry for entry, head in execute(query, (rest,)).fetchall() if parsed_head(head)[0] == number)
        return next(found, None)

    def id_at(self, entry: int, head: bytes) -> str | None:
        """The id of the checkpoint with this head at an entry."""
        number, rest = parsed_head(head)[0], rest_of(head)
        if rest is None:
            execute = self._database.execute
            row = execute("SELECT rest FROM checkpoint WHERE hash=? AND entry=?", (number, entry)).fetchone()
            row = row or execute("SELECT rest FROM checkpoint WHERE entry=?", (entry,)).fetchone()
            rest = None if row is None else row[0]
        return None if rest is None else id_of(number, rest)

    def rows(self) -> list[Row]:
        """All checkpoints, in the order they were saved."""
        execute = self._database.execute
        count, last = execute("SELECT (SELECT count(*) FROM checkpoint), (SELECT max(id) FROM entry)").fetchone()
        rows: list[Row]
        if last <= _DENSE * count:  # reading through is quicker than looking each one up
            rows = execute("SELECT id, parent, head, NULL FROM entry WHERE head IS NOT NULL").fetchall()
            if all(head[8] & HAS_REST for _, _, head, _ in rows):
                return rows
        query = "SELECT e.id, e.parent, e.head, c.rest FROM checkpoint c CROSS JOIN entry e ON e.id=c.entry"
        rows = execute(query).fetchall()
        rows += [(*row, None) for row in self._tail() if row[2][8] & HAS_REST]
        rows.sort(key=itemgetter(0))
        return rows

    def _tail(self) -> Iterator[tuple[int, int | str | None, bytes]]:
        """The checkpoints behind the mark."""
        query = "SELECT id, parent, head FROM entry WHERE id > (SELECT parent FROM entry WHERE id=0)"
        return iter(self._database.execute(f"{query} AND head IS NOT NULL").fetchall())
