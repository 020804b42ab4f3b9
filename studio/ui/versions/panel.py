"""The versions panel: what was saved before, what differs from the document as it is, and how."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from PySide6.QtCore import QModelIndex, QObject, QThreadPool, Signal
from PySide6.QtWidgets import QAbstractItemView, QListView, QSplitter, QTextEdit, QVBoxLayout, QWidget

from studio.bridge.inner_document import InnerDocument
from studio.bridge.thread_work import quietly
from studio.bridge.workspace import Workspace
from studio.document.difference import ItemChange
from studio.files import FileProblem, kept_versions, read_workflow
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.versions.rows import RowDelegate, Rows, VersionRow
from studio.ui.versions.text_diff import as_html
from studio.ui.versions.words import summary
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.panel import Panel


class _Read(QObject):
    """Brings a document that a thread has read back to the loop."""

    told = Signal(object, object)
    """The row, and the workflow or a sentence."""


class VersionsPanel(Panel):
    """Choosing a version compares it; choosing a difference shows it on the canvas and how it differs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.versions, self.changes = Rows(self), Rows(self)
        self.version_list = self._list(self.versions, "versions", tr("Saved versions"))
        self.change_list = self._list(self.changes, "differences", tr("Differences"))
        self.detail = QTextEdit()
        self.detail.setObjectName("difference_text")
        self.detail.setAccessibleName(tr("How it differs"))
        self.detail.setReadOnly(True)
        self.detail.setUndoRedoEnabled(False)
        self.said = Prose(theme, "", "small", "muted", 15)
        self.said.setContentsMargins(12, 6, 12, 6)
        self._reading: _Read | None = None
        left = QWidget()
        column = QVBoxLayout(left)
        column.setContentsMargins(0, 4, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.version_list, 1)
        column.addWidget(self.said)
        both = QSplitter()
        both.setChildrenCollapsible(False)
        both.setHandleWidth(1)
        for widget, share in ((left, 3), (self.change_list, 4), (self.detail, 6)):
            widget.setMinimumWidth(140)
            both.addWidget(widget)
            both.setStretchFactor(both.count() - 1, share)
        both.setSizes([260, 360, 520])
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(both)
        self.version_list.clicked.connect(self._on_version_chosen)
        self.version_list.activated.connect(self._on_version_chosen)
        self.change_list.selectionModel().currentChanged.connect(self._on_change_chosen)
        self.change_list.clicked.connect(self._on_change_chosen)  # also the one that is chosen already

    def _list(self, model: Rows, name: str, title: str) -> QListView:
        made = QListView()
        made.setObjectName(name)
        made.setAccessibleName(title)
        made.setModel(model)
        made.setItemDelegate(RowDelegate(self.theme, made))
        made.setUniformItemSizes(True)
        made.setMouseTracking(True)
        made.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        return made

    # ---- workspace
    def enter(self, workspace: Workspace) -> None:
        workspace.compared.changed.connect(self._on_compared_changed)
        workspace.document.dirty_changed.connect(self._on_document_saved)
        workspace.document.path_changed.connect(self._on_document_saved)

    def leave(self, workspace: Workspace) -> None:
        workspace.compared.changed.disconnect(self._on_compared_changed)
        workspace.document.dirty_changed.disconnect(self._on_document_saved)
        workspace.document.path_changed.disconnect(self._on_document_saved)

    def show_workspace(self) -> None:
        self.reload()
        self._on_compared_changed()

    def restyle(self) -> None:
        self._show_detail(self.change_list.currentIndex())

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        self.reload()

    def reload(self) -> None:
        """Lists the versions again; a panel that cannot be seen waits."""
        if self.workspace is None or not self.isVisible():
            self.versions.show(())
            return
        document = self.workspace.document
        rows = [VersionRow(v.path, v.saved, v.size) for v in kept_versions(document.workflow.id)]
        if document.path is not None and not isinstance(document, InnerDocument):
            with suppress(OSError):
                status = document.path.stat()
                rows.insert(0, VersionRow(document.path, status.st_mtime, status.st_size, on_disk=True))
        if list(self.versions.items) != rows:
            self.versions.show(rows)
        empty = tr("Nothing was saved yet. Each save keeps what it replaces: the last 20.")
        hint = tr("Click a version to compare it with the drawing as it is. The last 20 are kept.")
        self.said.set_text(hint if rows else empty)

    def compare(self, row: VersionRow) -> None:
        """Reads a version in a thread and compares it then."""
        reading = self._reading = _Read()
        reading.told.connect(self._on_read)
        self.said.set_text(tr("Reading…"))
        QThreadPool.globalInstance().start(quietly(lambda: _read(reading, row)))

    def _on_read(self, row: VersionRow, found: object) -> None:
        if self._reading is not self.sender() or self.workspace is None:
            return
        self._reading = None
        if isinstance(found, str):
            self.said.set_text(found)
            return
        self.workspace.compared.compare(found, row.title, is_disk=row.on_disk)  # type: ignore[arg-type]

    def _on_version_chosen(self, index: QModelIndex) -> None:
        row = index.data(256)
        if isinstance(row, VersionRow):
            self.compare(row)

    def _on_compared_changed(self) -> None:
        found = self.workspace.compared.found if self.workspace is not None else None
        kept = self.change_list.currentIndex().row()
        if found is None:
            self.changes.show(())
            self.detail.clear()
            self.reload()
            return
        self.changes.show(found.changes)
        self.said.set_text(summary(found).capitalize() + ".")
        if found.changes:
            blocked = self.change_list.selectionModel().blockSignals(True)
            self.change_list.setCurrentIndex(self.changes.index(kept if 0 <= kept < len(found.changes) else 0, 0))
            self.change_list.selectionModel().blockSignals(blocked)
        self._show_detail(self.change_list.currentIndex())

    def _on_change_chosen(self, index: QModelIndex, _before: QModelIndex | None = None) -> None:
        self._show_detail(index)
        change = index.data(256)
        if isinstance(change, ItemChange) and change.what != "removed" and self.workspace is not None:
            if change.item:
                self.workspace.selection.reveal(change.item)
            else:
                self.workspace.selection.select(())

    def _show_detail(self, index: QModelIndex) -> None:
        change = index.data(256) if index.isValid() else None
        if not isinstance(change, ItemChange):
            self.detail.clear()
        elif change.fields:
            self.detail.setHtml(as_html(change.fields, self.theme.tokens))
        else:
            self.detail.setPlainText(
                {
                    "added": tr("{name} is new."),
                    "removed": tr("{name} is gone. Its place is shown on the canvas."),
                    "moved": tr("{name} has another place."),
                }[change.what].format(name=change.name)
            )

    def _on_document_saved(self, _changed: object) -> None:
        self.reload()


def _read(reading: _Read, row: VersionRow) -> None:
    """In a thread."""
    found: object
    try:
        found = read_workflow(Path(row.path))
    except FileProblem as problem:
        found = problem.message
    with suppress(RuntimeError):  # the program has ended
        reading.told.emit(row, found)
