"""The outline: the drawing as a tree in run order; everything on the canvas can be reached here too."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QItemSelection, QItemSelectionRange, QModelIndex, QPoint, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QFrame, QMenu, QTreeView, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.changes import ChangeSet
from studio.document.lines import name_of
from studio.document.model import JoinNode
from studio.document.order import run_order
from studio.document.problems import Problem
from studio.ui.outline.delegate import (
    BREAKPOINT_ROLE,
    ROW_ROLE,
    SEVERITY_ROLE,
    STATUS_ROLE,
    OutlineDelegate,
)
from studio.ui.outline.tree import Row, outline
from studio.ui.outline.tree_view import OutlineTree
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.sources import counted

_FRAME_MS = 16


class OutlinePanel(QWidget):
    """Follows document, run, problems and selection; clicking selects and reveals, the menu edits."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._items: dict[str, QStandardItem] = {}
        self._rows: list[Row] = []
        self._following = False
        """The tree shows the selection: its own change is not a click."""
        self.model = QStandardItemModel(self)
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
        self._timer.setInterval(_FRAME_MS)
        self._timer.timeout.connect(self.refresh)
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
        self._rebuild([])
        self.refresh()

    def _connect(self, workspace: Workspace, *, on: bool) -> None:
        for signal, slot in (
            (workspace.document.changed, self._on_document_changed),
            (workspace.run.updated, self._on_run_updated),
            (workspace.run.state_changed, self._schedule),
            (workspace.run.breakpoints_changed, self._schedule),
            (workspace.problems.changed, self._schedule),
            (workspace.selection.changed, self.show_selection),
        ):
            if on:
                signal.connect(slot)
            else:
                signal.disconnect(slot)

    def _on_document_changed(self, changes: ChangeSet) -> None:
        if changes.everything or changes != ChangeSet(placed=changes.placed):
            self._schedule()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.nodes or update.everything:
            self._schedule()

    def _schedule(self) -> None:
        if not self._timer.isActive():
            self._timer.start()

    # ---- rows

    def refresh(self) -> None:
        """Shows the document, run and problems of now; by itself within a frame."""
        self._timer.stop()
        workspace = self._workspace
        rows = outline(workspace.document.workflow) if workspace is not None else []
        if rows != self._rows:
            self._rebuild(rows)
        if workspace is None:
            return
        for item_id, item in self._items.items():
            view = workspace.run.nodes.get(item_id)
            found = {p.severity for p in workspace.problems.at(item_id)}
            severity = "error" if "error" in found else "warning" if "warning" in found else ""
            for role, value in (
                (STATUS_ROLE, view.status if view is not None else ""),
                (SEVERITY_ROLE, severity),
                (BREAKPOINT_ROLE, item_id in workspace.run.breakpoints),
            ):
                if item.data(role) != value:
                    item.setData(value, role)
            self._describe(item)
        self.show_selection()

    def _rebuild(self, rows: list[Row]) -> None:
        folded = {i for i, item in self._items.items() if item.hasChildren() and not self.tree.isExpanded(item.index())}
        self._rows = rows
        self._following = True
        self._items.clear()
        self.model.clear()
        for row in rows:
            self.model.appendRow(self._made(row))
        for item_id, item in self._items.items():
            self.tree.setExpanded(item.index(), item_id not in folded)
        self._following = False

    def _made(self, row: Row) -> QStandardItem:
        item = QStandardItem(row.name)
        item.setData(row, ROW_ROLE)
        item.setEditable(False)
        self._items[row.id] = item
        for child in row.rows:
            item.appendRow(self._made(child))
        return item

    def _describe(self, item: QStandardItem) -> None:
        row: Row = item.data(ROW_ROLE)
        words = [row.mark, row.name, row.detail, tr("start") if row.start else "", tr("output") if row.output else ""]
        words += [str(item.data(STATUS_ROLE) or ""), str(item.data(SEVERITY_ROLE) or "")]
        words.append(tr("breakpoint") if item.data(BREAKPOINT_ROLE) else "")
        text = ", ".join(w for w in words if w and w != "idle")
        if item.accessibleText() != text:
            item.setAccessibleText(text)

    def item(self, item_id: str) -> QStandardItem | None:
        """The row of an item."""
        return self._items.get(item_id)

    # ---- selection

    def show_selection(self) -> None:
        """Marks the rows of what is selected."""
        workspace = self._workspace
        if workspace is None or self._following:
            return
        self._following = True
        selection = self.tree.selectionModel()
        wanted = [self._items[i].index() for i in workspace.selection.items if i in self._items]
        rows = QItemSelection()
        for index in wanted:
            rows.append(QItemSelectionRange(index))
        selection.select(rows, selection.SelectionFlag.ClearAndSelect)
        if wanted:
            selection.setCurrentIndex(wanted[-1], selection.SelectionFlag.NoUpdate)
            self.tree.scrollTo(wanted[-1])
        self._following = False

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
