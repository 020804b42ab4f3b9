"""Keeps the journal of one document up to date."""

from __future__ import annotations

import time

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.files import Journal

BEHIND_MS = 500
"""How far the journal may be behind, in milliseconds; typing costs one entry per half second."""


class Autosave(QObject):
    """Records changes soon after they are made; nothing is lost by ``kill -9`` but the last half second."""

    recorded = Signal()

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.time: float | None = None
        """Unix time of the last entry; None: everything is in the file."""
        self._journal = Journal(document.workflow.id)
        self._journal.begin(document.workflow, document.path)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(BEHIND_MS)
        self._timer.timeout.connect(self.record_now)
        document.changed.connect(self._on_document_changed)

    @property
    def problem(self) -> str:
        """Why changes are not kept; empty if they are."""
        return self._journal.problem.message if self._journal.problem is not None else ""

    def record_now(self) -> None:
        """Writes what changed since the last entry."""
        self._timer.stop()
        self._journal.record(self._document.workflow)
        self.time = time.time()
        self.recorded.emit()

    def saved(self) -> None:
        """The document is in its file now."""
        self._timer.stop()
        self._journal.saved(self._document.workflow, self._document.path)
        self.time = None
        self.recorded.emit()

    def discard(self) -> None:
        """The document is closed; nothing of it is to be recovered."""
        self._timer.stop()
        self._document.changed.disconnect(self._on_document_changed)
        self._journal.discard()

    def _on_document_changed(self, _changes: object) -> None:
        if not self._timer.isActive():
            self._timer.start()
