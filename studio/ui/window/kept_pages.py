"""Tabs of drawings of earlier runs: to look at, compare, run and go back to, never to change."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout

from studio.bridge.kept_drawing import KeptDrawing
from studio.bridge.run_model import RunModel
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.versions import KeptBar
from studio.ui.window.document_tabs import DocumentTabs
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.ui.window.file_flows import FileFlows


class KeptPage(WorkflowPage):
    """A workflow page with the bar that says what it shows; the checkpoint it was opened for is selected."""

    def __init__(self, theme: Theme, workspace: Workspace, origin: str, drawing: Workflow) -> None:
        super().__init__(theme, workspace)
        self.origin, self.drawing = origin, drawing
        self._wanted = ""
        self.bar = KeptBar(theme, origin)
        layout = self.layout()
        assert isinstance(layout, QVBoxLayout)
        layout.insertWidget(0, self.bar)
        workspace.run.updated.connect(self._on_run_updated)

    @property
    def title(self) -> str:
        return tr("{name}, {origin}").format(name=super().title, origin=self.origin)

    def look_at(self, checkpoint: str) -> None:
        """Selects a checkpoint as soon as the runs are listed."""
        self._wanted = checkpoint
        self._on_run_updated(None)

    def _on_run_updated(self, _update: object) -> None:
        run, wanted = self.workspace.run, self._wanted
        if wanted and any(c.checkpoint == wanted for c in run.checkpoints):
            self._wanted = ""
            self.workspace.selection.look_at_checkpoint(wanted)


class KeptPages:
    """Opens them, and finds them again."""

    def __init__(self, theme: Theme, tabs: DocumentTabs, files: FileFlows) -> None:
        self._theme, self._tabs, self._files = theme, tabs, files

    def open(self, beside: WorkflowPage, workflow: Workflow, checkpoint: str) -> None:
        """Shows the drawing of a page's earlier run, and the checkpoint that it is looked at for."""
        origin = origin_of(beside.workspace.run, checkpoint)
        page = self._find(workflow, origin)
        if page is None:
            workspace = self._files.workspaces.open_kept(beside.workspace, workflow, origin)
            page = KeptPage(self._theme, workspace, origin, workflow)
            self._tabs.add(page, page.title, "lock", page.bar.text.text)
            self._files.follow(page)
            page.bar.compare_requested.connect(partial(self._compare, page))
            page.bar.copy_requested.connect(partial(self._files.new_from_run, workflow))
            page.bar.leave_requested.connect(partial(self._leave, page))
            self._files.opened.emit(page)
        self._tabs.show_page(page)
        page.look_at(checkpoint)

    def _find(self, workflow: Workflow, origin: str) -> KeptPage | None:
        kept = (page for page in self._files.pages() if isinstance(page, KeptPage) and page.origin == origin)
        return next((page for page in kept if page.drawing == workflow), None)

    def _current(self, page: KeptPage) -> WorkflowPage | None:
        """The page of the same workflow as it is now."""
        workflow = page.workspace.document.workflow.id
        return next((p for p in self._files.documents() if p.workspace.document.workflow.id == workflow), None)

    def _compare(self, page: KeptPage) -> None:
        now = self._current(page)
        if now is None:
            self._files.said.emit(tr("The workflow itself is not open. Open its file to compare."))
            return
        self._tabs.show_page(now)
        title = tr("the drawing of {origin}").format(origin=page.origin)
        now.workspace.compared.compare(page.workspace.document.workflow, title)

    def _leave(self, page: KeptPage) -> None:
        now = self._current(page)
        if now is not None:
            self._tabs.show_page(now)
        self._tabs.close_requested.emit(page)


def origin_of(run: RunModel, checkpoint: str) -> str:
    """Which run a checkpoint is of, in words: "run 3, Fork A"."""
    point = next((c for c in run.checkpoints if c.checkpoint == checkpoint), None)
    branch = next((b for b in run.branches if point is not None and b.branch == point.branch), None)
    if branch is None:
        return tr("an earlier run")
    return tr("run {number}, {branch}").format(number=branch.number, branch=branch.name)


def is_kept(page: WorkflowPage) -> bool:
    """Whether a page shows the drawing of an earlier run."""
    return isinstance(page.workspace.document, KeptDrawing)
