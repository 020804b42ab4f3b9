"""The debug panel: breakpoints, and the messages that wait for the next superstep."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QListView, QMenu, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_setup import RunSetup
from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.document.conditions import describe
from studio.document.model import Workflow
from studio.ui.debug.drawing_bar import DrawingBar, ResetBar, ToolBar
from studio.ui.debug.linked_files import LinkedFiles
from studio.ui.debug.places import node_of, row_words
from studio.ui.debug.rows import BreakpointDelegate, BreakpointRow, QueuedDelegate, QueuedRow, RowsModel, make_list
from studio.ui.debug.setup_list import SetupList
from studio.ui.paint.breakpoint_look import look_of
from studio.ui.state import WatchList
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
        self.row.setSpacing(3)
        self.row.addWidget(Label(theme, title, "section"))
        self.count = Chip(theme, "0", height=15)
        self.row.addWidget(self.count)
        self.row.addStretch(1)

    def paintEvent(self, _event: QPaintEvent) -> None:
        if self._ruled:
            QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))


class DebugPanel(Panel):
    """The list of all breakpoints with switches, and what waits while the run is paused."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._linked = LinkedFiles(self)
        self._linked.changed.connect(self.refresh)
        self._linked_read = False
        """Whether linked files were read, or are being read: done once there is a breakpoint in one."""
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self.drawing_bar = DrawingBar(theme)
        self.drawing_bar.apply.clicked.connect(self._on_apply_clicked)
        self._make_breakpoints(theme)
        self._make_queued(theme)
        self.setup_list = SetupList(theme)
        self.tool_bar = ToolBar(theme)
        self.tool_bar.give.clicked.connect(partial(self._command, "tool_result"))
        self.reset_bar = ResetBar(theme)
        for bar in (self.drawing_bar, self.tool_bar, self.reset_bar):
            outer.addWidget(bar)
        outer.addWidget(self._heading)
        outer.addWidget(self._breakpoint_stack)
        outer.addWidget(self.setup_list)
        outer.addSpacing(6)
        self.watch = WatchList(theme)
        outer.addWidget(self.watch)
        outer.addWidget(self._queued_heading)
        outer.addWidget(self._queued_stack, 1)
        for view in (self.breakpoints, self.queued):
            view.installEventFilter(self)
        self.setMinimumWidth(180)

    def _make_breakpoints(self, theme: Theme) -> None:
        self.breakpoints = make_list(tr("Breakpoints"))
        self.breakpoint_model = RowsModel(self)
        self.breakpoints.setModel(self.breakpoint_model)
        delegate = BreakpointDelegate(theme, self.breakpoints)
        delegate.toggled.connect(self.toggle)
        self.breakpoints.setItemDelegate(delegate)
        self.breakpoints.clicked.connect(self._on_breakpoints_clicked)
        self.breakpoints.doubleClicked.connect(self._on_breakpoints_double_clicked)
        self.breakpoints.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.breakpoints.customContextMenuRequested.connect(self._on_breakpoints_menu_requested)
        self._heading = _Heading(theme, tr("Breakpoints"), ruled=False)
        self.add_button = self._small_button("plus", tr("Add a breakpoint…"), self.add)
        self.all_button = self._small_button("own:octagon-off", tr("Switch all breakpoints off or on"), self.switch_all)
        self._remove_all = self._small_button("trash-2", tr("Remove all breakpoints"), self._on_remove_all_clicked)
        for button in (self.add_button, self.all_button, self._remove_all):
            self._heading.row.addWidget(button)
        self._breakpoint_stack = self._stacked(self.breakpoints, tr("Press F9 on a node to stop before it."))

    def _make_queued(self, theme: Theme) -> None:
        self.queued = make_list(tr("Queued messages"))
        self.queued_model = RowsModel(self)
        self.queued.setModel(self.queued_model)
        self.queued.setItemDelegate(QueuedDelegate(theme, self.queued))
        self.queued.clicked.connect(self._on_queued_clicked)
        self._queued_heading = _Heading(theme, tr("Queued messages"), ruled=True)
        self.inject_button = self._small_button("plus", tr("Inject a message…"), partial(self._command, "inject"))
        self.state_button = self._small_button("braces", tr("Change shared state…"), partial(self._command, "state"))
        for button in (self.inject_button, self.state_button):
            self._queued_heading.row.addWidget(button)
        self.queued.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.queued.customContextMenuRequested.connect(self._on_queued_menu_requested)
        self._queued_stack = self._stacked(self.queued, tr("Messages wait here while a run is paused."))

    def _small_button(self, icon: str, text: str, act: Callable[[], None]) -> Button:
        made = Button(self.theme, "", icon, "plain", small=True)
        made.setToolTip(text)
        made.setAccessibleName(text)
        made.clicked.connect(lambda _checked=False: act())
        return made

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
        self._linked_read = False
        self.watch.set_workspace(self.workspace)
        self.refresh()

    def refresh(self) -> None:
        """Shows breakpoints, run configuration and queued messages as they are."""
        workspace = self.workspace
        breakpoints = self._breakpoint_rows(workspace) if workspace is not None else []
        queued = self._queued_rows(workspace) if workspace is not None else []
        self.breakpoint_model.show_rows(breakpoints)
        self.queued_model.show_rows(queued)
        self._heading.count.set_text(str(len(breakpoints)))
        self._heading.count.setVisible(bool(breakpoints))
        self.add_button.setVisible(workspace is not None)
        self.all_button.setVisible(bool(breakpoints))
        self._remove_all.setVisible(bool(breakpoints))
        self._queued_heading.count.set_text(str(len(queued)))
        self._queued_heading.count.setVisible(bool(queued))
        self._breakpoint_stack.setCurrentIndex(0 if breakpoints else 1)
        self._breakpoint_stack.setFixedHeight(self.theme.length(38) * min(len(breakpoints), 6) if breakpoints else 48)
        self._queued_stack.setCurrentIndex(0 if queued else 1)
        changeable = workspace is not None and workspace.run.can("edit")[0]
        self.inject_button.setVisible(changeable)
        self.state_button.setVisible(changeable)
        self.tool_bar.show_call(workspace)
        self.reset_bar.show_resets(workspace)
        self.setup_list.show_setup(workspace)
        differs = workspace.run.drawing_differs if workspace is not None else ()
        self.drawing_bar.show_names(differs)

    def toggle(self, id: str) -> None:
        """Switches a breakpoint off or on; it stays in the list."""
        setup = self._setup
        found = setup.breakpoints.get(id) if setup is not None else None
        if setup is not None and found is not None:
            setup.switch(id, on=not found.enabled)

    def switch_all(self) -> None:
        """Switches all off, or on if none is on."""
        setup = self._setup
        if setup is not None:
            setup.switch_all(on=not any(b.enabled for b in setup.breakpoints))

    def remove(self, id: str) -> None:
        """Takes a breakpoint away."""
        if self._setup is not None:
            self._setup.remove(id)

    def add(self) -> None:
        """Asks for a new breakpoint: at what is selected, else at an error."""
        if self.workspace is not None:
            items = self.workspace.selection.items
            node = self.workspace.document.workflow.node(items[0]) if len(items) == 1 else None
            self._ask(Breakpoint("node", items[0]) if node is not None else Breakpoint("error"))

    def edit(self, id: str) -> None:
        """Opens a breakpoint to change it."""
        found = self._setup.breakpoints.get(id) if self._setup is not None else None
        if found is not None:
            self._ask(found)

    def edit_at(self, place: str) -> None:
        """Opens the breakpoint of a node or line, or a new one for it."""
        if self.workspace is None or self._setup is None:
            return
        known = next((b for b in self._setup.breakpoints if b.place == place), None)
        node = self.workspace.document.workflow.node(place) is not None
        self._ask(known or Breakpoint("node" if node else "edge", place))

    def _ask(self, breakpoint: Breakpoint) -> None:
        from studio.ui.debug.breakpoint_dialog import BreakpointDialog  # with the editor of conditions: when needed

        if self.workspace is not None:
            self._linked_read = False  # what the dialog shows is read anew
            setup = self.workspace.run.setup
            BreakpointDialog(self.theme, self.workspace, breakpoint, setup.put, self.window()).open()

    @property
    def _setup(self) -> RunSetup | None:
        return self.workspace.run.setup if self.workspace is not None else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and isinstance(watched, QListView):
            row = watched.currentIndex().data(_ROLE) if watched.currentIndex().isValid() else None
            if self._key(event.key(), row, bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)):
                return True
        return super().eventFilter(watched, event)

    def _key(self, key: int, row: BreakpointRow | QueuedRow | None, control: bool) -> bool:
        enter = key in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(row, BreakpointRow):
            if key == Qt.Key.Key_Space:
                self.toggle(row.id)
            elif key == Qt.Key.Key_Delete:
                self.remove(row.id)
            elif enter:
                self._jump(row)
            elif key == Qt.Key.Key_F2:
                self.edit(row.id)
            else:
                return False
            return True
        if isinstance(row, QueuedRow) and self.workspace is not None:
            if key == Qt.Key.Key_Delete:
                self.workspace.run.drop_queued(row.message)
            elif enter:
                self.workspace.selection.look_at_message(row.message)
            elif key == Qt.Key.Key_D and control:
                self.workspace.run.duplicate_queued(row.message)
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
        hit = run.held_by
        if not self._linked_read and any("/" in b.place for b in run.setup.breakpoints):
            self._linked_read = True
            self._linked.read(workflow, workspace.document.folder)
        return [self._breakpoint_row(workflow, b, run.setup.breakpoints, hit) for b in run.setup.breakpoints]

    def _breakpoint_row(
        self, workflow: Workflow, breakpoint: Breakpoint, live: Breakpoints, hit: frozenset[str]
    ) -> BreakpointRow:
        title, said = row_words(workflow, breakpoint, self._linked.workflows)
        notes = [said]
        if breakpoint.condition is not None:
            notes.append(tr("if {condition}").format(condition=describe(breakpoint.condition)))
        if breakpoint.from_hit > 1:
            notes.append(tr("from hit {number} on").format(number=breakpoint.from_hit))
        if breakpoint.log:
            notes.append(live.logged.get(breakpoint.id) or tr("logs “{text}”").format(text=breakpoint.log))
        if breakpoint.id in hit:
            notes.append(tr("paused here"))
        elif not breakpoint.enabled:
            notes.append(tr("off"))
        hits = live.hits.get(breakpoint.id, 0)
        return BreakpointRow(
            breakpoint.id, title, breakpoint.enabled, breakpoint.id in hit, " · ".join(filter(None, notes)),
            str(hits) if hits else "", look_of(breakpoint),
        )  # fmt: skip

    def _queued_rows(self, workspace: Workspace) -> list[QueuedRow]:
        workflow = workspace.document.workflow
        rows = []
        for view in workspace.run.queued:
            source = source_name(workflow, view.source, view.purpose)
            target = ", ".join(target_names(workflow, view.target, view.edges)) or "–"
            rows.append(QueuedRow(view.message, f"{source} → {target}", view.text, view.edited))
        return rows

    def _jump(self, row: BreakpointRow) -> None:
        found = self._setup.breakpoints.get(row.id) if self._setup is not None else None
        if self.workspace is not None and found is not None:
            place = node_of(self.workspace.document.workflow, found)
            if place:
                self.workspace.selection.reveal(place)

    def _on_breakpoints_clicked(self, index: QModelIndex) -> None:
        row = index.data(_ROLE)
        if isinstance(row, BreakpointRow):
            self._jump(row)

    def _on_breakpoints_double_clicked(self, index: QModelIndex) -> None:
        row = index.data(_ROLE)
        if isinstance(row, BreakpointRow):
            self.edit(row.id)

    def _on_breakpoints_menu_requested(self, at: QPoint) -> None:
        row = self.breakpoints.indexAt(at).data(_ROLE)
        if not isinstance(row, BreakpointRow):
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Edit…"), partial(self.edit, row.id))
        menu.addAction(tr("Switch off") if row.on else tr("Switch on"), partial(self.toggle, row.id))
        menu.addAction(tr("Go to it"), partial(self._jump, row))
        menu.addSeparator()
        menu.addAction(tr("Remove"), partial(self.remove, row.id))
        menu.popup(self.breakpoints.viewport().mapToGlobal(at))

    def _on_queued_clicked(self, index: QModelIndex) -> None:
        row = index.data(_ROLE)
        if isinstance(row, QueuedRow) and self.workspace is not None:
            self.workspace.selection.look_at_message(row.message)

    def _on_remove_all_clicked(self) -> None:
        if self._setup is not None:
            self._setup.remove_all()

    def _on_queued_menu_requested(self, at: QPoint) -> None:
        row = self.queued.indexAt(at).data(_ROLE)
        if not isinstance(row, QueuedRow) or self.workspace is None:
            return
        run, selection = self.workspace.run, self.workspace.selection
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Edit"), partial(selection.look_at_message, row.message))
        menu.addAction(tr("Duplicate"), partial(run.duplicate_queued, row.message))
        menu.addAction(tr("Drop"), partial(run.drop_queued, row.message))
        menu.popup(self.queued.viewport().mapToGlobal(at))

    def _command(self, command: str, _checked: bool = False) -> None:
        if self.workspace is not None:
            items = self.workspace.selection.items
            self.workspace.selection.command_requested.emit(command, items[0] if len(items) == 1 else "")

    def _on_apply_clicked(self) -> None:
        if self.workspace is not None:
            self.workspace.run.apply_drawing()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.queued or update.everything:
            self.refresh()

    def _on_document_changed(self, _changes: object) -> None:
        self.refresh()
