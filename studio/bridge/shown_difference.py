"""What the open document is compared with at the moment: an earlier version, or the file on disk. View state."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.bridge.thread_work import quietly
from studio.document.difference import Difference, difference
from studio.document.model import Workflow

AT_ONCE = 200
"""Documents with more items than this are compared in a thread."""


class _Told(QObject):
    """Brings what a thread found back to the loop; lives until the thread has told it."""

    told = Signal(object, object)
    """The document that was looked at, the difference."""


class ShownDifference(QObject):
    """Follows the document while something is compared."""

    changed = Signal()

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._old: Workflow | None = None
        self._title = ""
        self._is_disk = False
        self._found: Difference | None = None
        self._asked: _Told | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._compare)
        document.changed.connect(self._on_document_changed)

    @property
    def title(self) -> str:
        """What the document is compared with, for a sentence: "the version of 14:12"."""
        return self._title

    @property
    def is_disk(self) -> bool:
        """Whether the other document is the file as it is on disk."""
        return self._is_disk

    @property
    def old(self) -> Workflow | None:
        """The other document; None: nothing is compared."""
        return self._old

    @property
    def found(self) -> Difference | None:
        """The difference; of a large document for a moment still that before the last change."""
        return self._found

    def compare(self, old: Workflow, title: str, *, is_disk: bool = False) -> None:
        """Compares the document with another one from now on."""
        self._old, self._title, self._is_disk, self._found = old, title, is_disk, None
        self._timer.stop()
        self._compare()

    def close(self) -> None:
        """Compares no longer."""
        self._timer.stop()
        if self._old is not None:
            self._old, self._found, self._title = None, None, ""
            self.changed.emit()

    def _compare(self) -> None:
        old, new = self._old, self._document.workflow
        if old is None or self._asked is not None:
            return
        if max(_size(old), _size(new)) <= AT_ONCE:
            self._take(difference(old, new))
            return
        asked = self._asked = _Told()
        asked.told.connect(self._on_told)
        QThreadPool.globalInstance().start(quietly(lambda: _find(asked, old, new)))

    def _take(self, found: Difference) -> None:
        self._found = found
        self.changed.emit()

    def _on_told(self, new: Workflow, found: Difference) -> None:
        self._asked = None
        if found.old is self._old and new is self._document.workflow:
            self._take(found)
        else:
            self._timer.start()

    def _on_document_changed(self, _changes: object) -> None:
        if self._old is not None:
            self._timer.start()


def _size(workflow: Workflow) -> int:
    return len(workflow.nodes) + len(workflow.edges) + len(workflow.notes) + len(workflow.groups)


def _find(asked: _Told, old: Workflow, new: Workflow) -> None:
    """In a thread: documents are frozen."""
    found = difference(old, new)
    with suppress(RuntimeError):  # the program has ended
        asked.told.emit(new, found)
