"""Connects a document with its journal: after a crash at most half a second of edits is missing."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.files import Journal

_AFTER_MS = 500


class Autosave(QObject):
    """Records what changed, at most once per half second; the journal goes when the file has everything."""

    recorded = Signal()
    """The journal has everything that was changed so far."""

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self.journal = Journal(document.workflow.id)
        self.journal.begin(document.workflow, document.path)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_AFTER_MS)
        self._timer.timeout.connect(self._on_timer_timeout)
        document.changed.connect(self._on_document_changed)
        document.dirty_changed.connect(self._on_document_dirty_changed)
        document.path_changed.connect(self._on_document_path_changed)

    def record_now(self) -> None:
        """Writes what changed since the last entry, without waiting."""
        self._timer.stop()
        self.journal.record(self._document.workflow)
        self.recorded.emit()

    def close(self) -> None:
        """The document was closed on purpose: nothing is to be recovered."""
        self._timer.stop()
        self.journal.discard()

    def _on_document_changed(self, _changes: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _on_timer_timeout(self) -> None:
        if self._document.dirty:
            self.record_now()

    def _on_document_dirty_changed(self, dirty: bool) -> None:
        if not dirty:
            self._saved()

    def _on_document_path_changed(self, _path: object) -> None:
        if not self._document.dirty:
            self._saved()

    def _saved(self) -> None:
        self._timer.stop()
        workflow = self._document.workflow
        if workflow.id != self.journal.workflow_id:
            self.journal.discard()
            self.journal = Journal(workflow.id)
        self.journal.saved(workflow, self._document.path)
