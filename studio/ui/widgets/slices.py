"""Long work in short pieces between the turns of the loop, which anybody who needs its result can finish at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from PySide6.QtCore import QElapsedTimer, QObject, QTimer

SLICE_MS = 4
FIRST_MS = 12
"""So long after a change the work on it begins: what can be shown at once is painted before."""
PIECE = 64
"""So many items are done between two looks at the clock."""


class Slices(QObject):
    """Runs generators one after the other; each ``yield`` is a place where the loop may go on first."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: deque[Iterator[None]] = deque()
        self._running = False
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def busy(self) -> bool:
        """Whether something is not done yet."""
        return bool(self._work)

    def add(self, work: Iterator[None], after: int = FIRST_MS) -> None:
        """Does this in later turns of the loop, after what is there already; if there is nothing, in so many
        milliseconds."""
        self._work.append(work)
        if not self._timer.isActive():
            self._timer.start(after)

    def finish(self) -> None:
        """Does all of it now. Work that asks for its own result gets what there is so far."""
        if self._running:
            return
        while self._work:
            while self._step():
                pass
        self._timer.stop()

    def drop(self) -> None:
        """Forgets what is not done."""
        self._work.clear()
        self._timer.stop()

    def _step(self) -> bool:
        """One piece; returns whether the first work goes on after it."""
        self._running = True
        work = self._work[0]
        try:
            next(work)
        except StopIteration:
            self._forget(work)
            return False
        except BaseException:
            self._forget(work)
            raise
        finally:
            self._running = False
        return bool(self._work) and self._work[0] is work

    def _forget(self, work: Iterator[None]) -> None:
        if self._work and self._work[0] is work:
            self._work.popleft()

    def _on_timer_timeout(self) -> None:
        self._timer.setInterval(0)
        clock = QElapsedTimer()
        clock.start()
        while self._work and clock.elapsed() < SLICE_MS:
            self._step()
        if not self._work:
            self._timer.stop()


def at_once(work: Iterator[None]) -> None:
    """Does work that could be done in pieces in one go."""
    for _ in work:
        pass
