"""The state panel: shared state as a tree of keys and values."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence, QPainter, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import (
    QHeaderView,
    QStackedWidget,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.ui.run.message_model import Index
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.panel import Panel

_CHANGED = Qt.ItemDataRole.UserRole + 1
_MOST = 500
"""Children of one value that are listed."""
_DELAY = 60


def short(value: object) -> str:
    """A value in one line."""
    if isinstance(value, str):
        return json.dumps(value[:300], ensure_ascii=False)
    if isinstance(value, Mapping | list | tuple):
        word = tr("keys") if isinstance(value, Mapping) else tr("items")
        return f"{len(value)} {word}"
    try:
        return json.dumps(value, ensure_ascii=False, default=str)[:300]
    except ValueError:
        return str(value)[:300]


def children(value: object) -> list[tuple[str, object]]:
    """What is inside a value."""
    if isinstance(value, Mapping):
        return [(str(k), v) for k, v in list(value.items())[:_MOST]]
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [(str(i), v) for i, v in enumerate(value[:_MOST])]
    data = getattr(value, "data", None)
    return children(data) if isinstance(data, Mapping) else []


class StateDelegate(QStyledItemDelegate):
    """Monospaced; a value that changed in the last superstep stands on the waiting tint with a triangle."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(80, self._theme.length(25))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, option.rect
        painter.save()
        changed = bool(index.sibling(index.row(), 0).data(_CHANGED))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif changed:
            painter.fillRect(rect, theme.color("wait_s"))
        painter.setFont(theme.font("code-small"))
        painter.setPen(theme.color("text2" if index.column() else "text"))
        metrics = painter.fontMetrics()
        room = rect.width() - 26
        text = metrics.elidedText(str(index.data() or ""), Qt.TextElideMode.ElideRight, room)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(rect.left() + 4, baseline, text)
        if changed and index.column() == 1:
            painter.setFont(theme.font("tiny"))
            painter.setPen(theme.color("wait_t"))
            painter.drawText(rect.right() - 16, baseline, "▲")
        painter.restore()


class StateView(QTreeView):
    """Ctrl+C copies the value of the current key as JSON."""

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy) and self.currentIndex().isValid():
            value = self.currentIndex().siblingAtColumn(0).data(Qt.ItemDataRole.UserRole)
            QGuiApplication.clipboard().setText(json.dumps(value, ensure_ascii=False, indent=2, default=str))
        else:
            super().keyPressEvent(event)


class StatePanel(Panel):
    """Rows are kept while their key stays, so that folds stay open."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._stack = QStackedWidget()
        column.addWidget(self._stack)
        self._stack.addWidget(EmptyText(theme, tr("Nothing is shared yet. Nodes write here with set_state.")))
        self.model = QStandardItemModel(0, 2, self)
        self.model.setHorizontalHeaderLabels([tr("Key"), tr("Value")])
        self.tree = StateView()
        self.tree.setAccessibleName(tr("Shared state"))
        self.tree.setModel(self.model)
        self.tree.setItemDelegate(StateDelegate(theme, self.tree))
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(16)
        header = self.tree.header()
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.resizeSection(0, 220)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.Stretch)
        self._stack.addWidget(self.tree)
        self._values: dict[str, Any] = {}
        self._step = -1
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self.refresh)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        self._timer.stop()

    def show_workspace(self) -> None:
        self.model.removeRows(0, self.model.rowCount())
        self._values = {}
        self._step = -1
        self.refresh(first=True)

    def refresh(self, *, first: bool = False) -> None:
        """Shows the shared state as it is."""
        run = self.workspace.run if self.workspace is not None else None
        state: Mapping[str, Any] = run.shared_state if run is not None else {}
        step = len(run.supersteps) if run is not None else 0
        if step != self._step:
            self._step = step
            for row in range(self.model.rowCount()):
                self.model.item(row).setData(False, _CHANGED)
        for row in range(self.model.rowCount() - 1, -1, -1):
            if self.model.item(row).text() not in state:
                self.model.removeRow(row)
        rows = {self.model.item(row).text(): row for row in range(self.model.rowCount())}
        for key, value in state.items():
            if key not in rows:
                self._append(self.model.invisibleRootItem(), key, value, changed=not first)
            elif self._values.get(key) != value:
                self._change(rows[key], value)
        self._values = dict(state)
        self._stack.setCurrentIndex(1 if state else 0)

    def _append(self, parent: QStandardItem, key: str, value: object, *, changed: bool = False) -> None:
        name, text = QStandardItem(key), QStandardItem(short(value))
        name.setData(value, Qt.ItemDataRole.UserRole)
        name.setData(changed, _CHANGED)
        for inner, item in children(value):
            self._append(name, inner, item)
        parent.appendRow([name, text])

    def _change(self, row: int, value: object) -> None:
        name = self.model.item(row)
        name.setData(value, Qt.ItemDataRole.UserRole)
        name.setData(True, _CHANGED)
        self.model.item(row, 1).setText(short(value))
        name.removeRows(0, name.rowCount())
        for inner, item in children(value):
            self._append(name, inner, item)

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self.show_workspace()
        elif (update.shared_state or update.supersteps) and not self._timer.isActive():
            self._timer.start()
