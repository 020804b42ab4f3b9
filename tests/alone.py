"""With ``pytest -n 2`` two tests run at a time; one that measures has the machine for itself.

Every test holds a shared lock while it runs, one marked ``benchmark`` the exclusive one. Whoever waits for the room
keeps the gate, so nobody who comes later goes in first. Files that are there anyway are locked: nothing is left behind.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_GATE = Path(__file__)
_ROOM = _GATE.with_name("conftest.py")


@contextmanager
def among_others(*, alone: bool) -> Iterator[None]:
    """Waits until a test may start."""
    with _GATE.open() as gate, _ROOM.open() as room:
        fcntl.flock(gate, fcntl.LOCK_EX)
        fcntl.flock(room, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        fcntl.flock(gate, fcntl.LOCK_UN)
        yield
