"""Keeps full garbage collections short: each looks only at what came since the one before.

A full collection goes over every object of the program, with the window standing still: 100 ms and more once a few
workflows are open, several times a minute while agents stream. What survives one is therefore put aside
(``gc.freeze``). Objects that are put aside are still freed as soon as nobody refers to them; only cycles among them
would stay, so all of them are looked at again when the user has gone to another program.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

from PySide6.QtCore import QCoreApplication, QObject, Qt, QTimer
from PySide6.QtGui import QGuiApplication

_FULL = 2
_FULL_AFTER = 1
"""Collections of the middle generation between two full ones (10 before): each sees some 14,000 new objects."""
_RESTS_AFTER_MS = 3000
_WORTH_IT = 200_000
"""Objects put aside since the last time everything was looked at that make it worth doing again."""


class ShortCollections(QObject):
    """In force from its making to :meth:`end`."""

    def __init__(self, app: QCoreApplication) -> None:
        super().__init__(app)
        self._looked_at = gc.get_freeze_count()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_RESTS_AFTER_MS)
        self._timer.timeout.connect(self.collect_everything)
        if isinstance(app, QGuiApplication):
            app.applicationStateChanged.connect(self._on_application_state_changed)
        gc.callbacks.append(self._on_collected)
        self._before = gc.get_threshold()
        if sys.version_info < (3, 14):  # from then on the collector works in small steps by itself
            gc.set_threshold(*self._before[:2], _FULL_AFTER)

    def end(self) -> None:
        """Collections are as they were before."""
        gc.callbacks.remove(self._on_collected)
        gc.set_threshold(*self._before)
        self._timer.stop()
        self.deleteLater()

    def collect_everything(self) -> None:
        """Looks at all objects, if many were put aside since the last time."""
        if gc.get_freeze_count() - self._looked_at < _WORTH_IT:
            return
        gc.unfreeze()
        gc.collect()
        self._looked_at = gc.get_freeze_count()

    def _on_collected(self, phase: str, info: dict[str, Any]) -> None:
        if phase == "stop" and info["generation"] == _FULL:
            gc.freeze()

    def _on_application_state_changed(self, state: Qt.ApplicationState) -> None:
        if state is Qt.ApplicationState.ApplicationActive:
            self._timer.stop()
        elif not self._timer.isActive():
            self._timer.start()
