"""A timer of 5 ms, and the time between its beats: a loop that stands still makes one of them long."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, Qt, QTimer

from tests.benchmarks.figures import percentile

BEAT_MS = 5


class Beats(QObject):
    """Records from :meth:`start` on. The time between two beats is an upper bound of how long the loop stood still."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.gaps: list[tuple[float, float]] = []
        """(moment, milliseconds since the beat before)."""
        self.own: list[float] = []
        """Milliseconds of processor time of this thread between two beats: what a busy machine does not change."""
        self._last = self._spent = 0.0
        self._timer = QTimer(self)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(BEAT_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def start(self) -> None:
        """Begins anew."""
        self.gaps, self.own = [], []
        self._last, self._spent = time.perf_counter(), time.thread_time()
        self._timer.start()

    def stop(self) -> dict[str, float]:
        """Ends; median, 99th percentile and longest time between two beats in milliseconds."""
        self._timer.stop()
        gaps = [gap for _, gap in self.gaps]
        return {
            "median": percentile(gaps, 0.5),
            "p99": percentile(gaps, 0.99),
            "max": max(gaps, default=0.0),
            "count": len(gaps),
            "over_16": sum(gap > 16 for gap in gaps),
            "own_p99": percentile(self.own, 0.99),
            "own_max": max(self.own, default=0.0),
        }

    def _on_timer_timeout(self) -> None:
        now, spent = time.perf_counter(), time.thread_time()
        self.gaps.append((now, (now - self._last) * 1000))
        self.own.append((spent - self._spent) * 1000)
        self._last, self._spent = now, spent
