"""The problems of a document, found again after each change: small documents once per event-loop turn, large ones in a
thread, so that the window never waits for it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal

from studio.bridge.document_model import DocumentModel
from studio.bridge.thread_work import quietly
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.document.profiles import probed_problems, unknown_profiles
from studio.document.validate import Validation
from studio.settings.profiles import current_profiles, probed

AT_ONCE = 100
"""A document with more nodes than this is validated in a thread."""


class _Found(QObject):
    """Brings what a thread found back to the loop; lives until the thread has told it."""

    told = Signal(object, object)
    """Workflow, tuple of problems."""


class ProblemModel(QObject):
    """Live validation of one document."""

    changed = Signal()

    def __init__(self, document: DocumentModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._document = document
        self._problems: tuple[Problem, ...] = ()
        self._by_place: Mapping[str, tuple[Problem, ...]] | None = None
        self._asked: _Found | None = None
        self._validation = Validation()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(0)
        self._timer.timeout.connect(self._validate)
        document.changed.connect(self._on_document_changed)
        self._validate()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """All problems, errors first; of a large document for a moment still those before the last change."""
        return self._problems

    @property
    def working(self) -> bool:
        """Whether a thread is at it."""
        return self._asked is not None

    def at(self, place: str) -> tuple[Problem, ...]:
        """The problems of one node, edge or case."""
        return self.by_place.get(place, ())

    @property
    def by_place(self) -> Mapping[str, tuple[Problem, ...]]:
        """The problems by node, edge or case; the same object until they change."""
        if self._by_place is None:
            found: dict[str, list[Problem]] = {}
            for problem in self._problems:
                found.setdefault(problem.place, []).append(problem)
            self._by_place = {place: tuple(listed) for place, listed in found.items()}
        return self._by_place

    def refresh(self) -> None:
        """Validates now."""
        self._take(_all(self._validation, self._document.workflow))

    def _validate(self) -> None:
        workflow = self._document.workflow
        if len(workflow.nodes) <= AT_ONCE:
            self.refresh()
        elif self._asked is None:
            found = self._asked = _Found()
            found.told.connect(self._on_found_told)
            validation = self._validation
            QThreadPool.globalInstance().start(quietly(lambda: _find(found, validation, workflow)))

    def _take(self, found: tuple[Problem, ...]) -> None:
        if found != self._problems:
            self._problems = found
            self._by_place = None
            self.changed.emit()

    def _on_found_told(self, workflow: Workflow, found: tuple[Problem, ...]) -> None:
        self._asked = None
        if workflow is self._document.workflow:
            self._take(found)
        else:
            self._timer.start()

    def _on_document_changed(self, _changes: object) -> None:
        self._timer.start()


def _find(found: _Found, validation: Validation, workflow: Workflow) -> None:
    """In a thread: documents are frozen, and what a validation keeps is replaced as a whole."""
    made = _all(validation, workflow)
    with suppress(RuntimeError):  # the program has ended
        found.told.emit(workflow, made)


def _all(validation: Validation, workflow: Workflow) -> tuple[Problem, ...]:
    """What is wrong with the document, and what it names or needs that this computer does not have; errors first."""
    profiles = current_profiles()
    missing = tuple(unknown_profiles(workflow, {p.name for p in profiles.profiles}))
    found: dict[str | None, dict[str, str]] = {p.name: probed(p) for p in profiles.profiles}
    found[None] = found[profiles.default]
    return (*missing, *validation.problems(workflow), *probed_problems(workflow, found))
