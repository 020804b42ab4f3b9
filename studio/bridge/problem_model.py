"""The problems of a document, found again after each change, once per event-loop turn."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.document.problems import Problem
from studio.document.validate import problems


class ProblemModel(QObject):
    """Live validation of one document."""

    changed = Signal()

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._problems: tuple[Problem, ...] = ()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self.refresh)
        document.changed.connect(self._on_document_changed)
        self.refresh()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, errors first."""
        return self._problems

    def at(self, place: str) -> tuple[Problem, ...]:
        """The problems of one node, edge or case."""
        return tuple(p for p in self._problems if p.place == place)

    def refresh(self) -> None:
        """Validates now."""
        found = problems(self._document.workflow)
        if found != self._problems:
            self._problems = found
            self.changed.emit()

    def _on_document_changed(self, _changes: object) -> None:
        self._timer.start()
