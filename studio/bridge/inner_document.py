"""The workflow inside a sub-workflow node as a document of its own: every edit is a step of the document around it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.document_model import DocumentModel
from studio.document.changes import ChangeSet
from studio.document.edits import Edit
from studio.document.inside import EditInside, changes_between, embedded_in
from studio.document.model import Workflow


class InnerDocument(DocumentModel):
    """Has no file and no undo stack of its own; follows what the outer document says about its node."""

    gone = Signal()
    """Nothing is embedded at the node any more: it was deleted, inlined, or is linked to a file now."""

    def __init__(self, outer: DocumentModel, node_id: str, parent: QObject | None = None) -> None:
        inner = embedded_in(outer.workflow, node_id)
        super().__init__(inner or Workflow(id=node_id), outer.path, parent, stack=outer.undo_stack)
        self.outer = outer
        self.node_id = node_id
        outer.changed.connect(self._on_outer_changed)
        outer.path_changed.connect(self.path_changed)

    @property
    def path(self) -> Path | None:
        """The file of the document around it: links are relative to it."""
        return self.outer.path

    @property
    def there(self) -> bool:
        """Whether something is embedded at the node."""
        return embedded_in(self.outer.workflow, self.node_id) is not None

    @property
    def outermost(self) -> DocumentModel:
        """The document that has the file."""
        return self.outer.outermost if isinstance(self.outer, InnerDocument) else self.outer

    @property
    def read_only(self) -> bool:
        """As the document around it."""
        return self.outer.read_only

    def execute(self, edit: Edit, text: str, merge_key: str | None = None) -> None:
        """Applies an edit as one step of the outermost document. Nothing happens when nothing is embedded any more."""
        if self.read_only:
            self._refuse()
            return
        if not self.there:
            return
        key = f"{self.node_id}/{merge_key}" if merge_key else None
        self.outer.execute(EditInside(self.node_id, edit), text, key)

    def name_after(self, name: str) -> None:
        """The file has the name of the document around it."""

    def mark_saved(self, path: Path) -> None:
        """Saving is about the document around it."""

    def _on_outer_changed(self, _changes: ChangeSet) -> None:
        now = embedded_in(self.outer.workflow, self.node_id)
        if now is None:
            self.gone.emit()
            return
        before = self.workflow
        if now is not before:
            self._take(now, changes_between(before, now), self.outer.step)
