"""What belongs to one open workflow tab: document, run, selection, problems. Panels are given one at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject

from studio.bridge.document_model import DocumentModel
from studio.bridge.problem_model import ProblemModel
from studio.bridge.run_model import RunModel
from studio.bridge.selection import SelectionModel


class Workspace(QObject):
    """Panels have ``set_workspace(workspace | None)``: they leave the old one's signals and show the new one."""

    def __init__(self, document: DocumentModel, run: RunModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.run = run
        self.selection = SelectionModel(self)
        self.problems = ProblemModel(document, self)
        document.setParent(self)
        run.setParent(self)
