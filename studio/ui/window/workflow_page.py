"""The page of one workflow: its canvas, and above it the bar that asks before foreign code may run."""

from __future__ import annotations

import time

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.document.changes import ChangeSet
from studio.document.model import Workflow
from studio.settings import trust
from studio.ui.canvas import CanvasView
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.trust_bar import TrustBar
from studio.ui.versions import CompareBar, DiskBar
from studio.ui.window.document_tabs import DocumentPage

_FOREIGN = ("Paste", "Import", "Recover", "Load")
"""Steps that bring code which nobody typed here."""


class WorkflowPage(DocumentPage):
    """Owns its workspace."""

    kind = "workflow"

    saved_changed = Signal()
    """:attr:`saved_text` is another one."""
    input_changed = Signal()
    """:attr:`input_text` follows another sample input of the workflow, or another shown run."""

    load_requested = Signal()
    """The file on disk should take the place of the document."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.workspace: Workspace = workspace
        self.input_text = ""
        self._input_of: int | None = None
        """The run whose input was shown last."""
        self.run_shown = self.debug_shown = False
        """Whether the run and the debug panel came to the front in this run; once is enough."""
        self._fit_timer = QTimer(self)
        self._fit_timer.setSingleShot(True)
        self._fit_timer.setInterval(0)
        self.way_back: QWidget | None = None
        """Of a workflow inside another one: the names of those around it, above the canvas."""
        self.saved_text = ""
        """When the work was last put away: "Saved 14:12", "Autosaved 14:12"."""
        workspace.setParent(self)
        self._accepted: Workflow = workspace.document.workflow
        self.canvas = CanvasView(theme)
        self.canvas.set_workspace(workspace)
        self._fit_timer.timeout.connect(self.canvas.show_all)
        self.trust_bar = TrustBar(theme)
        self.trust_bar.trusted.connect(self._on_trust_bar_trusted)
        self.disk_bar = DiskBar(theme)
        self.compare_bar = CompareBar(theme, workspace)
        self.compare_bar.load_requested.connect(self.load_requested)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.trust_bar)
        column.addWidget(self.disk_bar)
        column.addWidget(self.compare_bar)
        column.addWidget(self.canvas, 1)
        workspace.document.changed.connect(self._on_document_changed)
        workspace.document.path_changed.connect(self._show_trust)
        workspace.document.dirty_changed.connect(self._on_document_dirty_changed)
        workspace.mcp.changed.connect(self._on_mcp_changed)
        workspace.run.state_changed.connect(self._on_run_state_changed)
        if workspace.autosave is not None:
            workspace.autosave.recorded.connect(self._on_autosave_recorded)
        self._show_trust()

    @property
    def title(self) -> str:
        """The name of the workflow; a word for it if it has none."""
        return self.workspace.document.workflow.name.strip() or tr("Untitled")

    @property
    def sees_all(self) -> bool:
        """Whether the whole drawing is in view."""
        return self.canvas.seen_rect().contains(self.canvas.canvas_scene.bounds())

    def fit_soon(self) -> None:
        """Shows the whole drawing once the docks have their sizes."""
        self._fit_timer.start()

    def _on_document_changed(self, changes: ChangeSet) -> None:
        if changes == ChangeSet(placed=changes.placed):
            self._accepted = self.workspace.document.workflow
            return
        before, now = self._accepted, self.workspace.document.workflow
        self._accepted = now
        if before.sample_input != now.sample_input and self.input_text in ("", before.sample_input):
            self.input_text = now.sample_input
            self.input_changed.emit()
        step = self.workspace.document.step
        if step and not step.startswith(_FOREIGN):
            trust.accept_typed(before, now)
        self._show_trust()

    def _on_run_state_changed(self) -> None:
        """The input is that of the shown run, or of the last one after a start; what was typed since stays."""
        run = self.workspace.run
        branch = next((b for b in run.branches if b.branch == run.branch), None)
        if branch is None and not self.input_text and run.branches:
            branch = run.branches[-1]
        if branch is None or branch.number == self._input_of:
            return
        self._input_of = branch.number
        inputs = {b.number: b.input_text for b in run.branches if b.input_text}
        text = inputs.get(branch.number, "")
        if text and self.input_text in ("", self.workspace.document.workflow.sample_input, *inputs.values()):
            self.input_text = text
            self.input_changed.emit()

    def _on_mcp_changed(self, _server: str) -> None:
        self._show_trust()

    def _on_document_dirty_changed(self, dirty: bool) -> None:
        if not dirty and self.workspace.document.path is not None:
            self._say_saved(tr("Saved {time}"))

    def _on_autosave_recorded(self) -> None:
        self._say_saved(tr("Autosaved {time}"))

    def _say_saved(self, text: str) -> None:
        self.saved_text = text.format(time=time.strftime("%H:%M"))
        self.saved_changed.emit()

    def _show_trust(self, *_: object) -> None:
        document = self.workspace.document
        self.trust_bar.show_workflow(document.workflow, document.folder)

    def _on_trust_bar_trusted(self) -> None:
        document = self.workspace.document
        trust.trust(document.workflow, document.folder)
        self._show_trust()
        self.workspace.code_trusted.emit()
