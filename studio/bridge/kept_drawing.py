"""The drawing of an earlier run, open beside the drawing as it is now: to look at, compare, run and go back to."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject

from studio.bridge.document_model import DocumentModel
from studio.document.edits import Edit
from studio.document.model import Workflow


class KeptDrawing(DocumentModel):
    """Takes no edit and is never saved. It keeps the id of its workflow, so that the runs are the same ones, and the
    path, so that linked files are found."""

    def __init__(self, workflow: Workflow, path: Path | None, origin: str, parent: QObject | None = None) -> None:
        super().__init__(workflow, path, parent)
        self.origin = origin
        """Of which run it is, in words: "run 3, Fork A"."""

    @property
    def read_only(self) -> bool:
        return True

    def execute(self, edit: Edit, text: str, merge_key: str | None = None) -> None:
        """Changes nothing and says why, see :attr:`refused`."""
        self._refuse()

    def name_after(self, name: str) -> None:
        """There is no save that could give it a name."""

    def mark_saved(self, path: Path) -> None:
        """It is never saved."""
