"""Connects a document with its journal: after a crash at most half a second of edits is missing."""

from __future__ import annotations

from contextlib import suppress
from threading import Lock

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.bridge.thread_work import quietly
from studio.document.model import Workflow
from studio.files import Journal

_AFTER_MS = 500


AT_ONCE = 300
"""Changes of a document with more nodes than this are written in a thread."""


class _Written(QObject):
    """Tells the loop that a thread has written."""

    told = Signal()


class Autosave(QObject):
    """Records what changed, at most once per half second; the journal goes when the file has everything."""

    recorded = Signal()
    """The journal has everything that was changed so far."""

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._lock = Lock()
        """Held while the journal is written or taken away."""
        self._turn = 0
        """Counts what makes a document that waits to be written out of date."""
        self._written: _Written | None = None
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
        with self._lock:
            self._turn += 1
            self.journal.record(self._document.workflow)
        self.recorded.emit()

    def keep_all(self) -> None:
        """What an unsaved document is now is nowhere else (an import): it is recorded before it is changed."""
        with self._lock:
            self.journal.begin(None)
        self._timer.start()

    def close(self) -> None:
        """The document was closed on purpose: nothing is to be recovered."""
        self._timer.stop()
        with self._lock:
            self._turn += 1
            self.journal.discard()

    def _on_document_changed(self, _changes: object) -> None:
        if not self._timer.isActive():
            self._timer.start()

    def _on_timer_timeout(self) -> None:
        if not self._document.dirty:
            return
        workflow = self._document.workflow
        if len(workflow.nodes) <= AT_ONCE:
            self.record_now()
        elif self._written is not None:
            self._timer.start()  # the thread is still at the last one
        else:
            written, turn = _Written(), self._turn
            self._written = written
            written.told.connect(self._on_written_told)
            QThreadPool.globalInstance().start(quietly(lambda: self._write(written, workflow, turn)))

    def _write(self, written: _Written, workflow: Workflow, turn: int) -> None:
        """In a thread: a first entry of thousands of nodes takes longer than a frame. Nothing is written when the
        document was saved, closed or recorded meanwhile."""
        with self._lock:
            if turn == self._turn:
                self.journal.record(workflow)
        with suppress(RuntimeError):  # the program has ended
            written.told.emit()

    def _on_written_told(self) -> None:
        self._written = None
        self.recorded.emit()

    def _on_document_dirty_changed(self, dirty: bool) -> None:
        if not dirty:
            self._saved()

    def _on_document_path_changed(self, _path: object) -> None:
        if not self._document.dirty:
            self._saved()

    def _saved(self) -> None:
        self._timer.stop()
        workflow = self._document.workflow
        with self._lock:
            self._turn += 1
            if workflow.id != self.journal.workflow_id:
                self.journal.discard()
                self.journal = Journal(workflow.id)
            self.journal.saved(workflow, self._document.path)
