"""Brings the engine's events to the window: once per frame, within a budget, token texts joined."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, QTimer

from studio.debugger.joining import TokenJoiner
from studio.engine.events import Event

FRAME_MS = 16
BUDGET = 0.006
"""Seconds of a frame that folding may take; what is left waits for the next frame."""
_LOOK_EVERY = 64


class EventPump(QObject):
    """An event sink. ``fold`` is called for each (joined) event, ``frame_done`` once after them.

    The timer runs only while events are pending.
    """

    def __init__(
        self,
        fold: Callable[[Event], None],
        frame_done: Callable[[], None],
        parent: QObject | None = None,
        *,
        budget: float = BUDGET,
    ) -> None:
        super().__init__(parent)
        self._fold = fold
        self._frame_done = frame_done
        self._budget = budget
        self._arrived: deque[Event] = deque()
        self._joined = TokenJoiner()
        self._running = False
        self._timer = QTimer(self)
        self._timer.setInterval(FRAME_MS)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def pending(self) -> bool:
        """Whether something waits for a frame."""
        return self._running

    def append(self, event: Event) -> None:
        """Takes one event; the engine's side of the pump."""
        self._arrived.append(event)
        if not self._running:
            self._running = True
            self._timer.start()

    def flush(self) -> None:
        """Folds everything now, without a budget: before the views are replaced or read at the end of a run."""
        if self._running:
            self._frame(float("inf"))

    def clear(self) -> None:
        """Forgets what is pending: the events belong to a run that is no longer shown."""
        self._arrived.clear()
        self._joined = TokenJoiner()
        self._stop()

    def _on_timer_timeout(self) -> None:
        self._frame(time.perf_counter() + self._budget)

    def _frame(self, end: float) -> None:
        arrived, joined = self._arrived, self._joined
        count = 0
        while arrived:
            joined.add(arrived.popleft())
            count += 1
            if count % _LOOK_EVERY == 0 and time.perf_counter() > end:
                break
        folded = False
        while joined and (not folded or time.perf_counter() < end):
            self._fold(joined.pop())
            folded = True
        if not arrived and not joined:
            self._stop()
        self._frame_done()

    def _stop(self) -> None:
        self._timer.stop()
        self._running = False
