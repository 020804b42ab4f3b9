"""The debug panel: breakpoints, and the messages that wait for the next superstep."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QListView, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.debug.rows import BreakpointDelegate, BreakpointRow, QueuedDelegate, QueuedRow, RowsModel, make_list
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Chip, Label
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.sources import source_name, target_names

_ROLE = Qt.ItemDataRole.UserRole


class _Heading(QWidget):
    """Title, count, and room for a button; with a line above."""

    def __init__(self, theme: Theme, title: str, *, ruled: bool) -> None:
        super().__init__()
        self._theme, self._ruled = theme, ruled
        self.setFixedHeight(theme.length(30))
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(12, 0, 6, 0)
        self.row.setSpacing(6)
        self.row.addWidget(Label(theme, title, "section"))
        self.count = Chip(theme, "0", height=15)
        self.row.addWidget(self.count)
        self.row.addStretch(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._ruled:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))


class DebugPanel(Panel):
    """A breakpoint that is switched off here stays in the list until it is removed or another workflow is shown."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._off: list[str] = []
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.breakpoints = make_list(tr("Breakpoints"))
        self.breakpoint_model = RowsModel(self)
        self.breakpoints.setModel(self.breakpoint_model)
        delegate = BreakpointDelegate(theme, self.breakpoints)
        delegate.toggled.connect(self.toggle)
        self.breakpoints.setItemDelegate(delegate)
        self.breakpoints.clicked.connect(self._on_breakpoints_clicked)
        self._heading = _Heading(theme, tr("Breakpoints"), ruled=False)
        self._remove_all = Button(theme, "", "trash-2", "plain", small=True)
        self._remove_all.setToolTip(tr("Remove all breakpoints"))
        self._remove_all.setAccessibleName(tr("Remove all breakpoints"))
        self._remove_all.clicked.connect(self._on_remove_all_clicked)
        self._heading.row.addWidget(self._remove_all)
        self._breakpoint_stack = self._stacked(self.breakpoints, tr("Press F9 on a node to stop before it."))
        self.queued = make_list(tr("Queued messages"))
        self.queued_model = RowsModel(self)
        self.queued.setModel(self.queued_model)
        self.queued.setItemDelegate(QueuedDelegate(theme, self.queued))
        self.queued.clicked.connect(self._on_queued_clicked)
        self._queued_heading = _Heading(theme, tr("Queued messages"), ruled=True)
        self._queued_stack = self._stacked(self.queued, tr("Messages wait here while a run is paused."))
        outer.addWidget(self._heading)
        outer.addWidget(self._breakpoint_stack)
        outer.addSpacing(6)
        outer.addWidget(self._queued_heading)
        outer.addWidget(self._queued_stack, 1)
        for view in (self.breakpoints, self.queued):
            view.installEventFilter(self)
        self.setMinimumWidth(180)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.breakpoints_changed.connect(self.refresh)
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self.refresh)
        workspace.document.changed.connect(self._on_document_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.breakpoints_changed.disconnect(self.refresh)
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.state_changed.disconnect(self.refresh)
        workspace.document.changed.disconnect(self._on_document_changed)

    def show_workspace(self) -> None:
        self._off.clear()
        self.refresh()

    def refresh(self) -> None:
        """Shows breakpoints and queued messages as they are."""
        workspace = self.workspace
        breakpoints = self._breakpoint_rows(workspace) if workspace is not None else []
        queued = self._queued_rows(workspace) if workspace is not None else []
        self.breakpoint_model.show_rows(breakpoints)
        self.queued_model.show_rows(queued)
        self._heading.count.set_text(str(len(breakpoints)))
        self._heading.count.setVisible(bool(breakpoints))
        self._remove_all.setVisible(bool(breakpoints))
        self._queued_heading.count.set_text(str(len(queued)))
        self._queued_heading.count.setVisible(bool(queued))
        self._breakpoint_stack.setCurrentIndex(0 if breakpoints else 1)
        self._breakpoint_stack.setFixedHeight(self.theme.length(38) * min(len(breakpoints), 6) if breakpoints else 48)
        self._queued_stack.setCurrentIndex(0 if queued else 1)

    def toggle(self, node: str) -> None:
        """Switches a breakpoint off or on; it stays in the list."""
        if self.workspace is None:
            return
        if node in self.workspace.run.breakpoints:
            self._off.append(node)
        elif node in self._off:
            self._off.remove(node)
        self.workspace.run.toggle_breakpoint(node)
        self.refresh()

    def remove(self, node: str) -> None:
        """Takes a breakpoint away."""
        if self.workspace is None:
            return
        if node in self._off:
            self._off.remove(node)
        if node in self.workspace.run.breakpoints:
            self.workspace.run.toggle_breakpoint(node)
        self.refresh()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and isinstance(watched, QListView):
            row = watched.currentIndex().data(_ROLE) if watched.currentIndex().isValid() else None
            if self._key(event.key(), row):
                return True
        return super().eventFilter(watched, event)

    def _key(self, key: int, row: BreakpointRow | QueuedRow | None) -> bool:
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(row, BreakpointRow):
            if key == Qt.Key.Key_Space:
                self.toggle(row.node)
            elif key == Qt.Key.Key_Delete:
                self.remove(row.node)
            elif enter:
                self._jump(row)
            else:
                return False
            return True
        if isinstance(row, QueuedRow) and self.workspace is not None:
            if key == Qt.Key.Key_Delete:
                self.workspace.run.drop_queued(row.message)
            elif enter:
                self.workspace.selection.look_at_message(row.message)
            else:
                return False
            return True
        return False

    def _stacked(self, view: QListView, empty: str) -> QStackedWidget:
        stack = QStackedWidget()
        stack.addWidget(view)
        text = EmptyText(self.theme, empty)
        stack.addWidget(text)
        return stack

    def _breakpoint_rows(self, workspace: Workspace) -> list[BreakpointRow]:
        run, workflow = workspace.run, workspace.document.workflow
        self._off = [n for n in self._off if n not in run.breakpoints]
        nodes = [n.id for n in workflow.nodes]
        wanted = sorted({*run.breakpoints, *self._off}, key=lambda n: nodes.index(n) if n in nodes else len(nodes))
        rows = []
        for node in wanted:
            on, hit = node in run.breakpoints, run.paused_at == node
            note = tr("before · paused here") if hit else tr("before") if on else tr("before · off")
            rows.append(BreakpointRow(node, name_of(workflow, node), on, hit, note))
        return rows

    def _queued_rows(self, workspace: Workspace) -> list[QueuedRow]:
        workflow = workspace.document.workflow
        rows = []
        for view in workspace.run.queued:
            source = source_name(workflow, view.source, view.purpose)
            target = ", ".join(target_names(workflow, view.target, view.edges)) or "–"
            rows.append(QueuedRow(view.message, f"{source} → {target}", view.text, view.edited))
        return rows

    def _jump(self, row: BreakpointRow) -> None:
        if self.workspace is not None:
            self.workspace.selection.reveal(row.node)

    def _on_breakpoints_clicked(self, index: QModelIndex) -> None:
        row = index.data(_ROLE)
        if isinstance(row, BreakpointRow):
            self._jump(row)

    def _on_queued_clicked(self, index: QModelIndex) -> None:
        row = index.data(_ROLE)
        if isinstance(row, QueuedRow) and self.workspace is not None:
            self.workspace.selection.look_at_message(row.message)

    def _on_remove_all_clicked(self) -> None:
        for row in self.breakpoint_model.rows:
            if isinstance(row, BreakpointRow):
                self.remove(row.node)

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.queued or update.everything:
            self.refresh()

    def _on_document_changed(self, _changes: object) -> None:
        self.refresh()
