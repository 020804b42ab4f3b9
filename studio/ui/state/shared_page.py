"""Shared state at a moment: keys and values, and beside them every value that the chosen key had."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHBoxLayout, QHeaderView, QSplitter, QStackedWidget, QTreeView, QVBoxLayout, QWidget

from studio.bridge.run_views import begun
from studio.bridge.state_history import ABSENT, Written
from studio.bridge.workspace import Workspace
from studio.document.lines import name_of
from studio.ui.state.moments import NOW
from studio.ui.state.values import VALUE, ValueDelegate, ValueTree, short, whole
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.text_fields import TextBox


class KeyHistory(QWidget):
    """The values of one key, newest first, and the whole of the chosen one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._seen: object = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        head = QHBoxLayout()
        head.setContentsMargins(11, 5, 11, 5)
        self.title = Elided(theme, "", "section")
        head.addWidget(self.title)
        column.addLayout(head)
        self.rows = QStandardItemModel(0, 3, self)
        self.rows.setHorizontalHeaderLabels([tr("Superstep"), tr("Written by"), tr("Value")])
        self.list = QTreeView()
        self.list.setAccessibleName(tr("History of the key"))
        self.list.setModel(self.rows)
        self.list.setItemDelegate(ValueDelegate(theme, self.list))
        self.list.setRootIsDecorated(False)
        self.list.setUniformRowHeights(True)
        self.list.setAllColumnsShowFocus(True)
        self.list.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        header = self.list.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.resizeSection(0, theme.length(76))
        header.resizeSection(1, theme.length(120))
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        self.list.selectionModel().currentChanged.connect(lambda _now, _before: self._show_whole())
        column.addWidget(self.list, 1)
        self.whole = TextBox(theme, lines=2, line_height=17)
        self.whole.max_lines = 4
        self.whole.set_read_only(True)
        self.whole.setAccessibleName(tr("Whole value"))
        foot = QHBoxLayout()
        foot.setContentsMargins(8, 4, 8, 6)
        foot.addWidget(self.whole)
        column.addLayout(foot)

    def show_key(self, workspace: Workspace | None, key: str, inner: object) -> None:
        """Shows the history of a key; ``inner`` is what is chosen inside its value, shown whole."""
        writes = workspace.run.state_history.of(key) if workspace is not None else ()
        seen = (key, len(writes), writes[-1] if writes else None)
        if seen != self._seen:
            self._seen = seen
            self.title.set_text(tr("History of {key}").format(key=key) if key else tr("History"))
            self.rows.removeRows(0, self.rows.rowCount())
            for written in reversed(writes):
                self._append(workspace, written)
        self.whole.show_value(whole(inner))

    def _append(self, workspace: Workspace | None, written: Written) -> None:
        step = str(written.superstep) if written.step else tr("start")
        who = tr("by hand") if written.step else tr("as declared")
        if written.node and workspace is not None:
            who = name_of(workspace.document.workflow, written.node)
        value = tr("taken away") if written.value is ABSENT else short(written.value)
        items = [QStandardItem(text) for text in (step, who, value)]
        items[0].setData(written.value, VALUE)
        self.rows.appendRow(items)

    def _show_whole(self) -> None:
        index = self.list.currentIndex()
        if index.isValid():
            self.whole.show_value(whole(index.siblingAtColumn(0).data(VALUE)))


class SharedPage(QStackedWidget):
    """``tree`` marks what the last superstep before the shown moment changed."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self.addWidget(EmptyText(theme, tr("Nothing is shared yet. Nodes write here with set_state.")))
        self.tree = ValueTree(theme, tr("Shared state"), (tr("Key"), tr("Value")))
        self.tree.watching = True
        self.tree.chosen.connect(self._on_tree_chosen)
        self.tree.watched.connect(self._on_tree_watched)
        self.history = KeyHistory(theme)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self.tree)
        splitter.addWidget(self.history)
        splitter.setSizes([560, 440])
        self.addWidget(splitter)

    def show_moment(self, workspace: Workspace | None, moment: int) -> None:
        """Shows the state at a moment."""
        self._workspace = workspace
        state: Mapping[str, Any] = {}
        before: Mapping[str, Any] = {}
        if workspace is not None:
            run = workspace.run
            step = begun(run.supersteps) if moment == NOW else moment
            state = run.shared_state if moment == NOW else run.state_history.at(step)
            before = run.state_history.at(step - 1) if step else state
        self.tree.show_values(state, before)
        self.setCurrentIndex(1 if state else 0)

    def _on_tree_chosen(self) -> None:
        self.history.show_key(self._workspace, self.tree.key(), self.tree.value())

    def _on_tree_watched(self, key: str) -> None:
        if self._workspace is not None:
            self._workspace.run.setup.watch(watch_of(key))


def watch_of(key: str) -> str:
    """A watch expression for a key: its name, or the way to it for one that is no name."""
    named = all(part.isidentifier() for part in key.split("."))
    return key if named else f"state[{key!r}]"
