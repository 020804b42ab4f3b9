"""Rows of the debug panel: breakpoints and queued messages, painted by delegates."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.ui.paint import OctagonVariant, draw_octagon
from studio.ui.text import tip
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import paint_box

Index = QModelIndex | QPersistentModelIndex
_ROLE = Qt.ItemDataRole.UserRole


@dataclass(frozen=True, slots=True)
class BreakpointRow:
    """``on`` False: switched off but remembered; ``hit``: the run is held here; ``count``: how often it was hit."""

    id: str
    name: str
    on: bool
    hit: bool
    note: str
    count: str = ""
    look: OctagonVariant = "on"


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """A message that waits."""

    message: str
    title: str
    text: str
    edited: bool = False


class RowsModel(QAbstractListModel):
    """Replaces its rows; keeps them if nothing changed."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.rows: list[BreakpointRow | QueuedRow] = []

    def show_rows(self, rows: list[BreakpointRow] | list[QueuedRow]) -> None:
        """Shows these rows."""
        if rows == self.rows:
            return
        if len(rows) == len(self.rows):
            self.rows = list(rows)
            self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self.rows = list(rows)
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == _ROLE:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole):
            said = f"{row.name}, {row.note}" if isinstance(row, BreakpointRow) else f"{row.title}: {row.text[:200]}"
            return said if role == Qt.ItemDataRole.DisplayRole else tip(said)
        if role == Qt.ItemDataRole.CheckStateRole and isinstance(row, BreakpointRow):
            return Qt.CheckState.Checked if row.on else Qt.CheckState.Unchecked
        return None


class _TwoLines(QStyledItemDelegate):
    """Two lines, 38 high."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(120, self.theme.length(38))

    def ground(self, painter: QPainter, option: QStyleOptionViewItem, *, marked: bool = False) -> None:
        """The background of a row and the accent bar of the focus."""
        state, rect = option.state, option.rect
        selected = bool(state & QStyle.StateFlag.State_Selected)
        if selected or marked:
            painter.fillRect(rect, self.theme.color("sel"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, self.theme.color("hover"))
        if selected and state & QStyle.StateFlag.State_HasFocus:
            painter.fillRect(rect.left(), rect.top(), 2, rect.height(), self.theme.color("accent"))

    def words(self, painter: QPainter, x: int, right: int, top: int, first: str, second: str) -> None:
        """Title and the muted line below."""
        for text, font, token, y in ((first, "body", "text", 15.0), (second, "small", "muted", 30.0)):
            painter.setFont(self.theme.font(font))
            painter.setPen(self.theme.color(token))
            shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, right - x)
            painter.drawText(x, top + self.theme.length(y), shown)


class BreakpointDelegate(_TwoLines):
    """Box, octagon, name, note, number of stops. A click on the box switches."""

    toggled = Signal(str)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: BreakpointRow = index.data(_ROLE)
        rect = option.rect
        painter.save()
        self.ground(painter, option, marked=row.hit)
        state = Qt.CheckState.Checked if row.on else Qt.CheckState.Unchecked
        middle = rect.top() + rect.height() / 2
        paint_box(painter, self.theme, rect.left() + 12, middle - 7, state)
        variant: OctagonVariant = "hit" if row.hit else row.look if row.on else "off"
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_octagon(painter, self.theme, QRectF(rect.left() + 34, middle - 8, 16, 16), variant)
        painter.setFont(self.theme.font("small"))
        width = painter.fontMetrics().horizontalAdvance(row.count)
        painter.setPen(self.theme.color("muted"))
        painter.drawText(rect.right() - 11 - width, rect.top() + self.theme.length(23), row.count)
        self.words(painter, rect.left() + 58, rect.right() - 19 - width, rect.top(), row.name, row.note)
        painter.restore()

    def editorEvent(self, event: QEvent, model: object, option: QStyleOptionViewItem, index: Index) -> bool:
        if isinstance(event, QMouseEvent) and event.type() == QEvent.Type.MouseButtonRelease:
            box = option.rect.adjusted(0, 0, 30 - option.rect.width(), 0)
            if box.contains(event.position().toPoint()):
                row: BreakpointRow = index.data(_ROLE)
                self.toggled.emit(row.id)
                return True
        return False


class QueuedDelegate(_TwoLines):
    """Envelope, from and to, the beginning of the text."""

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: QueuedRow = index.data(_ROLE)
        rect = option.rect
        painter.save()
        self.ground(painter, option)
        ratio = painter.device().devicePixelRatio()
        icon = self.theme.pixmap("own:message", 15, "wait_t" if row.edited else "run_t", ratio)
        painter.drawPixmap(rect.left() + 12, rect.top() + (rect.height() - 15) // 2, icon)
        text = " ".join(row.text[:300].split())
        self.words(painter, rect.left() + 36, rect.right() - 11, rect.top(), row.title, text)
        painter.restore()


def make_list(name: str) -> QListView:
    """A list as high as its rows, without a frame."""
    made = QListView()
    made.setAccessibleName(name)
    made.setUniformItemSizes(True)
    made.setMouseTracking(True)
    made.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return made
