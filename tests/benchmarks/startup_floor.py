"""The least a Qt program in Python needs: a bare window, painted."""

from __future__ import annotations

import sys

from PySide6.QtWidgets import QApplication, QMainWindow

from tests.benchmarks.children import answer, since_start


def run() -> int:
    """Shows it, says when, ends."""
    from tests.benchmarks.startup_paint import when_painted

    app = QApplication([])
    window = QMainWindow()
    window.resize(1440, 900)

    def on_painted() -> None:
        answer({"interactive": since_start(), "modules": sorted(sys.modules)})
        app.quit()

    watch = when_painted(window, on_painted)
    window.show()
    assert watch
    return app.exec()


if __name__ == "__main__":
    sys.exit(run())
