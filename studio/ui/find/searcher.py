"""Looks through a document in small pieces, so that the window never waits for a search."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter

from PySide6.QtCore import QObject, QTimer, Signal

from studio.document.model import Workflow
from studio.document.patterns import PatternError
from studio.document.searching import Hit, Query, find

PIECE = 0.004
"""Seconds of one piece."""


class Searcher(QObject):
    """One search at a time; a new one takes the place of the one before."""

    found = Signal(list)
    """The next hits, in reading order."""
    finished = Signal(str)
    """Everything was looked at; the text says what is wrong with the pattern, if anything."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: Iterator[Hit] = iter(())
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._go_on)

    @property
    def working(self) -> bool:
        """Whether there is more to look at."""
        return self._timer.isActive()

    def start(self, workflow: Workflow, query: Query) -> None:
        """Begins; the first piece is done at once."""
        self._timer.stop()
        self._hits = find(workflow, query)
        self._go_on()

    def stop(self) -> None:
        """Ends without a word."""
        self._timer.stop()

    def _go_on(self) -> None:
        end = perf_counter() + PIECE
        hits: list[Hit] = []
        problem, more = "", True
        try:
            while more and perf_counter() < end:
                hit = next(self._hits, None)
                if hit is None:
                    more = False
                else:
                    hits.append(hit)
        except PatternError as error:
            problem, more = str(error), False
        if hits:
            self.found.emit(hits)
        if more:
            self._timer.start()
        else:
            self.finished.emit(problem)
