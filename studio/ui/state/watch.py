"""Watch expressions: a list with the value now and the one before the superstep, and a field to add one."""

from __future__ import annotations

import json
from collections.abc import Mapping

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QSize,
    Qt,
    QTimer,
)
from PySide6.QtGui import QGuiApplication, QKeyEvent, QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QListView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_views import RunUpdate, begun
from studio.bridge.state_history import ABSENT
from studio.bridge.watches import WatchValues, WatchView
from studio.bridge.workspace import Workspace
from studio.ui.state.values import plain, short, whole
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label

Index = QModelIndex | QPersistentModelIndex
_ROLE = Qt.ItemDataRole.UserRole
_ROW = 25
_MOST = 8
"""Rows after which the list scrolls."""
_DELAY = 60


class _Rows(QAbstractListModel):
    """One row per expression."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: list[WatchView] = []

    def show_rows(self, rows: list[WatchView]) -> None:
        """Shows these rows."""
        if len(rows) != len(self.rows):
            self.beginResetModel()
            self.rows = rows
            self.endResetModel()
        elif rows != self.rows:
            self.rows = rows
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == _ROLE:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return f"{row.expression}: {words(row)}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(row.problem or f"{row.expression}\n{whole(row.value)[:2000]}")
        return None


def words(row: WatchView) -> str:
    """What a row says of its value: "14 was 9"."""
    if row.problem:
        return "–" if row.missing else row.problem
    if not row.changed:
        return _value(row.value)
    return tr("{value} was {before}").format(value=_value(row.value), before=_value(row.before))


def _value(value: object) -> str:
    if value is None:
        return "–"
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(plain(value), ensure_ascii=False, default=str)[:300]
    return short(value)


class _Delegate(QStyledItemDelegate):
    """Expression at the left, value behind it; changed ones on the waiting tint with a triangle."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.length(_ROW))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, option.rect
        row: WatchView = index.data(_ROLE)
        painter.save()
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif row.changed:
            painter.fillRect(rect, theme.color("wait_s"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.setFont(theme.font("code-small"))
        metrics = painter.fontMetrics()
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        left = rect.left() + 12
        shown, whole_width = words(row), rect.width() - 20 - (18 if row.changed else 0)
        value_width = min(metrics.horizontalAdvance(shown), int(whole_width * 0.45))
        share = min(max(metrics.horizontalAdvance(row.expression) + 10, theme.length(94)), whole_width - value_width)
        painter.setPen(theme.color("text"))
        painter.drawText(left, baseline, metrics.elidedText(row.expression, Qt.TextElideMode.ElideRight, share - 8))
        room = rect.right() - left - share - (22 if row.changed else 8)
        painter.setPen(theme.color("muted" if row.missing else "fail_t" if row.problem else "text2"))
        painter.drawText(left + share, baseline, metrics.elidedText(shown, Qt.TextElideMode.ElideRight, room))
        if row.changed:
            painter.setFont(theme.font("tiny"))
            painter.setPen(theme.color("wait_t"))
            painter.drawText(rect.right() - 16, baseline, "▲")
        painter.restore()


class WatchList(QWidget):
    """Enter or a double click changes a row, Delete takes it away, Ctrl+C copies its value."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        self._values = WatchValues()
        self._stale = False
        self._edited = ""
        """The expression that the field changes; "" : it adds one."""
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(self._make_head(theme))
        self.model = _Rows(self)
        self.list = QListView()
        self.list.setAccessibleName(tr("Watch expressions"))
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(theme, self.list))
        self.list.setMouseTracking(True)
        self.list.setFrameShape(QListView.Shape.NoFrame)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._on_menu_requested)
        self.list.doubleClicked.connect(lambda index: self.edit(index.data(_ROLE).expression))
        self.list.installEventFilter(self)
        column.addWidget(self.list)
        self.field = QLineEdit()
        self.field.setProperty("small", True)
        self.field.setPlaceholderText(tr("sources, len(join.in), writer.tokens"))
        self.field.setAccessibleName(tr("Watch expression"))
        self.field.returnPressed.connect(self._on_field_entered)
        self.field.installEventFilter(self)
        self.field.hide()
        row = QHBoxLayout()
        row.setContentsMargins(10, 2, 10, 4)
        row.addWidget(self.field)
        column.addLayout(row)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self._on_timer_timeout)
        self.refresh()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows the watches of another workflow."""
        if self._workspace is not None:
            self._workspace.run.updated.disconnect(self._on_run_updated)
            self._workspace.run.breakpoints_changed.disconnect(self.refresh)
            self._timer.stop()
        self._workspace = workspace
        if workspace is not None:
            workspace.run.updated.connect(self._on_run_updated)
            workspace.run.breakpoints_changed.connect(self.refresh)
        self.field.hide()
        self.refresh()

    def refresh(self) -> None:
        """Shows what the expressions give now."""
        self._stale = False
        workspace = self._workspace
        rows: list[WatchView] = []
        if workspace is not None:
            run = workspace.run
            rows = self._values.views(run.setup.watches, run, workspace.document.workflow)
        self.model.show_rows(rows)
        self.list.setFixedHeight(self._theme.length(_ROW) * min(len(rows), _MOST))
        self.add_button.setVisible(workspace is not None)
        self.when.setText(_moment(workspace) if workspace is not None and rows else "")

    def add(self) -> None:
        """Asks for a new expression."""
        self._begin("")

    def edit(self, expression: str) -> None:
        """Lets the user change an expression."""
        self._begin(expression)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        if watched is self.field and event.key() == Qt.Key.Key_Escape:
            self.field.hide()
            self.list.setFocus()
            return True
        row = self.list.currentIndex().data(_ROLE) if watched is self.list else None
        if row is None:
            return super().eventFilter(watched, event)
        if event.key() == Qt.Key.Key_Delete:
            self._put("", row.expression)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F2):
            self.edit(row.expression)
        elif event.key() == Qt.Key.Key_C and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            QGuiApplication.clipboard().setText(_copied(row))
        else:
            return super().eventFilter(watched, event)
        return True

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, self.width(), 1, self._theme.color("line"))

    def _make_head(self, theme: Theme) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setContentsMargins(12, 3, 6, 3)
        head.setSpacing(6)
        head.addWidget(Label(theme, tr("Watch"), "section"))
        head.addStretch(1)
        self.when = Label(theme, "", "small", "muted")
        head.addWidget(self.when)
        self.add_button = Button(theme, "", "plus", "plain", small=True)
        self.add_button.setToolTip(tr("Watch a state key or an expression…"))
        self.add_button.setAccessibleName(self.add_button.toolTip())
        self.add_button.clicked.connect(self.add)
        head.addWidget(self.add_button)
        return head

    def _begin(self, expression: str) -> None:
        self._edited = expression
        self.field.setText(expression)
        self.field.show()
        self.field.setFocus()
        self.field.selectAll()

    def _put(self, expression: str, instead_of: str) -> None:
        if self._workspace is not None:
            self._workspace.run.setup.watch(expression, instead_of=instead_of)

    def _on_field_entered(self) -> None:
        expression = self.field.text().strip()
        if expression or self._edited:
            self._put(expression, self._edited)
        self.field.hide()
        self.list.setFocus()

    def _on_menu_requested(self, at: QPoint) -> None:
        row = self.list.indexAt(at).data(_ROLE)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        if isinstance(row, WatchView):
            menu.addAction(tr("Change…"), lambda: self.edit(row.expression))
            menu.addAction(tr("Copy value"), lambda: QGuiApplication.clipboard().setText(_copied(row)))
            menu.addAction(tr("Remove"), lambda: self._put("", row.expression))
            menu.addSeparator()
        menu.addAction(tr("Watch a state key or an expression…"), self.add)
        menu.popup(self.list.viewport().mapToGlobal(at))

    def _on_run_updated(self, update: RunUpdate) -> None:
        touched = update.everything or update.shared_state or update.supersteps or update.queued or update.nodes
        if touched and self.model.rows and not self._timer.isActive():
            self._timer.start()

    def _on_timer_timeout(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self.refresh()


def _moment(workspace: Workspace) -> str:
    """What the values belong to: "after superstep 3"."""
    steps = workspace.run.supersteps
    count = begun(steps)
    if not count:
        return ""
    last = steps[count - 1]
    text = tr("in superstep {number}") if last.ended is None else tr("after superstep {number}")
    return text.format(number=last.number)


def _copied(row: WatchView) -> str:
    return row.problem or whole(ABSENT if row.value is None else row.value)
