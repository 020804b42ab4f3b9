"""The inspector: shows and edits what is selected."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.changes import ChangeSet
from studio.ui.inspector.choose import page_for, page_in_pieces, page_key
from studio.ui.inspector.locked import lock_fields
from studio.ui.inspector.node_page import NodePage
from studio.ui.inspector.page import InspectorPage
from studio.ui.theme import Theme
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.slices import Slices

MANY, LATER_MS = 300, 40
"""With more nodes or selected items than this the canvas goes first, and the page follows so many milliseconds later:
making one takes longer than a frame."""


class InspectorPanel(Panel):
    """Follows the selection. One page at a time; the same kind of thing keeps its folded sections."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._page: InspectorPage | None = None
        self._key: tuple[str, ...] = ()
        self.setMinimumWidth(300)
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(LATER_MS)
        self._later.timeout.connect(self._on_later_timeout)
        self._making = Slices(self)
        """Makes the next page while the one before is shown."""
        self._next: InspectorPage | None = None

    @property
    def page(self) -> InspectorPage | None:
        """What is shown; None without a workspace."""
        return self._page

    def enter(self, workspace: Workspace) -> None:
        workspace.selection.changed.connect(self._on_selection_changed)
        workspace.selection.field_requested.connect(self._on_selection_field_requested)
        workspace.selection.text_requested.connect(self._on_selection_text_requested)
        workspace.document.changed.connect(self._on_document_changed)
        workspace.problems.changed.connect(self._on_problems_changed)
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self._on_run_state_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.selection.changed.disconnect(self._on_selection_changed)
        workspace.selection.field_requested.disconnect(self._on_selection_field_requested)
        workspace.selection.text_requested.disconnect(self._on_selection_text_requested)
        workspace.document.changed.disconnect(self._on_document_changed)
        workspace.problems.changed.disconnect(self._on_problems_changed)
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.state_changed.disconnect(self._on_run_state_changed)

    def show_workspace(self) -> None:
        self._key = ()
        self._show()

    @property
    def waiting(self) -> bool:
        """Whether another page will follow: what is shown may be about something that is gone."""
        return self._later.isActive() or self._making.busy

    def _follow_later(self) -> None:
        self._stop_making()
        self._later.start()

    def _on_later_timeout(self) -> None:
        """Shows what is selected now; a page that takes long is made ready first, in pieces."""
        self._stop_making()
        workspace, page = self.workspace, None
        key = page_key(workspace) if workspace is not None else ()
        if workspace is not None and key != self._key:
            page = self._next = page_in_pieces(self.theme, workspace, key)
        if page is None:
            self._show(key)
        else:
            self._making.add(self._made(page, key))

    def _made(self, page: NodePage, key: tuple[str, ...]) -> Iterator[None]:
        page.setParent(self)  # hidden still: each part gets its style when it is added, not all when it is shown
        yield from page.making
        page.refresh()
        yield
        self._key, self._next = key, None
        self._replace(page)
        page.refresh_run()
        self._lock()

    def _stop_making(self) -> None:
        self._making.drop()
        page, self._next = self._next, None
        if page is not None:
            page.deleteLater()

    def _show(self, key: tuple[str, ...] = ()) -> None:
        """Shows what is selected; ``key``: the page for it, if that is known."""
        self._later.stop()
        self._stop_making()
        if self.workspace is None:
            self._replace(None)
            self._key = ()
            return
        key = key or page_key(self.workspace)
        if key != self._key or self._page is None:
            self._key = key
            self._replace(page_for(self.theme, self.workspace, key))
        assert self._page is not None
        self._page.show_items(self.workspace.selection.items)
        self._page.refresh()
        self._page.refresh_run()
        self._lock()

    def _lock(self) -> None:
        """A page of the drawing of an earlier run is there to be read; going back and forking stay possible."""
        drawn = self._key[:1] not in (("checkpoint",), ("message",))
        if drawn and self._page is not None and self.workspace is not None and self.workspace.document.read_only:
            lock_fields(self._page.body)

    def _replace(self, page: InspectorPage | None) -> None:
        if self._page is not None:
            self._layout.removeWidget(self._page)
            self._page.hide()
            self._page.deleteLater()
        self._page = page
        if page is not None:
            self._layout.addWidget(page)
            page.show()

    def _on_selection_changed(self) -> None:
        if self._canvas_first:
            self._follow_later()
        else:
            self._show()

    @property
    def _canvas_first(self) -> bool:
        workspace = self.workspace
        if workspace is None:
            return False
        return len(workspace.selection.items) > MANY or len(workspace.document.workflow.nodes) > MANY

    def _on_selection_field_requested(self, _item: str, field: str) -> None:
        self._show()
        if self._page is not None:
            self._page.focus_field(field)

    def _on_selection_text_requested(self, item: str, field: str, text: str, start: int, end: int, focus: bool) -> None:
        self._show()
        if self._page is not None:
            self._page.show_text(item, field, text, start, end, focus=focus)

    def _on_document_changed(self, changes: ChangeSet) -> None:
        if changes.placed and changes == ChangeSet(placed=changes.placed):
            return
        focus = QApplication.focusWidget()
        if self._canvas_first and not (focus is not None and self.isAncestorOf(focus)):
            self._follow_later()
        else:
            self._show()

    def _on_problems_changed(self) -> None:
        if self._page is not None and not self.waiting:
            self._page.refresh_problems()
            self._lock()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if self._page is None or self.workspace is None or self.waiting:
            return
        if self._wants_other_page(self.workspace):
            self._show()
        elif update.nodes or update.queued or update.checkpoints or update.everything:
            self._page.refresh_run()
            self._lock()

    def _wants_other_page(self, workspace: Workspace) -> bool:
        """Whether a run has taken away or brought what is selected; of thousands of drawn items it takes nothing."""
        return len(workspace.selection.items) <= MANY and page_key(workspace) != self._key

    def _on_run_state_changed(self) -> None:
        if self.waiting:
            return
        if self._page is None or self.workspace is None or self._wants_other_page(self.workspace):
            self._show()
        else:
            self._page.refresh_run_state()
            self._lock()
