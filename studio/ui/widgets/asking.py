"""Work in a thread whose result comes back to the loop."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, QThreadPool, Signal

from studio.bridge.thread_work import quietly


class _Asked(QObject):
    """Brings what a thread found back to the loop; lives until the thread has told it."""

    told = Signal(object, object)
    """Itself, and what was found."""


class Asking(QObject):
    """Hands on what threads found, on the loop; nothing once it is gone."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._asked: dict[_Asked, Callable[[Any], None]] = {}

    @property
    def busy(self) -> bool:
        """Whether a thread is at work."""
        return bool(self._asked)

    def ask(self, work: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Does the work in a thread, which must not raise, and hands on what it gives."""
        asked = _Asked()
        self._asked[asked] = then
        asked.told.connect(self._on_asked_told)
        QThreadPool.globalInstance().start(quietly(lambda: _tell(asked, work)))

    def _on_asked_told(self, asked: _Asked, found: object) -> None:
        self._asked.pop(asked)(found)


def _tell(asked: _Asked, work: Callable[[], Any]) -> None:
    found = work()
    with suppress(RuntimeError):  # the program has ended
        asked.told.emit(asked, found)
