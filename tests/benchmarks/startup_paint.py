"""Tells when a window was painted and the loop came round again."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget


class _Watch(QObject):
    def __init__(self, window: QWidget, then: Callable[[], None]) -> None:
        super().__init__(window)
        self._then = then
        self._seen = False
        window.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and not self._seen:
            self._seen = True
            QTimer.singleShot(0, self._then)
        return False


def when_painted(window: QWidget, then: Callable[[], None]) -> QObject:
    """Calls ``then`` in the turn of the loop after the window's next paint. Keep what it returns."""
    watch = _Watch(window, then)
    handle = window.windowHandle()
    if handle is not None and handle.isExposed():
        window.update()
    return watch
