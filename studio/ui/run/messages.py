"""The messages panel: a table to filter, and beside or below it the message that is selected."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QResizeEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QHeaderView,
    QSplitter,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.message_chain import nodes_of
from studio.bridge.run_views import MessageView, RunUpdate
from studio.bridge.workspace import Workspace
from studio.ui.run.message_detail import MessageDetail
from studio.ui.run.message_model import STATUS_ROLE, Index, MessageFilter, MessageModel
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Label, chip_width, paint_chip
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.search_field import SearchField
from studio.ui.widgets.sources import counted

TONES = {"queued": "run", "delivered": "done", "dropped": "fail"}


class MessageDelegate(QStyledItemDelegate):
    """Chips for type and state, plain text else; 26 high."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, self._theme.length(26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, option.rect
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.fillRect(rect.left(), rect.bottom(), rect.width(), 1, theme.color("line"))
        text = str(index.data() or "")
        column = index.column()
        if column in (3, 5):
            tone = TONES[index.data(STATUS_ROLE)] if column == 5 else ""
            width = min(chip_width(theme, text), rect.width() - 10)
            chip = QRectF(rect.left() + 10, rect.top() + 4, width, rect.height() - 8)
            paint_chip(painter, theme, chip, text, tone=tone, square=column == 3)
        else:
            painter.setFont(theme.font("body"))
            painter.setPen(theme.color("text" if column in (1, 4) else "text2"))
            metrics = painter.fontMetrics()
            shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, rect.width() - 16)
            painter.drawText(
                rect.left() + 10, rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2, shown
            )
        painter.restore()


class MessagesPanel(Panel):
    """Newest at the end; selecting a queued one also shows it in the inspector."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(self._make_bar())
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self.model = MessageModel(self)
        self.filter = MessageFilter(self)
        self.filter.setSourceModel(self.model)
        self._stack = QStackedWidget()
        self.table = self._make_table()
        self._stack.addWidget(self.table)
        self._nothing = self._make_nothing()
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(EmptyText(theme, tr("No messages yet. Every message of a run is listed here.")))
        self._splitter.addWidget(self._stack)
        self.detail = MessageDetail(theme)
        self.detail.message_chosen.connect(self.select_message)
        self._splitter.addWidget(self.detail)
        self._splitter.setSizes([760, 420])
        outer.addWidget(self._splitter, 1)
        self._choose_page()

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)

    def show_workspace(self) -> None:
        self.model.set_workspace(self.workspace)
        self.detail.show_message(self.workspace, None)
        self._choose_page()

    def count(self) -> int:
        """How many messages there are, for the tab."""
        return self.model.rowCount()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() > 1.6 * self.height()
        wanted = Qt.Orientation.Horizontal if wide else Qt.Orientation.Vertical
        if self._splitter.orientation() != wanted:
            self._splitter.setOrientation(wanted)

    def _make_bar(self) -> QHBoxLayout:
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(8)
        self.search = SearchField(self.theme, tr("Filter messages"))
        self.search.setFixedWidth(260)
        self.search.textChanged.connect(self._on_search_text_changed)
        bar.addWidget(self.search)
        self._count = Label(self.theme, "", "small", "muted")
        bar.addWidget(self._count)
        bar.addStretch(1)
        return bar

    def _make_table(self) -> QTreeView:
        table = QTreeView()
        table.setAccessibleName(tr("Messages"))
        table.setModel(self.filter)
        table.setItemDelegate(MessageDelegate(self.theme, table))
        table.setRootIsDecorated(False)
        table.setUniformRowHeights(True)
        table.setAllColumnsShowFocus(True)
        table.setMouseTracking(True)
        table.setSelectionBehavior(QTreeView.SelectionBehavior.SelectRows)
        header = table.header()
        header.setStretchLastSection(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column, width in enumerate((78, 130, 150, 110, 200, 92)):
            header.resizeSection(column, self.theme.length(width))
        header.setSectionResizeMode(4, QHeaderView.ResizeMode.Stretch)
        table.selectionModel().currentChanged.connect(self._on_table_current_changed)
        return table

    def _make_nothing(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.addStretch(1)
        column.addWidget(EmptyText(self.theme, tr("No message has this text.")))
        clear = Button(self.theme, tr("Clear filter"), small=True)
        clear.clicked.connect(self.search.clear)
        column.addWidget(clear, 0, Qt.AlignmentFlag.AlignHCenter)
        column.addStretch(1)
        return holder

    def select_message(self, message: str) -> None:
        """Selects a message in the table, and on the canvas the nodes that it came from and went to."""
        view = next((m for m in self.workspace.run.messages if m.message == message), None) if self.workspace else None
        if self.workspace is None or view is None:
            return
        if self.search.text():
            self.search.clear()
        row = self.workspace.run.messages.index(view)
        index = self.filter.mapFromSource(self.model.index(row, 0))
        if index.isValid():
            self.table.setCurrentIndex(index)
        self._mark(self.workspace, view)

    def _mark(self, workspace: Workspace, view: MessageView) -> None:
        """Selects the ends of a message on the canvas."""
        drawn = [node for node in nodes_of([view]) if workspace.document.workflow.node(node) is not None]
        workspace.selection.select(drawn)

    def _choose_page(self) -> None:
        total, shown = self.model.rowCount(), self.filter.rowCount()
        self._stack.setCurrentIndex(2 if not total else 0 if shown else 1)
        self.detail.setVisible(bool(total))
        text = tr("{shown} of {total}").format(shown=shown, total=total)
        if shown == total:
            text = counted(total, tr("1 message"), tr("{count} messages")) if total else ""
        self._count.setText(text)

    def _on_search_text_changed(self, text: str) -> None:
        self.filter.set_needle(text)
        self._choose_page()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if not (update.messages or update.queued or update.everything):
            return
        bar = self.table.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 2
        self.model.refresh(everything=update.everything)
        self._choose_page()
        if at_end:
            self.table.scrollToBottom()
        current = self.table.currentIndex()
        view = current.data(Qt.ItemDataRole.UserRole) if current.isValid() else None
        self.detail.show_message(self.workspace, view)

    def _on_table_current_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        view: MessageView | None = now.data(Qt.ItemDataRole.UserRole) if now.isValid() else None
        self.detail.show_message(self.workspace, view)
        if self.workspace is None or view is None:
            return
        if any(q.message == view.message for q in self.workspace.run.queued):
            self.workspace.selection.look_at_message(view.message)
        elif self.table.hasFocus():  # a person went there; a filter that took the row away did not
            self._mark(self.workspace, view)
