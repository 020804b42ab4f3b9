"""What in a file is used by which checkpoints, and how much that is. Everything here only reads; it may take long."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from studio.checkpoints.bodies import parsed
from studio.checkpoints.database import Database
from studio.checkpoints.packing import dumps
from studio.checkpoints.removal import references

_ROW = 14
"""What an entry takes beside its body."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes of one checkpoint: ``own`` is what it brought and no other refers to, ``shared`` the rest it is made of."""

    own: int
    shared: int


class _References:
    """Who needs whom in a file, read in one go: entries by id, with their bytes, and which of them are checkpoints.

    A checkpoint that says only what changed needs the one before it as a whole; what it would not need of it is counted
    as needed all the same, so what is called free is never more than what becomes free.
    """

    def __init__(self, database: Database) -> None:
        self.needs: dict[int, list[int]] = {}
        self.bytes: dict[int, int] = {}
        self.checkpoints: set[int] = set()
        self.bases: dict[int, int] = {}
        """The checkpoint that one says its changes to."""
        rows = database.execute("SELECT id, parent, head IS NOT NULL, body FROM entry WHERE id > 0")
        for id, parent, is_checkpoint, body in rows:
            self.bytes[id] = _ROW + (4 if isinstance(body, int) else len(body))
            if is_checkpoint:
                self.checkpoints.add(id)
                content = parsed(body)
                base = content.get("b")
                self.needs[id] = references(dumps(content))
                if isinstance(base, int):
                    self.bases[id] = base
            else:
                behind = [body] if isinstance(body, int) else references(body)
                self.needs[id] = [*behind, parent] if parent else behind

    def reachable(self, starts: Iterable[int], *, bases: bool = True) -> set[int]:
        """Everything that these need, these included; ``bases``: also what they take over from checkpoints before."""
        found: set[int] = set()
        waiting = list(starts)
        while waiting:
            entry = waiting.pop()
            if entry not in found and entry in self.needs:
                found.add(entry)
                waiting += self.needs[entry]
                if bases and entry in self.bases:
                    waiting.append(self.bases[entry])
        return found

    def size(self, entries: Iterable[int]) -> int:
        """Their bytes together."""
        return sum(self.bytes.get(entry, 0) for entry in entries)


def freed_by(database: Database, numbers: Collection[int]) -> int:
    """The bytes that are free once the checkpoints at these entries are gone."""
    known = _References(database)
    gone = set(numbers)
    kept = known.reachable(known.checkpoints - gone)
    return known.size(known.reachable(gone) - kept)


def weight(database: Database, number: int) -> Weight:
    """What the checkpoint at an entry takes."""
    known = _References(database)
    mine = known.reachable((number,))
    others = known.reachable(known.checkpoints - {number}, bases=False)
    own = (mine - others) | {number}
    return Weight(known.size(own), known.size(mine - own))
