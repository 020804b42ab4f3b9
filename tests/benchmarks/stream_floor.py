"""A bare window: beats of its idle loop, then the time from an update to its painting. Argument: seconds."""

from __future__ import annotations

import sys
import time

from PySide6.QtCore import QTimer
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from tests.benchmarks.children import answer
from tests.benchmarks.figures import percentile
from tests.benchmarks.stream_beats import Beats

_TOKENS = 200


class _Line(QWidget):
    """Paints one line of text; asks for the next when it is painted."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[float] = []
        self._asked = 0.0

    def token(self) -> None:
        """Something new is to be painted."""
        self._asked = time.perf_counter()
        self.update(0, 0, self.width(), 20)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.palette().window())
        painter.drawText(4, 16, f"token {len(self.late)}")
        if self._asked:
            self.late.append((time.perf_counter() - self._asked) * 1000)
            self._asked = 0.0


def run(seconds: int) -> int:
    """Both measurements, one after the other."""
    app = QApplication([])
    window, line = QMainWindow(), _Line()
    window.setCentralWidget(line)
    window.resize(1440, 900)
    window.show()
    beats, tokens = Beats(window), QTimer(window)
    found: list[dict[str, float]] = []

    def on_idle_over() -> None:
        found.append(beats.stop())
        tokens.start(5)

    def on_token() -> None:
        if len(line.late) < _TOKENS:
            line.token()
            return
        late = line.late
        paint = {"median": percentile(late, 0.5), "p99": percentile(late, 0.99), "max": max(late)}
        answer({"beats": found[0], "paint": paint})
        app.quit()

    tokens.timeout.connect(on_token)
    QTimer.singleShot(500, beats.start)
    QTimer.singleShot(500 + seconds * 1000, on_idle_over)
    return app.exec()


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1])))
