"""The workflows of linked files, read in a thread: places of breakpoints are in them, too."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.document.model import SubWorkflowNode, Workflow
from studio.ui.debug.places import linked_workflows
from studio.ui.widgets.asking import Asking


class LinkedFiles(QObject):
    """Knows the workflows that a document links, by the path of their node, once they are read."""

    changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.workflows: Mapping[str, Workflow] = {}
        self._wanted: Workflow | None = None
        self._asking = Asking(self)

    def read(self, workflow: Workflow, folder: Path | None) -> None:
        """Reads them anew; what was read for another document is forgotten, what still comes for it is dropped."""
        self.workflows, self._wanted = {}, workflow
        if folder is not None and _has_links(workflow):
            self._asking.ask(partial(linked_workflows, workflow, folder), partial(self._take, workflow))

    def _take(self, workflow: Workflow, found: Mapping[str, Workflow]) -> None:
        if workflow is self._wanted:
            self.workflows = found
            self.changed.emit()


def _has_links(workflow: Workflow) -> bool:
    inner = [n for n in workflow.nodes if isinstance(n, SubWorkflowNode)]
    return any(n.path or (n.embedded is not None and _has_links(n.embedded)) for n in inner)
