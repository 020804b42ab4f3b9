"""Notices that the file of an open workflow was changed by another program, such as git."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

QUIET_MS = 250
"""A program that writes a file does it in several steps; it is looked at when nothing has happened for so long."""


class DiskWatch(QObject):
    """Watches files and their folders: a file that is replaced is another one, and only its folder tells."""

    touched = Signal()
    """Something happened to a watched file or beside it."""

    def __init__(self, files: Callable[[], Iterable[Path]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files = files
        self._watcher: QFileSystemWatcher | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(QUIET_MS)
        self._timer.timeout.connect(self._on_timer_timeout)

    def refresh(self) -> None:
        """Watches the files that are open now."""
        wanted = {str(path) for file in self._files() for path in (file, file.parent) if path.exists()}
        if self._watcher is None:
            if not wanted:
                return
            self._watcher = QFileSystemWatcher(self)
            self._watcher.fileChanged.connect(self._on_watcher_changed)
            self._watcher.directoryChanged.connect(self._on_watcher_changed)
        now = {*self._watcher.files(), *self._watcher.directories()}
        if now - wanted:
            self._watcher.removePaths(sorted(now - wanted))
        if wanted - now:
            self._watcher.addPaths(sorted(wanted - now))

    def stop(self) -> None:
        """Says nothing more."""
        self._timer.stop()

    def _on_watcher_changed(self, _path: str) -> None:
        self._timer.start()

    def _on_timer_timeout(self) -> None:
        self.refresh()  # a replaced file is no longer watched
        self.touched.emit()
