"""Rows of the two lists: versions, and what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PySide6.QtCore import QAbstractListModel, QModelIndex, QObject, QPersistentModelIndex, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.document.difference import ItemChange
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.versions.words import SIGNS, TOKENS, WORDS, change_name, change_words, moment, size_text

Index = QModelIndex | QPersistentModelIndex
DETAIL_ROLE = int(Qt.ItemDataRole.UserRole) + 1
SIGN_ROLE = int(Qt.ItemDataRole.UserRole) + 2
"""(sign, colour token); of versions None."""


@dataclass(frozen=True, slots=True)
class VersionRow:
    """A version that can be compared; ``on_disk``: the file itself."""

    path: Path
    saved: float
    size: int
    on_disk: bool = False

    @property
    def title(self) -> str:
        """For a sentence: "the file on disk", "the version of today 14:12"."""
        if self.on_disk:
            return tr("the file on disk")
        return tr("the version saved {moment}").format(moment=moment(self.saved).lower())


class Rows(QAbstractListModel):
    """Rows with a text, a muted detail and maybe a sign."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.items: tuple[Any, ...] = ()

    def show(self, items: Sequence[Any]) -> None:
        """Other rows."""
        self.beginResetModel()
        self.items = tuple(items)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self.items)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not 0 <= index.row() < len(self.items):
            return None
        item = self.items[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return item
        text, detail = _texts(item)
        if role == Qt.ItemDataRole.DisplayRole:
            return text
        if role == DETAIL_ROLE:
            return detail
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(f"{text} · {detail}" if detail else text)
        if isinstance(item, ItemChange):
            if role == SIGN_ROLE:
                return SIGNS[item.what], TOKENS[item.what]
            if role == Qt.ItemDataRole.AccessibleTextRole:
                return f"{tr(WORDS[item.what])}: {text}, {detail}"
        elif role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{text}, {detail}"
        return None


def _texts(item: object) -> tuple[str, str]:
    if isinstance(item, ItemChange):
        return change_name(item), change_words(item)
    assert isinstance(item, VersionRow)
    if item.on_disk:
        return tr("File on disk"), f"{moment(item.saved)} · {size_text(item.size)}"
    return moment(item.saved), size_text(item.size)


class RowDelegate(QStyledItemDelegate):
    """A sign in its colour, the text, the detail behind it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(100, self._theme.length(24))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect = self._theme, QRect(option.rect)
        state: QStyle.StateFlag = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        font = theme.font("body")
        metrics = QFontMetrics(font)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        left = rect.left() + 12
        sign = index.data(SIGN_ROLE)
        if sign is not None:
            painter.setFont(theme.font("strong"))
            painter.setPen(theme.color(sign[1]))
            painter.drawText(QRect(left, rect.top(), 14, rect.height()), Qt.AlignmentFlag.AlignCenter, sign[0])
            left += 22
        painter.setFont(font)
        painter.setPen(theme.color("text"))
        right = rect.right() - 10
        text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, right - left)
        painter.drawText(QPoint(left, baseline), text)
        left += metrics.horizontalAdvance(text) + 8
        painter.setPen(theme.color("muted"))
        detail = metrics.elidedText(str(index.data(DETAIL_ROLE)), Qt.TextElideMode.ElideRight, max(0, right - left))
        painter.drawText(QPoint(left, baseline), detail)
