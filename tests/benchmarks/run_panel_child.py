"""The run panel under load, in the real window: ``python -m tests.benchmarks.run_panel_child AGENTS RATE SECONDS``."""

from __future__ import annotations

import asyncio
import os
import sys
import time
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QWidget

from tests.benchmarks.children import answer
from tests.benchmarks.figures import percentile
from tests.benchmarks.stream_child import Tokens, _until, run

_EVERY = 0.2
"""Seconds between two keystrokes."""


class Keystrokes(QObject):
    """Types into a field and notes how long it takes until the field is painted again."""

    def __init__(self, field: QWidget) -> None:
        super().__init__(field)
        self._field = field
        self._typed: float | None = None
        self._spent = 0.0
        self.late: list[float] = []
        """Milliseconds."""
        self.own: list[float] = []
        """Milliseconds of processor time of this thread meanwhile."""
        field.installEventFilter(self)

    def type(self) -> None:
        """One letter, through the event queue as a real one."""
        self._typed, self._spent = time.perf_counter(), time.thread_time()
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            event = QKeyEvent(kind, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
            QApplication.postEvent(self._field, event)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._typed is not None:
            self.late.append((time.perf_counter() - self._typed) * 1000)
            self.own.append((time.thread_time() - self._spent) * 1000)
            self._typed = None
        return False


def resident() -> float:
    """Megabytes of memory that this process has."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


async def _measure(window: Any, tokens: Tokens, whole: int) -> None:
    from studio.debugger.states import ENDED

    from tests.benchmarks.stream_beats import Beats

    beats = Beats(window)
    await _until(lambda: "openai.resources.chat.completions" in sys.modules)
    run = window.page.workspace.run
    window.tool_bar.input.show_text("go")
    field = window.tool_bar.input.focusProxy() or window.tool_bar.input
    window.actions_["run.run"].trigger()
    async with asyncio.timeout(20):
        await _until(lambda: sum(map(len, tokens.made.values())) > whole // 50)
    before = resident()
    field.setFocus()
    keys = Keystrokes(QApplication.focusWidget() or field)
    beats.start()
    while run.state not in ENDED and sum(map(len, tokens.made.values())) < whole:
        keys.type()
        await asyncio.sleep(_EVERY)
    found = beats.stop()
    grown = resident() - before
    await _until(lambda: run.state in ENDED)
    answer(
        {
            "beats": found,
            "grown": grown,
            "keys": {
                "p99": percentile(keys.late, 0.99),
                "max": max(keys.late, default=0.0),
                "count": len(keys.late),
                "own_p99": percentile(keys.own, 0.99),
            },
            "tokens": sum(map(len, tokens.made.values())),
            "lanes_seen": len(tokens.painted),
        }
    )


if __name__ == "__main__":
    sys.exit(run(*map(int, sys.argv[1:]), measure=_measure))
