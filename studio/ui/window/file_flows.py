"""New, open, save, close, recover: what happens with files, one clear message where it does not work."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Protocol
from uuid import uuid4

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from studio.bridge.document_model import READ_ONLY
from studio.bridge.inner_document import InnerDocument
from studio.bridge.provider_model import ProviderModel
from studio.bridge.workspace import Workspace
from studio.document.edits import Batch, SetWorkflow
from studio.document.model import SubWorkflowNode, Workflow
from studio.files import FileProblem, Recovery, Stamp, read_stamped, write_workflow
from studio.files.embedding import PICTURES
from studio.importers import Imported
from studio.settings import recent, trust
from studio.settings.places import resource
from studio.ui.dialogs.file_dialogs import SUFFIX, choose_bundle, choose_target, choose_workflows, is_bundle
from studio.ui.dialogs.messages import Choice, ask, problem_text, show_problem
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import short
from studio.ui.window.disk_changes import DiskChanges
from studio.ui.window.document_tabs import DocumentTabs
from studio.ui.window.file_names import file_name, first_name
from studio.ui.window.inside import InnerPages, WayBack, is_inner
from studio.ui.window.kept_pages import KeptPages, is_kept
from studio.ui.window.mending import tell_mended
from studio.ui.window.workflow_page import WorkflowPage

_log = logging.getLogger(__name__)


class OpensWorkspaces(Protocol):
    """Joins documents with what runs them, and ends that again."""

    providers: ProviderModel

    def open(self, workflow: Workflow, path: Path | None) -> Workspace: ...

    def open_inside(self, outer: Workspace, node_id: str) -> Workspace: ...

    def open_kept(self, beside: Workspace, workflow: Workflow, origin: str) -> Workspace: ...

    def close(self, workspace: Workspace) -> None: ...


class FileFlows(QObject):
    """Opens documents as tabs and puts them away. ``said`` is a line for the status bar."""

    opened = Signal(object)
    """WorkflowPage."""
    saved = Signal(object)
    """WorkflowPage."""
    closing = Signal(object)
    """WorkflowPage, just before it goes."""
    recent_changed = Signal()
    said = Signal(str)

    def __init__(self, theme: Theme, tabs: DocumentTabs, window: QWidget, workspaces: OpensWorkspaces) -> None:
        super().__init__(window)
        self._theme, self._tabs, self._window = theme, tabs, window
        self.workspaces = workspaces
        self._inside = InnerPages(theme, workspaces, self.pages)
        self._kept = KeptPages(theme, tabs, self)
        self._disk = DiskChanges(self.documents, self)

    # ---- open
    def pages(self) -> list[WorkflowPage]:
        """The open workflows, in the order of the tabs."""
        return [page for page in self._tabs.pages() if isinstance(page, WorkflowPage)]

    def documents(self) -> list[WorkflowPage]:
        """Those of them that have a file, or will have one: not what is inside another one or of an earlier run."""
        return [page for page in self.pages() if not is_inner(page) and not is_kept(page)]

    def new(self) -> WorkflowPage:
        """An empty workflow in a new tab."""
        return self._show(Workflow(name=self._free_name()), None)

    def new_from_template(self, file: Path) -> None:
        """A copy of a template, with an id of its own, not saved yet."""
        found = self._read(file)
        if found is None:
            return
        workflow = found[0]
        if file.is_relative_to(resource("templates")):
            trust.trust(workflow)
        self._show(workflow.model_copy(update={"id": uuid4().hex}), None)

    def new_from_run(self, workflow: Workflow) -> None:
        """The drawing of an earlier run as a copy with an id of its own, not saved yet."""
        name = tr("{name}, as it was").format(name=workflow.name)
        self._show(workflow.model_copy(update={"id": uuid4().hex, "name": name}), None)

    def new_with_runs(self, workflow: Workflow, file: Path) -> WorkflowPage:
        """The workflow of a file of runs with its id, so that they belong to it, and the runs in it; not saved yet,
        unless it is open."""
        own = (page for page in self.documents() if page.workspace.document.workflow.id == workflow.id)
        page = next(own, None) or self._show(workflow, None)
        self._tabs.show_page(page)
        page.workspace.run.import_bundle(file)
        return page

    def new_from_import(self, found: Imported) -> None:
        """What an import made, as it is to be opened, not saved yet. What was changed in an export since is one step to
        look at and undo: in the open document that was exported, if it is there as it was, else in a new one."""
        if found.before is None:
            made = self._show(found.workflow.model_copy(update={"id": uuid4().hex}), None)
            made.workspace.document.undo_stack.resetClean()  # it is in no file of ours: closing it asks
            if made.workspace.autosave is not None:
                made.workspace.autosave.keep_all()
            return
        open_now = (page for page in self.documents() if page.workspace.document.workflow == found.before)
        page = next(open_now, None)
        if page is None:
            page = self._show(found.before, None)
        self._tabs.show_page(page)
        if found.edits:
            page.workspace.document.execute(Batch(found.edits), tr("Take over changes of the code"))
            page.workspace.compared.compare(found.before, tr("the export before its code was edited"))

    def ask_open(self) -> None:
        """Asks for files and opens them."""
        choose_workflows(self._window, self._folder(), self.open_all)

    def ask_open_runs(self) -> None:
        """Asks for a file of runs and opens it."""
        choose_bundle(self._window, self._folder(), lambda file: self.open_all([file]))

    def open_all(self, files: Sequence[Path]) -> None:
        """Opens files; one that is open already comes to the front."""
        for file in files:
            self.open(file)

    def open(self, file: Path) -> WorkflowPage | None:
        """Opens one file, or says why not."""
        file = file.absolute()
        if file.suffix.lower() in PICTURES:
            return self._open_picture(file)
        if is_bundle(file):
            return self._open_runs(file)
        for page in self.documents():
            if page.workspace.document.path == file:
                self._tabs.show_page(page)
                return page
        found = self._read(file)
        if found is None:
            return None
        workflow, stamp = found
        self._remember(file, workflow.name)
        return self._show(workflow, file, stamp)

    def _open_picture(self, file: Path) -> WorkflowPage | None:
        """The workflow that is kept in a picture, as a copy with an id of its own, not saved yet."""
        found = self._read(file)
        return None if found is None else self._show(found[0].model_copy(update={"id": uuid4().hex}), None)

    def _open_runs(self, file: Path) -> WorkflowPage | None:
        """The runs of a file, in the workflow that they belong to."""
        from studio.debugger.bundles import BundleProblem, read_workflow

        try:
            return self.new_with_runs(read_workflow(file), file)
        except (BundleProblem, OSError) as problem:
            text = problem_text(problem) if isinstance(problem, OSError) else str(problem)
            show_problem(self._theme, self._window, tr("{name} could not be opened.").format(name=file.name), text)
        return None

    def open_sub_workflow(self, page: WorkflowPage, node_id: str) -> None:
        """Opens a sub-workflow node: the file of a linked one; what is embedded in a tab of its own, whose edits are
        steps of this document."""
        document = page.workspace.document
        node = document.workflow.node(node_id)
        if not isinstance(node, SubWorkflowNode):
            return
        if not node.path:
            if node.embedded is not None:
                self._open_inside(page, node_id)
            return
        folder = document.path.parent if document.path is not None else self._folder()
        self.open(folder / node.path)

    def _open_inside(self, outer: WorkflowPage, node_id: str) -> None:
        page = self._inside.find(outer, node_id)
        if page is not None:
            self._tabs.show_page(page)
            return
        page = self._inside.made(outer, node_id)
        document = page.workspace.document
        assert isinstance(document, InnerDocument)
        self._tabs.add(page, page.title, "own:sub-workflow", tr("Inside {name}").format(name=outer.title))
        describe = partial(self._describe, page)
        document.changed.connect(describe)
        document.dirty_changed.connect(describe)
        document.gone.connect(partial(self._close_soon, page))
        self.follow(page)
        if isinstance(page.way_back, WayBack):
            page.way_back.chosen.connect(partial(self.go_up, page))
        self.opened.emit(page)

    def go_up(self, page: WorkflowPage, levels: int = 1) -> None:
        """Shows the workflow around this one, and the node that it is in."""
        found = self._inside.around(page, levels)
        if found is None:
            self.said.emit(tr("This workflow is not inside another one."))
            return
        outer, node_id = found
        self._tabs.show_page(outer)
        outer.canvas.setFocus()
        outer.workspace.selection.reveal(node_id)

    def _close_soon(self, page: WorkflowPage) -> None:
        """What a page showed is gone; its document is in the middle of saying so."""
        QTimer.singleShot(0, page, partial(self._close_if_gone, page))

    def _close_if_gone(self, page: WorkflowPage) -> None:
        document = page.workspace.document
        if page in self.pages() and isinstance(document, InnerDocument) and not document.there:
            self._close(page, None)

    def recover(self, found: Recovery) -> WorkflowPage | None:
        """Opens what a program that died left: the saved document, and the unsaved changes as one step on top."""
        try:
            workflow = found.workflow()
        except FileProblem as problem:
            self._could_not(tr("The unsaved work could not be recovered."), problem)
            return None
        saved, stamp = self._saved_version(found)
        page = self._show(saved or Workflow(id=workflow.id, name=workflow.name), found.path if saved else None, stamp)
        page.workspace.document.replace_all(workflow, tr("Recover unsaved work"))
        if page.workspace.autosave is not None:
            page.workspace.autosave.record_now()
        found.discard()
        self.recent_changed.emit()
        return page

    # ---- save
    def save(self, page: WorkflowPage, then: Callable[[], None] | None = None) -> None:
        """Saves into the document's file, or asks for one; ``then`` runs only after it is saved."""
        page = self._inside.outermost(page)
        path = page.workspace.document.path
        if is_kept(page):
            self.said.emit(READ_ONLY)
        elif path is None:
            self.save_as(page, then)
        else:
            self._write(page, path, then)

    def save_as(self, page: WorkflowPage, then: Callable[[], None] | None = None) -> None:
        """Asks for a file and saves into it."""
        page = self._inside.outermost(page)
        if is_kept(page):
            self.said.emit(READ_ONLY)
            return
        suggestion = self._folder() / f"{file_name(page.title)}{SUFFIX}"
        path = page.workspace.document.path
        choose_target(self._window, path or suggestion, partial(self._write, page, then=then))

    # ---- close
    def close(self, page: WorkflowPage, then: Callable[[], None] | None = None) -> None:
        """Closes a tab; with unsaved changes it asks first. ``then`` runs only if the tab was closed."""
        if is_inner(page) or is_kept(page) or not page.workspace.document.dirty:
            self._close(page, then)
            return
        self._tabs.show_page(page)
        ask(
            self._theme,
            self._window,
            tr("Save the changes to {name}?").format(name=short(page.title)),
            tr("Without saving, the changes since the last save are lost."),
            (
                Choice(tr("Save"), partial(self.save, page, partial(self._close, page, then)), default=True),
                Choice(tr("Discard"), partial(self._close, page, then)),
                Choice(tr("Cancel"), _nothing, cancels=True),
            ),
        )

    def close_all(self, then: Callable[[], None]) -> None:
        """Asks about every document with unsaved changes; ``then`` runs when none is left that wants to stay open."""
        dirty = [page for page in self.documents() if page.workspace.document.dirty]
        if dirty:
            self.close(dirty[0], partial(self.close_all, then))
        else:
            then()

    # ---- parts
    def _show(self, workflow: Workflow, path: Path | None, stamp: Stamp | None = None) -> WorkflowPage:
        page = WorkflowPage(self._theme, self.workspaces.open(workflow, path))
        self._disk.settle(page, stamp)
        document = page.workspace.document
        self._tabs.add(page, page.title, "own:layout", str(path or ""))
        describe = partial(self._describe, page)
        document.changed.connect(describe)
        document.dirty_changed.connect(describe)
        document.path_changed.connect(describe)
        self.follow(page)
        document.path_changed.connect(self._disk.refresh)
        page.load_requested.connect(partial(self._load_from_disk, page))
        page.disk_bar.load_requested.connect(partial(self._load_from_disk, page))
        page.disk_bar.compare_requested.connect(partial(self._compare_with_disk, page))
        page.disk_bar.keep_requested.connect(partial(self._disk.keep_mine, page))
        self._disk.refresh()
        self.opened.emit(page)
        tell_mended(document, self.said.emit)
        return page

    def follow(self, page: WorkflowPage) -> None:
        """Opens what a page offers, and says what its document refuses."""
        page.workspace.document_offered.connect(self.new_from_run)
        page.workspace.drawing_offered.connect(partial(self._kept.open, page))
        page.workspace.run.workflow_imported.connect(self.new_with_runs)
        page.workspace.document.refused.connect(self.said)

    # ---- changes on disk
    def _load_from_disk(self, page: WorkflowPage) -> None:
        path = page.workspace.document.path
        if path is not None:
            page.workspace.compared.close()
            self._load_again(page, path)

    def _compare_with_disk(self, page: WorkflowPage) -> None:
        path = page.workspace.document.path
        found = self._read(path) if path is not None else None
        if found is not None:
            page.workspace.compared.compare(found[0], tr("the file on disk"), is_disk=True)

    def _describe(self, page: WorkflowPage, _changed: object = None) -> None:
        document = page.workspace.document
        self._tabs.describe(page, page.title, document.dirty, str(document.path or ""))

    def _read(self, file: Path) -> tuple[Workflow, Stamp] | None:
        try:
            return read_stamped(file)
        except (FileProblem, OSError) as problem:
            self._could_not(tr("{name} could not be opened.").format(name=file.name), problem)
        return None

    def _could_not(self, title: str, problem: FileProblem | OSError) -> None:
        show_problem(self._theme, self._window, title, problem_text(problem))

    def _saved_version(self, found: Recovery) -> tuple[Workflow | None, Stamp | None]:
        """The file under the unsaved changes; None if there is none or it cannot be read."""
        if found.path is None:
            return None, None
        try:
            return read_stamped(found.path)
        except (FileProblem, OSError):
            return None, None

    def _write(
        self, page: WorkflowPage, path: Path, then: Callable[[], None] | None = None, *, replace: bool = False
    ) -> None:
        document = page.workspace.document
        if not replace and self._disk.differs(page, path):
            self._ask_about_changed(page, path, then)
            return
        if document.path is not None and path.absolute() != document.path and document.path.exists():
            # The original stays where it is; two files must not share one history of runs.
            document.execute(SetWorkflow({"id": uuid4().hex}), tr("Save as a copy"))
            self.said.emit(tr("{name} is a copy with a history of its own.").format(name=path.name))
        name = first_name(document.workflow.name, path) if document.path is None else document.workflow.name
        try:
            stamp = write_workflow(document.workflow.model_copy(update={"name": name}), path)
        except (FileProblem, OSError) as error:
            self._not_saved(page, path, error, then)
            return
        if name != document.workflow.name:
            document.name_after(name)
        trust.trust_list().moved(document.workflow, document.folder, path.absolute().parent)
        document.mark_saved(path.absolute())
        self._disk.settle(page, stamp)
        trust.trust_list().keep_typed(document.workflow)
        self._remember(path.absolute(), document.workflow.name)
        self.saved.emit(page)
        if then is not None:
            then()

    def _ask_about_changed(self, page: WorkflowPage, path: Path, then: Callable[[], None] | None) -> None:
        ask(
            self._theme,
            self._window,
            tr("{name} was changed by another program.").format(name=path.name),
            tr(
                "The file is not the one that this window read or saved. If you replace it, what is there now is kept "
                "as an earlier version. If you load it, undo brings your changes back."
            ),
            (
                Choice(tr("Save as…"), partial(self.save_as, page, then), default=True),
                Choice(tr("Replace it"), partial(self._write, page, path, then, replace=True)),
                Choice(tr("Load what is on disk"), partial(self._load_again, page, path)),
                Choice(tr("Cancel"), _nothing, cancels=True),
            ),
        )

    def _load_again(self, page: WorkflowPage, path: Path) -> None:
        """Takes what is in the file as one step on top of the changes here."""
        found = self._read(path)
        if found is None:
            return
        workflow, stamp = found
        document = page.workspace.document
        document.replace_all(workflow, tr("Load what is on disk"))
        document.mark_saved(path)
        tell_mended(document, self.said.emit)
        self._disk.settle(page, stamp)

    def _not_saved(
        self, page: WorkflowPage, path: Path, error: FileProblem | OSError, then: Callable[[], None] | None
    ) -> None:
        show_problem(
            self._theme,
            self._window,
            tr("{name} could not be saved.").format(name=path.name),
            f"{problem_text(error)}\n\n{tr('Your changes are still in the window.')}",
            (
                Choice(tr("Save as…"), partial(self.save_as, page, then), default=True),
                Choice(tr("Try again"), partial(self._write, page, path, then)),
                Choice(tr("Cancel"), _nothing, cancels=True),
            ),
        )

    def _close(self, page: WorkflowPage, then: Callable[[], None] | None) -> None:
        for inner in self._inside.directly_in(page):
            self._close(inner, None)
        self.closing.emit(page)
        workspace = page.workspace
        self._disk.forget(page)
        self._tabs.remove(page)
        self._disk.refresh()
        # It outlives its page until its run is stopped and its store is closed.
        workspace.setParent(None)
        self.workspaces.close(workspace)
        if then is not None:
            then()

    def _remember(self, path: Path, name: str) -> None:
        try:
            recent.opened(path, name)
        except OSError as error:
            _log.info("The list of recent files cannot be written: %s", error)
        self.recent_changed.emit()

    def _folder(self) -> Path:
        """Where dialogs start: beside the current file, else in the user's documents."""
        page = self._tabs.current
        path = page.workspace.document.path if page is not None and page.workspace is not None else None
        if path is not None:
            return path.parent
        documents = Path.home() / "Documents"
        return documents if documents.is_dir() else Path.home()

    def _free_name(self) -> str:
        taken = {page.title for page in self.pages()}
        names = [tr("Untitled"), *(f"{tr('Untitled')} {n}" for n in range(2, len(taken) + 3))]
        return next(name for name in names if name not in taken)


def _nothing() -> None:
    return
