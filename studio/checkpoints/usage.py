"""What in a file is used by which checkpoints, and how much that is. Everything here only reads; it may take long."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from studio.checkpoints.bodies import Bodies, parsed
from studio.checkpoints.database import Database
from studio.checkpoints.packing import dumps
from studio.checkpoints.removal import references

_ROW = 14
"""What an entry takes beside its body."""


@dataclass(frozen=True, slots=True)
class Weight:
    """Bytes of one checkpoint: ``own`` is what only it needs, ``shared`` what others need too."""

    own: int
    shared: int


def reachable(database: Database, starts: Iterable[int], known: set[int] | None = None) -> set[int]:
    """The entries that are needed by these, these included; none of ``known``, and nothing behind them."""
    seen = set() if known is None else known
    waiting = [entry for entry in starts if entry not in seen]
    found = set(waiting)
    while waiting:
        row = database.execute("SELECT parent, body FROM entry WHERE id=?", (waiting.pop(),)).fetchone()
        if row is None:
            continue
        parent, body = row
        behind = [body] if type(body) is int else references(body)
        for entry in (*behind, *((parent,) if parent else ())):
            if entry not in found and entry not in seen:
                found.add(entry)
                waiting.append(entry)
    return found


def _heads(database: Database, bodies: Bodies, numbers: Collection[int] | None) -> dict[int, list[int]]:
    """The entries that checkpoints refer to directly, with what they take over from those before them."""
    query = "SELECT id, body FROM entry WHERE head IS NOT NULL"
    found: dict[int, list[int]] = {}
    for number, stored in database.execute(query).fetchall():
        if numbers is None or number in numbers:
            body = parsed(stored)
            whole = bodies.merged(body)[0] if "b" in body else {}
            found[number] = references(dumps(body)) + references(dumps(whole))
    return found


def freed_by(database: Database, bodies: Bodies, numbers: Collection[int]) -> int:
    """The bytes that are free once the checkpoints at these entries are gone."""
    heads = _heads(database, bodies, None)
    kept = reachable(database, (e for n, found in heads.items() if n not in numbers for e in found))
    gone = reachable(database, (e for n in numbers for e in heads.get(n, ())), kept)
    return _bytes(database, gone - kept) + _bytes(database, numbers)


def weight(database: Database, bodies: Bodies, number: int) -> Weight:
    """What the checkpoint at an entry takes."""
    heads = _heads(database, bodies, None)
    mine = reachable(database, heads.get(number, ()))
    others = reachable(database, (e for n, found in heads.items() if n != number for e in found))
    return Weight(_bytes(database, mine - others) + _bytes(database, (number,)), _bytes(database, mine & others))


def _bytes(database: Database, entries: Collection[int]) -> int:
    total = 0
    for entry in entries:
        row = database.execute("SELECT body FROM entry WHERE id=?", (entry,)).fetchone()
        if row is not None:
            body = row[0]
            total += _ROW + (
                len(body.encode()) if isinstance(body, str) else len(body) if body.__class__ is bytes else 4
            )
    return total
