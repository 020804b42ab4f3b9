"""Every statement that a program gives to its file of runs is a point at which it can end: its own progress, not a
clock, decides where it is killed, so that the same work is hit on a fast and on a slow machine."""

from __future__ import annotations

import os
import signal
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

_TICKS = 100
"""Steps of SQLite's machine that are a point too, where the program looks for somebody who wants it to stop: the file
is written anew in one statement."""


@dataclass(frozen=True, slots=True)
class End:
    """``kill -9`` at the ``at``-th point (from 1) of a phase: exactly there, or (``beside``) from another thread, while
    the program goes on. ``only``: count statements alone that begin so."""

    phase: str
    at: int
    beside: bool = False
    only: str = ""


class Points:
    """Counts the points of each phase. One per program."""

    def __init__(self, end: End | None) -> None:
        self._end = end
        self._phase = ""
        self.counts: Counter[str] = Counter()
        self._over = threading.Event()
        if end is not None and end.beside:
            threading.Thread(target=self._kill_beside, daemon=True).start()

    def enter(self, phase: str) -> None:
        """What comes now belongs to this phase; "": to none."""
        self._phase = phase

    def watch(self) -> None:
        """From now on every connection counts."""
        connect, points = sqlite3.connect, self

        class Counted(sqlite3.Connection):
            def __init__(self, *args: Any, **kwargs: Any) -> None:
                super().__init__(*args, **kwargs)
                self.set_trace_callback(points.meet)

            def set_progress_handler(self, handler: Callable[[], Any] | None, /, n: int) -> None:
                super().set_progress_handler(points.ticking(handler), min(n, _TICKS)) if handler else None
                super().set_progress_handler(None, 0) if handler is None else None

        def counted(*args: Any, **kwargs: Any) -> sqlite3.Connection:
            return connect(*args, **{"factory": Counted, **kwargs})

        vars(sqlite3)["connect"] = counted

    def ticking(self, handler: Callable[[], Any]) -> Callable[[], Any]:
        """The same handler; each of its calls is a point."""

        def tick() -> Any:
            self.meet("")
            return handler()

        return tick

    def meet(self, statement: str) -> None:
        """A point is reached."""
        end = self._end
        if not self._phase or (end is not None and not statement.startswith(end.only)):
            return
        self.counts[self._phase] += 1
        if end is not None and (self._phase, self.counts[self._phase]) == (end.phase, end.at):
            self._over.set() if end.beside else _kill()

    def _kill_beside(self) -> None:
        self._over.wait()
        _kill()


def _kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
