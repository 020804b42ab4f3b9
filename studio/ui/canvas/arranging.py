"""Places a large drawing anew off the loop: documents are frozen, so a thread may look at one that is being edited."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

from PySide6.QtCore import QObject, QThreadPool, Signal

from studio.bridge.thread_work import quietly
from studio.document import commands
from studio.document.edits import Edit
from studio.document.layout import Flow
from studio.document.model import Workflow

AT_ONCE = 150
"""Up to so many nodes it takes less than a frame."""


class _Found(QObject):
    """Brings the edit back to the loop; lives until the thread has told it."""

    told = Signal(object, object)
    """Workflow, edit."""


class Arranging(QObject):
    """One arrangement at a time; a newer one takes the place of one that is still looked for."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._asked: _Found | None = None
        self._then: Callable[[Workflow, Edit], None] | None = None

    @property
    def working(self) -> bool:
        """Whether a thread is at it."""
        return self._asked is not None

    def find(
        self,
        workflow: Workflow,
        ids: Sequence[str] | None,
        then: Callable[[Workflow, Edit], None],
        flow: Flow | None = None,
    ) -> None:
        """Calls ``then`` with the document that was looked at and the edit, at once for a small one."""
        self._then = then
        if len(workflow.nodes) <= AT_ONCE:
            self._asked = None
            then(workflow, commands.arrange_items(workflow, ids, flow))
            return
        found = self._asked = _Found()
        found.told.connect(self._on_found_told)
        QThreadPool.globalInstance().start(quietly(lambda: _find(found, workflow, ids, flow)))

    def cancel(self) -> None:
        """Nothing comes of what is being looked for."""
        self._asked = self._then = None

    def _on_found_told(self, workflow: Workflow, edit: Edit) -> None:
        if self.sender() is not self._asked:
            return
        then, self._asked, self._then = self._then, None, None
        if then is not None:
            then(workflow, edit)


def _find(found: _Found, workflow: Workflow, ids: Sequence[str] | None, flow: Flow | None) -> None:
    edit = commands.arrange_items(workflow, ids, flow)
    with suppress(RuntimeError):  # the program has ended
        found.told.emit(workflow, edit)
