"""The outline: the drawing as a tree in run order; everything on the canvas can be reached here too."""

from __future__ import annotations

from contextlib import suppress
from functools import partial

from PySide6.QtCore import QModelIndex, QObject, QPoint, Qt, QThreadPool, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QMenu, QTreeView, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.thread_work import quietly
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.changes import ChangeSet
from studio.document.lines import name_of
from studio.document.model import JoinNode, Workflow
from studio.document.order import run_order
from studio.document.problems import Problem
from studio.ui.outline.delegate import ROW_ROLE, OutlineDelegate
from studio.ui.outline.model import Marks, OutlineModel, Table
from studio.ui.outline.tree import Row, outline
from studio.ui.outline.tree_view import OutlineTree
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted

_FRAME_MS = 16
MANY, LATER_MS = 400, 60
"""With more nodes or selected items than this the canvas goes first, and the tree follows so many milliseconds
later."""

_BESIDE = 100


class _Found(QObject):
    """Brings the rows that a thread made back to the loop; lives until the thread has told it."""

    told = Signal(object, object)
    """Workflow, table of its rows."""


def _find(found: _Found, workflow: Workflow) -> None:
    """In a thread: documents are frozen."""
    table = Table(outline(workflow))
    with suppress(RuntimeError):  # the program has ended
        found.told.emit(workflow, table)


class OutlinePanel(QWidget):
    """Follows document, run, problems and selection; clicking selects and reveals, the menu edits."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._shown: Workflow | None = None
        """The document whose rows are in the tree."""
        self._asked: _Found | None = None
        self._marked: set[str] | None = set()
        """Items of which a run changed the marks; None: any may have others."""
        self._following = False
        """The tree shows the selection: its own change is not a click."""
        self.model = OutlineModel(self._marks, self)
        self.tree = OutlineTree(theme, self)
        self.tree.setModel(self.model)
        self.tree.setHeaderHidden(True)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setIndentation(15)
        self.tree.setUniformRowHeights(True)
        self.tree.setMouseTracking(True)
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.setSelectionMode(QTreeView.SelectionMode.ExtendedSelection)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.setItemDelegate(OutlineDelegate(theme, self.tree))
        self.tree.setAccessibleName(tr("Outline of the workflow"))
        self.setFocusProxy(self.tree)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.tree)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)
        self._selection_timer = QTimer(self)
        self._selection_timer.setSingleShot(True)
        self._selection_timer.setInterval(LATER_MS)
        self._selection_timer.timeout.connect(self.show_selection)
        self.tree.selectionModel().selectionChanged.connect(self._on_tree_selection_changed)
        self.tree.clicked.connect(self._on_tree_clicked)
        self.tree.activated.connect(self._on_tree_activated)
        self.tree.customContextMenuRequested.connect(self._on_tree_menu_requested)
        theme.changed.connect(self.tree.viewport().update)

    # ---- workspace

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workflow."""
        if self._workspace is not None:
            self._connect(self._workspace, on=False)
        self._workspace = workspace
        if workspace is not None:
            self._connect(workspace, on=True)
        self._show_table(Table([]))
        self._shown = None
        self.refresh()

    def _connect(self, workspace: Workspace, *, on: bool) -> None:
        for signal, slot in (
            (workspace.document.changed, self._on_document_changed),
            (workspace.run.updated, self._on_run_updated),
            (workspace.run.state_changed, self._schedule),
            (workspace.run.breakpoints_changed, self._schedule),
            (workspace.problems.changed, self._schedule),
            (workspace.selection.changed, self._on_selection_changed),
        ):
            if on:
                signal.connect(slot)
            else:
                signal.disconnect(slot)

    def _on_document_changed(self, changes: ChangeSet) -> None:
        if changes.everything or changes != ChangeSet(placed=changes.placed):
            self._schedule()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything or self._marked is None:
            self._schedule()
        elif update.nodes:
            self._marked |= update.nodes
            self._start()

    def _schedule(self) -> None:
        self._marked = None
        self._start()

    def _start(self) -> None:
        if not self._timer.isActive():
            workspace = self._workspace
            large = workspace is not None and len(workspace.document.workflow.nodes) > MANY
            self._timer.start(LATER_MS if large else _FRAME_MS)

    # ---- rows

    def refresh(self) -> None:
        """Shows the document, run and problems of now; by itself within a frame, a large document a little later."""
        self._timer.stop()
        marked, self._marked = self._marked, set()
        workspace = self._workspace
        workflow = workspace.document.workflow if workspace is not None else None
        if workflow is self._shown:
            # Marks alone changed: they are asked for when a row is painted, and the selection stays where it is.
            if marked:
                self.model.touch_items(marked)
                return
            if workflow is not None and len(workflow.nodes) > MANY:
                self.tree.viewport().update()
                return
            self.model.touch()
        elif workflow is not None and self._shown is not None and len(workflow.nodes) > MANY:
            self._find_rows(workflow)
            return
        else:
            self._shown = workflow
            self._show_table(Table(outline(workflow) if workflow is not None else []))
        self.show_selection()

    def _find_rows(self, workflow: Workflow) -> None:
        """Makes the rows of a large document in a thread; one at a time."""
        if self._asked is None:
            found = self._asked = _Found()
            found.told.connect(self._on_found_told)
            QThreadPool.globalInstance().start(quietly(lambda: _find(found, workflow)))

    def _on_found_told(self, workflow: Workflow, table: Table) -> None:
        self._asked = None
        workspace = self._workspace
        if workspace is None or workspace.document.workflow is not workflow:
            self._schedule()
            return
        self._shown = workflow
        self._show_table(table)
        self.show_selection()

    def _show_table(self, table: Table) -> None:
        beside = self._beside()
        folded = {i for i, index in self.model.branches() if not self.tree.isExpanded(index)}
        self._following = True
        if self.model.show_table(table):
            for item_id, index in self.model.branches():
                self.tree.setExpanded(index, item_id not in folded)
        if not self.tree.currentIndex().isValid():
            there = next((index for i in beside if (index := self.model.index_of(i)).isValid()), QModelIndex())
            selection = self.tree.selectionModel()
            selection.setCurrentIndex(there, selection.SelectionFlag.NoUpdate)
        self._following = False

    def _beside(self) -> list[str]:
        """The rows below and above that where the keys are, nearest first: one of them takes its place when it goes."""
        found: list[str] = []
        for step in (self.tree.indexBelow, self.tree.indexAbove) if self.tree.hasFocus() else ():
            index = self.tree.currentIndex()
            while len(found) < _BESIDE and (index := step(index)).isValid():
                found.append(index.data(ROW_ROLE).id)
        return found

    def _marks(self, item_id: str) -> Marks:
        workspace = self._workspace
        if workspace is None:
            return Marks()
        view = workspace.run.nodes.get(item_id)
        problems = [p for p in workspace.problems.at(item_id) if p.severity in ("error", "warning")]
        worst = min(problems, key=lambda p: p.severity, default=None)  # "error" comes before "warning"
        status = view.status if view is not None else ""
        severity, problem = ("", "") if worst is None else (worst.severity, worst.message)
        return Marks(status, severity, problem, item_id in workspace.run.breakpoints)

    def index_of(self, item_id: str) -> QModelIndex:
        """The row of an item; not valid if it has none."""
        return self.model.index_of(item_id)

    # ---- selection

    def show_selection(self) -> None:
        """Marks the rows of what is selected."""
        self._selection_timer.stop()
        workspace = self._workspace
        if workspace is None or self._following:
            return
        self._following = True
        selection, wanted = self.tree.selectionModel(), workspace.selection.items
        selection.select(self.model.selection_of(wanted), selection.SelectionFlag.ClearAndSelect)
        last = next((index for i in reversed(wanted) if (index := self.model.index_of(i)).isValid()), None)
        if last is not None:
            selection.setCurrentIndex(last, selection.SelectionFlag.NoUpdate)
            self.tree.scrollTo(last)
        self._following = False

    def _on_selection_changed(self) -> None:
        """A large selection is shown when the canvas has shown it."""
        if self._workspace is not None and len(self._workspace.selection.items) > MANY:
            self._selection_timer.start()
        else:
            self.show_selection()

    def _on_tree_selection_changed(self) -> None:
        workspace = self._workspace
        if self._following or workspace is None:
            return
        self._following = True
        rows = [index.data(ROW_ROLE).id for index in self.tree.selectionModel().selectedIndexes()]
        workspace.selection.select(rows)
        if len(rows) == 1 and self.tree.hasFocus():
            workspace.selection.reveal_requested.emit(rows[0])
        self._following = False

    def _on_tree_clicked(self, index: QModelIndex) -> None:
        if self._workspace is not None:
            self._workspace.selection.reveal_requested.emit(index.data(ROW_ROLE).id)

    def _on_tree_activated(self, index: QModelIndex) -> None:
        row: Row = index.data(ROW_ROLE)
        self._field(row.id, "condition" if row.kind in ("case", "direct") else "text" if row.kind == "note" else "name")

    def _field(self, item_id: str, field: str) -> None:
        if self._workspace is not None:
            self._workspace.selection.field_requested.emit(item_id, field)

    # ---- menu and keys

    def _on_tree_menu_requested(self, at: QPoint) -> None:
        index = self.tree.indexAt(at)
        if index.isValid():
            self.open_menu(index.data(ROW_ROLE).id, self.tree.viewport().mapToGlobal(at))

    def open_menu(self, item_id: str, where: QPoint) -> QMenu | None:
        """The context menu of a row."""
        workspace = self._workspace
        if workspace is None:
            return None
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        workflow = workspace.document.workflow
        node = workflow.node(item_id)
        if node is not None:
            stop = menu.addAction(tr("Breakpoint"))
            stop.setCheckable(True)
            stop.setChecked(item_id in workspace.run.breakpoints)
            stop.triggered.connect(partial(self._toggle_breakpoint, item_id))
            if not isinstance(node, JoinNode):
                menu.addAction(tr("Set as start node")).triggered.connect(partial(self._set_start, item_id))
            menu.addSeparator()
        if node is not None or workflow.edge(item_id) is not None:
            menu.addAction(tr("Rename")).triggered.connect(partial(self._rename, item_id))
            self._add_targets(menu.addMenu(tr("Connect to…")), item_id)
            menu.addSeparator()
        menu.addAction(tr("Delete")).triggered.connect(partial(self._delete, item_id))
        menu.popup(where)
        return menu

    def _add_targets(self, menu: QMenu, source: str) -> None:
        assert self._workspace is not None
        workflow = self._workspace.document.workflow
        for target in run_order(workflow):
            if not isinstance(commands.connect(workflow, source, target), Problem):
                action = menu.addAction(name_of(workflow, target))
                action.triggered.connect(partial(self._connect_items, source, target))
        if menu.isEmpty():
            menu.addAction(tr("Nothing here accepts what this sends")).setEnabled(False)

    def _toggle_breakpoint(self, node: str, _checked: bool = False) -> None:
        if self._workspace is not None:
            self._workspace.run.toggle_breakpoint(node)

    def _set_start(self, node: str, _checked: bool = False) -> None:
        assert self._workspace is not None
        document = self._workspace.document
        text = tr("Set {name} as start").format(name=name_of(document.workflow, node))
        document.execute(commands.set_start(document.workflow, node), text)

    def _rename(self, item_id: str, _checked: bool = False) -> None:
        self._field(item_id, "name")

    def _connect_items(self, source: str, target: str, _checked: bool = False) -> None:
        assert self._workspace is not None
        document = self._workspace.document
        edit = commands.connect(document.workflow, source, target)
        if not isinstance(edit, Problem):
            names = {"source": name_of(document.workflow, source), "target": name_of(document.workflow, target)}
            document.execute(edit, tr("Connect {source} with {target}").format(**names))

    def _delete(self, item_id: str, _checked: bool = False) -> None:
        assert self._workspace is not None
        document = self._workspace.document
        text = tr("Delete {name}").format(name=name_of(document.workflow, item_id))
        self._workspace.selection.select(())
        document.execute(commands.delete_items(document.workflow, (item_id,)), text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        items = self._workspace.selection.items if self._workspace is not None else ()
        match event.key():
            case Qt.Key.Key_Delete | Qt.Key.Key_Backspace if items:
                assert self._workspace is not None
                document = self._workspace.document
                edit = commands.delete_items(document.workflow, items)
                self._workspace.selection.select(())
                document.execute(edit, counted(len(items), tr("Delete 1 item"), tr("Delete {count} items")))
            case Qt.Key.Key_F2 if len(items) == 1:
                self._rename(items[0])
            case Qt.Key.Key_F9 if items:
                for item in items:
                    if self._workspace is not None and self._workspace.document.workflow.node(item) is not None:
                        self._toggle_breakpoint(item)
            case _:
                super().keyPressEvent(event)
