"""The tree of the outline: rows are painted over the full width, arrows stand where the design has them."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem, QTreeView, QWidget

from studio.ui.paint import ink
from studio.ui.paint.svgpath import parse
from studio.ui.text import tr
from studio.ui.theme import Theme

INDENT = 15
_FOLDED, _OPEN = parse("m6.2 4 4 4-4 4"), parse("m4 6.2 4 4 4-4")


class OutlineTree(QTreeView):
    """Selection and hover fill the row; the focused row has an accent bar at its start."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setIndentation(INDENT)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.model().rowCount() == 0:
            painter = QPainter(self.viewport())
            painter.setFont(self._theme.font("body"))
            painter.setPen(self._theme.color("muted"))
            room = self.viewport().rect().adjusted(16, 12, -16, -12)
            words = tr("Nodes and edges appear here in the order in which they run.")
            painter.drawText(room, Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap, words)

    def drawRow(
        self, painter: QPainter, options: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        tools = ink(self._theme)
        rect = QRect(0, options.rect.top(), self.viewport().width(), options.rect.height())
        if self.selectionModel().isSelected(index):
            painter.fillRect(rect, tools.brush("sel"))
        elif options.state & QStyle.StateFlag.State_MouseOver and self.underMouse():
            painter.fillRect(rect, tools.brush("hover"))
        if index == self.currentIndex() and self.hasFocus():
            painter.fillRect(QRect(0, rect.top(), 2, rect.height()), tools.brush("accent"))
        self.drawBranches(painter, rect, index)
        self.itemDelegate().paint(painter, self._row_option(options, index), index)

    def _row_option(
        self, options: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QStyleOptionViewItem:
        option = QStyleOptionViewItem(options)
        option.rect = self.visualRect(index)
        return option

    def drawBranches(self, painter: QPainter, rect: QRect, index: QModelIndex | QPersistentModelIndex) -> None:
        if not self.model().hasChildren(index):
            return
        depth, parent = 0, index.parent()
        while parent.isValid():
            depth, parent = depth + 1, parent.parent()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.translate(12 + INDENT * depth, rect.center().y() - 5.5)
        painter.scale(0.75, 0.75)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(ink(self._theme).pen("text2", 1.6))
        painter.drawPath(_OPEN if self.isExpanded(index) else _FOLDED)
        painter.restore()
