"""Rows of lists whose items are kinds: tile, name, and a hint at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from studio.ui.paint.ink import ink, scene_font
from studio.ui.paint.marks import draw_kind
from studio.ui.theme import Theme

KIND_ROLE = int(Qt.ItemDataRole.UserRole) + 1
HINT_ROLE = int(Qt.ItemDataRole.UserRole) + 2
HEADER_ROLE = int(Qt.ItemDataRole.UserRole) + 3
"""True for a heading between rows."""


class KindDelegate(QStyledItemDelegate):
    """Paints a row like the palette of the design: 27 high, tile 22, hint muted at the right."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(120, self._theme.length(26 if index.data(HEADER_ROLE) else 27))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tools, theme = ink(self._theme), self._theme
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        text = str(index.data(Qt.ItemDataRole.DisplayRole) or "")
        if index.data(HEADER_ROLE):
            painter.setFont(scene_font(theme, "small", weight=600)[0])
            painter.setPen(tools.color("muted"))
            painter.drawText(rect.adjusted(12, 5, -12, 0), Qt.AlignmentFlag.AlignVCenter, text)
            painter.restore()
            return
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, tools.brush("sel"))
            if state & QStyle.StateFlag.State_HasFocus:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), tools.brush("accent"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, tools.brush("hover"))
        tile = QRectF(rect.left() + 12, rect.center().y() - 10.5, 22, 22)
        draw_kind(painter, theme, tile, str(index.data(KIND_ROLE) or ""))
        hint = str(index.data(HINT_ROLE) or "")
        painter.setFont(scene_font(theme, "small")[0])
        room = painter.fontMetrics().horizontalAdvance(hint) + 12 if hint else 0
        painter.setPen(tools.color("muted"))
        painter.drawText(rect.adjusted(0, 0, -12, 0), Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight, hint)
        painter.setFont(scene_font(theme, "body")[0])
        painter.setPen(tools.color("text"))
        label = rect.adjusted(42, 0, -12 - room, 0)
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, label.width())
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
