"""What differs in shared state between any two supersteps."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QStyle,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_views import begun
from studio.bridge.state_history import ABSENT, Difference, differences
from studio.bridge.workspace import Workspace
from studio.ui.state.moments import NOW, MomentBox
from studio.ui.state.values import VALUE, Index, ValueDelegate, short, whole
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label
from studio.ui.widgets.text_fields import TextBox

_TITLES = ("Key", "Before", "After")


class _Delegate(ValueDelegate):
    """Removed values on the tint of removed text, new ones on that of inserted text."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        tone = {1: "deleted", 2: "inserted"}.get(index.column())
        if tone and index.data() != "–" and not option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(option.rect.adjusted(0, 1, -1, -1), self._theme.color(tone))
        super().paint(painter, option, index)


class DifferencePage(QWidget):
    """Compares the last superstep with the one before until the user chooses others."""

    counted = Signal(int)
    """How many values differ."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._workspace: Workspace | None = None
        self._following = True
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.one = MomentBox(theme, tr("From this moment"), now=False)
        self.other = MomentBox(theme, tr("To this moment"), now=True)
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(8)
        self.count = Label(theme, "", "small", "muted")
        bar.addWidget(self.one)
        bar.addWidget(Label(theme, tr("to"), "body", "muted"))
        bar.addWidget(self.other)
        bar.addWidget(self.count)
        bar.addStretch(1)
        column.addLayout(bar)
        for box in (self.one, self.other):
            box.activated.connect(self._on_box_activated)
        self.rows = QStandardItemModel(0, 3, self)
        self.rows.setHorizontalHeaderLabels([tr(title) for title in _TITLES])
        self.table = self._make_table(theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(self.table)
        self._stack.addWidget(EmptyText(theme, tr("Nothing differs between these two moments.")))
        self.before, self.after = TextBox(theme, lines=2), TextBox(theme, lines=2)
        self._whole = self._make_whole()
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.setHandleWidth(1)
        splitter.addWidget(self._stack)
        splitter.addWidget(self._whole)
        splitter.setSizes([640, 360])
        column.addWidget(splitter, 1)

    def show_run(self, workspace: Workspace | None, *, anew: bool = False) -> None:
        """Shows what differs now."""
        self._workspace = workspace
        self._following = self._following or anew
        steps = begun(workspace.run.supersteps) if workspace is not None else 0
        self.one.show_moments(workspace, max(0, steps - 1))
        self.other.show_moments(workspace, NOW)
        if self._following:
            self.one.choose(max(0, steps - 1))
            self.other.choose(NOW)
        self._show()

    def compare(self, one: int, other: int) -> None:
        """Compares two moments from now on."""
        self._following = False
        self.one.choose(one)
        self.other.choose(other)
        self._show()

    def _make_whole(self) -> QWidget:
        column = QVBoxLayout()
        column.setContentsMargins(8, 4, 8, 6)
        column.setSpacing(6)
        for text, name in ((self.before, tr("Whole value before")), (self.after, tr("Whole value after"))):
            text.max_lines = 5
            text.set_read_only(True)
            text.setAccessibleName(name)
            column.addWidget(text)
        column.addStretch(1)
        holder = QWidget()
        holder.setLayout(column)
        holder.hide()
        return holder

    def _make_table(self, theme: Theme) -> QTreeView:
        table = QTreeView()
        table.setAccessibleName(tr("Values that differ"))
        table.setModel(self.rows)
        table.setItemDelegate(_Delegate(theme, table))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAllColumnsShowFocus(True)
        table.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        header = table.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.resizeSection(0, theme.length(220))
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.Stretch)
        table.selectionModel().currentChanged.connect(lambda _now, _before: self._show_whole())
        return table

    def _show(self) -> None:
        found: list[Difference] = []
        if self._workspace is not None:
            run = self._workspace.run
            one = run.state_history.at(self.one.moment)
            now = self.other.moment == NOW
            found = differences(one, run.shared_state if now else run.state_history.at(self.other.moment))
        kept = self.table.currentIndex().row()
        self.rows.removeRows(0, self.rows.rowCount())
        for difference in found:
            items = [QStandardItem(" › ".join(difference.path)), QStandardItem(short(difference.before)),
                     QStandardItem(short(difference.after))]  # fmt: skip
            items[0].setData((difference.before, difference.after), VALUE)
            self.rows.appendRow(items)
        if 0 <= kept < self.rows.rowCount():
            self.table.setCurrentIndex(self.rows.index(kept, 0))
        self._stack.setCurrentIndex(0 if found else 1)
        text = tr("1 value differs") if len(found) == 1 else tr("{count} values differ").format(count=len(found))
        self.count.setText(text if found else "")
        self._show_whole()
        self.counted.emit(len(found))

    def _show_whole(self) -> None:
        index = self.table.currentIndex()
        pair = index.siblingAtColumn(0).data(VALUE) if index.isValid() else None
        self._whole.setVisible(pair is not None)
        if pair is not None:
            before, after = pair
            self.before.show_value(whole(before) if before is not ABSENT else "")
            self.after.show_value(whole(after) if after is not ABSENT else "")

    def _on_box_activated(self, _index: int) -> None:
        self._following = False
        self._show()
