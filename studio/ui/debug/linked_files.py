"""The workflows of linked files, read in a thread: places of breakpoints are in them, too."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QObject, QThreadPool, Signal

from studio.document.model import SubWorkflowNode, Workflow
from studio.ui.debug.places import linked_workflows


class _Read(QObject):
    """Brings what a thread read back to the loop; lives until the thread has told it."""

    told = Signal(object)


class LinkedFiles(QObject):
    """Knows the workflows that a document links, by the path of their node, once they are read."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workflows: Mapping[str, Workflow] = {}
        self._reading: _Read | None = None

    def read(self, workflow: Workflow, folder: Path | None) -> None:
        """Reads them anew; what was read for another document is forgotten, what still comes for it is dropped."""
        self.workflows, self._reading = {}, None
        if folder is None or not _has_links(workflow):
            return
        reading = self._reading = _Read()
        reading.told.connect(self._on_reading_told)
        QThreadPool.globalInstance().start(lambda: _read(reading, workflow, folder))

    def _on_reading_told(self, found: Mapping[str, Workflow]) -> None:
        if self._reading is not self.sender():
            return
        self._reading = None
        self.workflows = found
        self.changed.emit()


def _read(reading: _Read, workflow: Workflow, folder: Path) -> None:
    """In a thread: documents are frozen."""
    found = linked_workflows(workflow, folder)
    with suppress(RuntimeError):  # the program has ended
        reading.told.emit(found)


def _has_links(workflow: Workflow) -> bool:
    inner = [n for n in workflow.nodes if isinstance(n, SubWorkflowNode)]
    return any(n.path or (n.embedded is not None and _has_links(n.embedded)) for n in inner)
