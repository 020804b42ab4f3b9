"""The undo stack as rows: the state before every step, then one row a step."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QUndoStack
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.ui.text import tip, tr
from studio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
NOW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""-1 before the step that was done last, 0 it, 1 undone."""
SAVED_ROLE = int(Qt.ItemDataRole.UserRole) + 2


class StepRows(QAbstractListModel):
    """Row 0 is the document as it was opened; row n is the document after step n."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._stack: QUndoStack | None = None

    def show(self, stack: QUndoStack | None) -> None:
        """Shows a stack as it is now."""
        self.beginResetModel()
        self._stack = stack
        self.endResetModel()

    @property
    def now(self) -> int:
        """The row of the document as it is."""
        return self._stack.index() if self._stack is not None else -1

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() or self._stack is None else self._stack.count() + 1

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if self._stack is None or not index.isValid():
            return None
        row = index.row()
        now, saved = self._stack.index(), self._stack.cleanIndex()
        text = self._stack.text(row - 1) if row else tr("As it was opened")
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            return text if role == Qt.ItemDataRole.DisplayRole else tip(text)
        if role == NOW_ROLE:
            return (row > now) - (row < now)
        if role == SAVED_ROLE:
            return row == saved
        if role == Qt.ItemDataRole.AccessibleTextRole:
            words = [text]
            words += [tr("now")] if row == now else [tr("undone")] if row > now else []
            words += [tr("saved")] if row == saved else []
            return ", ".join(words)
        return None


class StepDelegate(QStyledItemDelegate):
    """An arrow at the document as it is, undone steps muted, a disk where it was saved."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(100, self._theme.length(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, QRect(option.rect)
        state: QStyle.StateFlag = option.state
        now = index.data(NOW_ROLE)
        if now == 0:
            painter.fillRect(rect, theme.color("sel"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        if state & QStyle.StateFlag.State_HasFocus:
            painter.setPen(theme.color("accent"))
            painter.drawRect(rect.adjusted(0, 0, -1, -1))
        ratio = painter.device().devicePixelRatio()
        middle = rect.top() + (rect.height() - 13) // 2
        if now == 0:
            painter.drawPixmap(QPoint(rect.left() + 10, middle), theme.pixmap("chevron-right", 13, "accent", ratio))
        right = rect.right() - 10
        if index.data(SAVED_ROLE):
            painter.drawPixmap(QPoint(right - 13, middle), theme.pixmap("own:save", 13, "muted", ratio))
            right -= 19
        font = theme.font("strong" if now == 0 else "body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(theme.color("muted" if now > 0 else "text"))
        left = rect.left() + 28
        text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, right - left)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        painter.drawText(QPoint(left, baseline), text)
