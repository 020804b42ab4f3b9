"""Arranges a tree of checkpoints without holding up the window: a small one at once, a large one in slices."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.run_views import BranchView, CheckpointView
from studio.ui.timeline.plan import Plan, arrange, arranging

AT_ONCE = 1000
"""A tree of more checkpoints than this is arranged in slices."""
_BUDGET = 0.004
"""Seconds of a slice."""


class Arranger(QObject):
    """``arranged`` tells each plan. Asked while it is at work, it finishes the one and begins the newest after it: a
    run that saves quickly must not put the picture off for ever."""

    arranged = Signal(object)
    """:class:`studio.ui.timeline.plan.Plan`."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._work: Generator[None, None, Plan] | None = None
        self._next: tuple[Sequence[CheckpointView], Sequence[BranchView], str | None] | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def busy(self) -> bool:
        """Whether a plan is being made."""
        return self._work is not None

    def ask(self, checkpoints: Sequence[CheckpointView], branches: Sequence[BranchView], shown: str | None) -> None:
        """Makes a plan of these; lists may change afterwards."""
        if self._work is None and len(checkpoints) <= AT_ONCE:
            self.arranged.emit(arrange(checkpoints, branches, shown))
            return
        self._next = tuple(checkpoints), tuple(branches), shown
        if self._work is None:
            self._begin()

    def stop(self) -> None:
        """Nothing that was asked for is told any more."""
        self._timer.stop()
        self._work = self._next = None

    def _begin(self) -> None:
        assert self._next is not None
        self._work, self._next = arranging(*self._next), None
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        assert self._work is not None
        until = time.perf_counter() + _BUDGET
        try:
            next(self._work)
            while time.perf_counter() < until:
                next(self._work)
        except StopIteration as done:
            self._timer.stop()
            self._work = None
            if self._next is not None:
                self._begin()
            self.arranged.emit(done.value)
