"""A column of the context inspector: a heading, and groups of items that fold."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetrics, QGuiApplication, QPainter, QPen, QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QMenu, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QTreeView, QVBoxLayout, QWidget

from studio.debugger.context.items import Item
from studio.ui.context.rows import Column, Group
from studio.ui.run.message_model import Index
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Elided, Label, paint_chip

_DATA = Qt.ItemDataRole.UserRole
_MARKED = Qt.ItemDataRole.UserRole + 1
_CHIP = 62


class ItemDelegate(QStyledItemDelegate):
    """A group: its title, a note, its tokens. An item: its role, who said it, what, its tokens."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(60, self._theme.length(25))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        theme, rect, data = self._theme, option.rect, index.data(_DATA)
        painter.save()
        marked = bool(index.data(_MARKED))
        if option.state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, theme.color("sel"))
        elif marked:
            painter.fillRect(rect, theme.color("wait_s"))
        elif option.state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, theme.color("hover"))
        if isinstance(data, Group):
            self._group(painter, QRectF(rect), data)
        elif isinstance(data, Item):
            self._item(painter, QRectF(rect), data, marked)
        painter.restore()

    def _text(self, painter: QPainter, rect: QRectF, x: float, text: str, font: str, token: str, room: float) -> float:
        painter.setFont(self._theme.font(font))
        painter.setPen(QPen(self._theme.color(token)))
        metrics = painter.fontMetrics()
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, round(room)))
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) / 2
        painter.drawText(QPointF(x, baseline), shown)
        return float(metrics.horizontalAdvance(shown))

    def _tokens(self, painter: QPainter, rect: QRectF, tokens: int) -> float:
        """Paints the tokens at the right; gives where they begin."""
        text = str(tokens) if tokens else ""
        width = QFontMetrics(self._theme.font("small", tabular=True)).horizontalAdvance(text)
        left = rect.right() - 10 - width
        self._text(painter, rect, left, text, "small", "muted", width + 2)
        return left - 8

    def _group(self, painter: QPainter, rect: QRectF, group: Group) -> None:
        theme = self._theme
        painter.fillRect(QRectF(rect.left(), rect.bottom(), rect.width(), 1), theme.color("line"))
        if group.hint:
            self._text(painter, rect, rect.left() + 4, group.hint, "body", "muted", rect.width() - 12)
            return
        right = self._tokens(painter, rect, group.tokens)
        x = rect.left() + 2
        x += self._text(painter, rect, x, group.title, "strong", "text", right - x) + 7
        note = " · ".join(part for part in (group.note, str(len(group.items)) if group.items else "") if part)
        self._text(painter, rect, x, note, "body", "muted", right - x)

    def _item(self, painter: QPainter, rect: QRectF, item: Item, marked: bool) -> None:
        theme, x = self._theme, rect.left() + 2
        chip = QRectF(x, rect.top() + 4, _CHIP, rect.height() - 8)
        changed = item.role_original and item.role_original != item.role
        paint_chip(painter, theme, chip, f"{item.role} ⤺" if changed else item.role, square=True)
        right = self._tokens(painter, rect, item.tokens)
        if marked:
            right -= 16
            ratio = painter.device().devicePixelRatio()
            painter.drawPixmap(QPointF(right, rect.center().y() - 6), theme.pixmap("copy", 12, "wait_t", ratio))
            right -= 6
        x += _CHIP + 8
        who = item.author or item.origin_ref if item.role in ("state", "inside") or item.author else ""
        if who:
            x += self._text(painter, rect, x, who, "body", "muted", (right - x) / 2) + 5
        self._text(painter, rect, x, " ".join(item.text[:300].split()), "body", "text", right - x)


class ContextColumn(QWidget):
    """Enter or a double click reads an item whole."""

    read_requested = Signal(object)
    """An :class:`Item`."""
    fact_requested = Signal(str)
    """A text whose holders the user wants to see."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.column = Column("", "", ())
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        head = QWidget()
        inner = QVBoxLayout(head)
        inner.setContentsMargins(12, 7, 10, 7)
        inner.setSpacing(2)
        self._title = Label(theme, "", "strong")
        self._subtitle = Elided(theme, "", "small", "muted")
        inner.addWidget(self._title)
        inner.addWidget(self._subtitle)
        box.addWidget(head)
        self.model = QStandardItemModel(0, 1, self)
        self.tree = QTreeView()
        self.tree.setModel(self.model)
        self.tree.setHeaderHidden(True)
        self.tree.setItemDelegate(ItemDelegate(theme, self.tree))
        self.tree.setUniformRowHeights(True)
        self.tree.setIndentation(14)
        self.tree.setMouseTracking(True)
        self.tree.setEditTriggers(QTreeView.EditTrigger.NoEditTriggers)
        self.tree.setExpandsOnDoubleClick(False)
        self.tree.activated.connect(self._on_tree_activated)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._on_tree_menu_requested)
        box.addWidget(self.tree, 1)

    def show_column(self, column: Column, marked: Collection[str] = frozenset()) -> None:
        """Shows other groups; ``marked`` are ids of items that a warning is about."""
        self.column = column
        self._title.setText(column.title)
        self._subtitle.set_text(" · ".join(part for part in (column.subtitle, column.summary) if part))
        self.tree.setAccessibleName(column.title)
        self.model.clear()
        for group in column.groups:
            row = QStandardItem()
            row.setData(group, _DATA)
            row.setData(group.hint or f"{group.title} {group.note}", Qt.ItemDataRole.AccessibleTextRole)
            row.setToolTip(tip(group.hint))
            for item in group.items:
                child = QStandardItem()
                child.setData(item, _DATA)
                child.setData(item.id in marked, _MARKED)
                child.setData(f"{item.role} {item.author} {item.text[:200]}", Qt.ItemDataRole.AccessibleTextRole)
                child.setToolTip(tip(_tip(item)))
                row.appendRow(child)
            self.model.appendRow(row)
        self.tree.expandAll()

    def _on_tree_activated(self, index: Index) -> None:
        data = index.data(_DATA)
        if isinstance(data, Item):
            self.read_requested.emit(data)

    def _on_tree_menu_requested(self, place: QPoint) -> None:
        item = self.tree.indexAt(place).data(_DATA)
        if not isinstance(item, Item):
            return
        menu = QMenu(self)
        menu.addAction(tr("Read all of it")).triggered.connect(lambda: self.read_requested.emit(item))
        menu.addAction(tr("Who has this fact?")).triggered.connect(lambda: self.fact_requested.emit(item.text))
        menu.addAction(tr("Copy text")).triggered.connect(lambda: QGuiApplication.clipboard().setText(item.text))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.tree.viewport().mapToGlobal(place))


def _tip(item: Item) -> str:
    if item.role_original and item.role_original != item.role:
        return tr("The host shows this message of role {old} as one of role {new}.").format(
            old=item.role_original, new=item.role
        )
    return item.text[:600]
