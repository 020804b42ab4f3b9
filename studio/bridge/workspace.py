"""What belongs to one open workflow tab: document, run, selection, problems. Panels are given one at a time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from studio.bridge.autosave import Autosave
from studio.bridge.document_model import DocumentModel
from studio.bridge.mcp_model import McpModel
from studio.bridge.problem_model import ProblemModel
from studio.bridge.proof_model import ProofModel
from studio.bridge.run_model import RunModel
from studio.bridge.selection import SelectionModel
from studio.bridge.shown_difference import ShownDifference
from studio.document.changes import ChangeSet
from studio.document.lines import lines_by_id
from studio.document.lookup import by_id
from studio.document.model import Workflow


class Workspace(QObject):
    """Panels have ``set_workspace(workspace | None)``: they leave the old one's signals and show the new one."""

    document_offered = Signal(object)
    """A :class:`studio.document.model.Workflow` that should be opened as an unsaved copy in a tab of its own."""
    drawing_offered = Signal(object, str)
    """The :class:`studio.document.model.Workflow` of an earlier run that should be opened to look at, and the
    checkpoint that it belongs to."""
    comparison_offered = Signal(str, str)
    """Two branches or checkpoints that should be compared in a tab of their own."""
    code_trusted = Signal()
    """The user has accepted the code of the document."""

    def __init__(self, document: DocumentModel, run: RunModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.document = document
        self.run = run
        self.selection = SelectionModel(self)
        self.problems = ProblemModel(document, self)
        self.compared = ShownDifference(document, self)
        self.mcp = McpModel(document, parent=self)
        self.proof = ProofModel(self)
        self.autosave: Autosave | None = None
        """Set for documents that are opened for good; panels alone have none."""
        self._workflow_id = document.workflow.id
        document.setParent(self)
        run.setParent(self)
        document.changed.connect(self._on_document_changed)

    def keep_journal(self) -> None:
        """Begins to record edits for a crash."""
        self.autosave = Autosave(self.document, self)

    def keep_unsaved(self) -> None:
        """The program ends without asking: what is not saved stays in the journal and can be recovered."""
        if self.autosave is not None and self.document.dirty:
            self.autosave.record_now()
            self.autosave = None

    async def close(self) -> None:
        """Ends the run, closes its store, and takes the journal away."""
        if self.autosave is not None:
            self.autosave.close()
        await self.mcp.close()
        await self.proof.close()
        await self.run.close()

    def _on_document_changed(self, changes: ChangeSet) -> None:
        self.run.document_changed()
        if self.selection.items and _may_lack(changes):
            self.selection.keep_only(_Selectable(self.document.workflow))
        if (changes.everything or "id" in changes.workflow) and self.document.workflow.id != self._workflow_id:
            self._workflow_id = self.document.workflow.id
            self.run.reopen()
        elif "runs_on_disk" in changes.workflow:
            self.run.reopen()


def _may_lack(changes: ChangeSet) -> bool:
    """Whether something that was selected may be gone."""
    gone = changes.nodes_removed | changes.edges_removed | changes.edges_changed | changes.notes | changes.groups
    return changes.everything or bool(gone)


class _Selectable:
    """Everything of a document that can be selected."""

    def __init__(self, workflow: Workflow) -> None:
        parts = (workflow.nodes, workflow.edges, workflow.notes, workflow.groups)
        self._there = (*(by_id(items) for items in parts), lines_by_id(workflow))

    def __contains__(self, item: object) -> bool:
        return any(item in some for some in self._there)
