"""Who has a fact: every invocation whose context has the text that is looked for."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QHeaderView, QTreeView, QVBoxLayout, QWidget

from studio.debugger.context.inspection import Holder
from studio.debugger.context.points_of_view import view_of
from studio.document.lines import node_at, path_names
from studio.document.model import Workflow
from studio.ui.context.rows import origin_title
from studio.ui.run.message_model import Index
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText


class FactTable(QWidget):
    """Enter or a click shows the invocation."""

    chosen = Signal(str)
    """An invocation."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self.model = QStandardItemModel(0, 6, self)
        self.table = QTreeView()
        self.table.setAccessibleName(tr("Who has this fact"))
        self.table.setModel(self.model)
        self.table.setRootIsDecorated(False)
        self.table.setUniformRowHeights(True)
        self.table.setAllColumnsShowFocus(True)
        self.table.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.table.header().setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self.table.activated.connect(self._on_table_activated)
        self.table.clicked.connect(self._on_table_activated)
        column.addWidget(self.table, 1)
        self.empty = EmptyText(theme, tr("Nobody has this text in its context."))
        column.addWidget(self.empty, 1)

    def show_holders(self, workflow: Workflow, holders: Sequence[Holder]) -> None:
        """Other rows: node, superstep, from where, point of view, what it has, the text."""
        self.model.clear()
        self.model.setHorizontalHeaderLabels(
            [tr("Node"), tr("Superstep"), tr("From where"), tr("Point of view"), tr("Has in its context"), tr("Text")]
        )
        for holder in holders:
            record = holder.record
            view = view_of(node_at(workflow, record.inside, record.node))
            origin = origin_title(holder.item.origin)
            texts = (
                " › ".join(path_names(workflow, record.inside, record.node)), str(record.superstep),
                origin if holder.exact else tr("{origin}, inside a longer text").format(origin=origin),
                view.name, view.has, " ".join(holder.item.text[:300].split()),
            )  # fmt: skip
            row = [QStandardItem(text) for text in texts]
            row[0].setData(record.invocation, Qt.ItemDataRole.UserRole)
            row[4].setToolTip(tip(view.has))
            row[5].setToolTip(tip(holder.item.text[:600]))
            self.model.appendRow(row)
        for at, width in enumerate((140, 76, 210, 130, 260)):
            self.table.setColumnWidth(at, width)
        self.table.header().setSectionResizeMode(5, QHeaderView.ResizeMode.Stretch)
        self.table.setVisible(bool(holders))
        self.empty.setVisible(not holders)

    def _on_table_activated(self, index: Index) -> None:
        self.chosen.emit(str(index.sibling(index.row(), 0).data(Qt.ItemDataRole.UserRole)))
