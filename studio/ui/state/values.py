"""Values as a tree of keys: one line each, what is inside below it, changed ones marked."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QHeaderView,
    QMenu,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QWidget,
)

from studio.agents.messages import Message
from studio.bridge.state_history import ABSENT
from studio.ui.text import tr
from studio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
VALUE = Qt.ItemDataRole.UserRole
CHANGED = Qt.ItemDataRole.UserRole + 1
_MOST = 500
"""Children of one value that are listed."""


class Parts(dict[str, object]):
    """A mapping that is told by its keys, not by how many there are."""


def short(value: object) -> str:
    """A value in one line."""
    if value is ABSENT:
        return "–"
    if isinstance(value, str):
        return json.dumps(value[:300], ensure_ascii=False)
    if isinstance(value, Message):
        return " ".join(value.text[:300].split()) or ", ".join(type(part).__name__ for part in value.parts)
    if isinstance(value, Parts):
        return ", ".join(value)
    if isinstance(value, Mapping):
        return tr("1 key") if len(value) == 1 else tr("{count} keys").format(count=len(value))
    if isinstance(value, list | tuple):
        return tr("1 item") if len(value) == 1 else tr("{count} items").format(count=len(value))
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__name__
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:300]
    except ValueError:
        return str(value)[:300]


def children(value: object) -> list[tuple[str, object]]:
    """What is inside a value."""
    if isinstance(value, Message):
        return [] if value.text and len(value.parts) == 1 else [(type(p).__name__, p) for p in value.parts]
    if isinstance(value, Mapping):
        return [(str(k), v) for k, v in list(value.items())[:_MOST]]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [(f"{i} {v.role}" if isinstance(v, Message) else str(i), v) for i, v in enumerate(value[:_MOST])]
    data = getattr(value, "data", None)
    if isinstance(data, Mapping):
        return children(data)
    if is_dataclass(value) and not isinstance(value, type):
        return [(f.name, getattr(value, f.name)) for f in fields(value)]
    return []


def whole(value: object) -> str:
    """A value as a text to read and copy: a text as it is, anything else as JSON."""
    if value is ABSENT:
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, Message) and value.text:
        return value.text
    return json.dumps(plain(value), ensure_ascii=False, indent=2, default=str)


def plain(value: object) -> object:
    """Messages and other objects as what JSON can hold."""
    if isinstance(value, Mapping):
        return {str(key): plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    if is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    return value


class ValueDelegate(QStyledItemDelegate):
    """Monospaced; a value that changed in the last superstep stands on the waiting tint with a triangle."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.length(25))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, option.rect
        painter.save()
        changed = bool(index.sibling(index.row(), 0).data(CHANGED))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif changed:
            painter.fillRect(rect, theme.color("wait_s"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        painter.setFont(theme.font("code-small"))
        painter.setPen(theme.color("text2" if index.column() else "text"))
        metrics = painter.fontMetrics()
        room = rect.width() - (26 if changed else 10)
        text = metrics.elidedText(str(index.data() or ""), Qt.TextElideMode.ElideRight, room)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(rect.left() + 4, baseline, text)
        if changed and index.column() == 1:
            painter.setFont(theme.font("tiny"))
            painter.setPen(theme.color("wait_t"))
            painter.drawText(rect.right() - 16, baseline, "▲")
        painter.restore()


class ValueTree(QTreeView):
    """Ctrl+C copies the value of the current row. Rows that stay keep what is unfolded below them."""

    chosen = Signal()
    """Another row is the current one, or its value changed."""
    watched = Signal(str)
    """The user wants to watch a key."""

    def __init__(self, theme: Theme, name: str, titles: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.watching = False
        """Whether keys can be watched."""
        self.rows = QStandardItemModel(0, len(titles), self)
        self.rows.setHorizontalHeaderLabels(list(titles))
        self.setAccessibleName(name)
        self.setModel(self.rows)
        self.setItemDelegate(ValueDelegate(theme, self))
        self.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.setUniformRowHeights(True)
        self.setAllColumnsShowFocus(True)
        self.setMouseTracking(True)
        self.setIndentation(16)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.customContextMenuRequested.connect(self._on_menu_requested)
        header = self.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.resizeSection(0, theme.length(220))
        for column in range(1, len(titles)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self.selectionModel().currentChanged.connect(lambda _now, _before: self.chosen.emit())

    def value(self) -> object:
        """The value of the current row; :data:`studio.bridge.state_history.ABSENT` if there is none."""
        index = self.currentIndex()
        return index.siblingAtColumn(0).data(VALUE) if index.isValid() else ABSENT

    def key(self) -> str:
        """The outermost key of the current row; "" if there is none."""
        index = self.currentIndex().siblingAtColumn(0)
        while index.parent().isValid():
            index = index.parent()
        return str(index.data() or "")

    def show_values(self, values: Mapping[str, object], before: Mapping[str, object] | None = None) -> None:
        """Shows these keys. With ``before``, those with another value then are marked as changed."""
        model = self.rows
        for row in range(model.rowCount() - 1, -1, -1):
            if model.item(row).text() not in values:
                model.removeRow(row)
        rows = {model.item(row).text(): row for row in range(model.rowCount())}
        for key, value in values.items():
            changed = before is not None and before.get(key, ABSENT) != value
            if key not in rows:
                self._append(model.invisibleRootItem(), key, value)
                rows[key] = model.rowCount() - 1
            elif model.item(rows[key]).data(VALUE) != value:
                self._change(rows[key], value)
            if model.item(rows[key]).data(CHANGED) is not changed:
                model.item(rows[key]).setData(changed, CHANGED)
        self.chosen.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            self.copy()
        else:
            super().keyPressEvent(event)

    def copy(self) -> None:
        """Copies the value of the current row."""
        QGuiApplication.clipboard().setText(whole(self.value()))

    def _append(self, parent: QStandardItem, key: str, value: object) -> None:
        name, text = QStandardItem(key), QStandardItem(short(value))
        name.setData(value, VALUE)
        for inner, item in children(value):
            self._append(name, inner, item)
        parent.appendRow([name, text])

    def _change(self, row: int, value: object) -> None:
        name = self.rows.item(row)
        name.setData(value, VALUE)
        self.rows.item(row, 1).setText(short(value))
        name.removeRows(0, name.rowCount())
        for inner, item in children(value):
            self._append(name, inner, item)

    def _on_menu_requested(self, at: QPoint) -> None:
        index = self.indexAt(at)
        if not index.isValid():
            return
        self.setCurrentIndex(index)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(tr("Copy value"), self.copy)
        if self.watching:
            key = self.key()
            menu.addAction(tr("Watch {key}").format(key=key), lambda: self.watched.emit(key))
        menu.popup(self.viewport().mapToGlobal(at))
