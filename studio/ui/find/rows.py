"""The hits of a search as rows of a table, and how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QModelIndex, QObject, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from studio.document.lines import line, name_of
from studio.document.model import Workflow
from studio.document.searching import Hit
from studio.document.text_slots import TextSlot
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.table_rows import Index, TableRows

COLUMNS = ("Text", "Where")


class HitRows(TableRows):
    """Two columns: the line with the hit, and where it is. The hit itself is the ``UserRole``."""

    titles = COLUMNS

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hits: list[Hit] = []
        self._workflow: Workflow | None = None
        self._places: dict[str, str] = {}

    @property
    def hits(self) -> Sequence[Hit]:
        """All hits."""
        return self._hits

    def hit(self, row: int) -> Hit | None:
        """The hit of a row."""
        return self._hits[row] if 0 <= row < len(self._hits) else None

    def start(self, workflow: Workflow | None) -> None:
        """Begins with no rows, for hits of this document."""
        self.beginResetModel()
        self._hits, self._workflow, self._places = [], workflow, {}
        self.endResetModel()

    def add(self, hits: Sequence[Hit]) -> None:
        """More hits at the end."""
        first = len(self._hits)
        self.beginInsertRows(QModelIndex(), first, first + len(hits) - 1)
        self._hits += hits
        self.endInsertRows()

    def count(self) -> int:
        return len(self._hits)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        hit = self.hit(index.row())
        if hit is None:
            return None
        if role == Qt.ItemDataRole.UserRole:
            return hit
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return hit.excerpt()[0] if index.column() == 0 else self._where(hit)
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(hit.slot.text[:1000] if index.column() == 0 else self._where(hit))
        return None

    def _where(self, hit: Hit) -> str:
        place = hit.slot.place
        if place not in self._places:
            self._places[place] = place_name(self._workflow, hit.slot) if self._workflow is not None else ""
        return where_words(self._places[place], hit)


def where_words(place: str, hit: Hit) -> str:
    """ "Writer · Instructions, line 2"."""
    inside = " › ".join(hit.slot.inside)
    parts = (inside or place, tr(hit.slot.title))
    words = " · ".join(part for part in parts if part)
    return tr("{where}, line {line}").format(where=words, line=hit.line) if "\n" in hit.slot.text else words


def place_name(workflow: Workflow, slot: TextSlot) -> str:
    """What a person calls the node, line or note that holds a text; "" for the workflow."""
    if not slot.place:
        return ""
    if any(note.id == slot.place for note in workflow.notes):
        return ""
    found = line(workflow, slot.place)
    if found is None:
        return name_of(workflow, slot.place)
    return f"{name_of(workflow, found.source)} → {name_of(workflow, found.target)}"


class HitDelegate(QStyledItemDelegate):
    """The hit in the line has a tint; a hit far to the right is brought into view."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, _option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(100, self._theme.length(26))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("sel"))
        elif state & QStyle.StateFlag.State_MouseOver:
            painter.fillRect(rect, self._theme.color("hover"))
        painter.fillRect(QRect(rect.left(), rect.bottom(), rect.width(), 1), self._theme.color("line"))
        hit = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(hit, Hit):
            return
        font = self._theme.font("body")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        baseline = rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2
        room = rect.width() - 18
        if index.column() == 1:
            painter.setPen(self._theme.color("muted"))
            text = metrics.elidedText(str(index.data()), Qt.TextElideMode.ElideRight, room)
            painter.drawText(QPoint(rect.left() + 10, baseline), text)
            return
        self._paint_line(painter, QRect(rect.left() + 10, rect.top(), room, rect.height()), metrics, hit, baseline)

    def _paint_line(self, painter: QPainter, rect: QRect, metrics: QFontMetrics, hit: Hit, baseline: int) -> None:
        text, start, end = hit.excerpt()
        before, found = text[:start], text[start:end]
        most = max(0, rect.width() - metrics.horizontalAdvance(found) - 40)
        if metrics.horizontalAdvance(before) > most:
            before = metrics.elidedText(before, Qt.TextElideMode.ElideLeft, most)
        x = rect.left() + metrics.horizontalAdvance(before)
        width = min(metrics.horizontalAdvance(found), rect.right() - x)
        tint = QRect(x - 1, rect.center().y() - metrics.height() // 2, width + 2, metrics.height())
        painter.fillRect(tint, self._theme.color("wait_s"))
        painter.setPen(self._theme.color("text"))
        line_text = metrics.elidedText(before + text[start:], Qt.TextElideMode.ElideRight, rect.width())
        painter.drawText(QPoint(rect.left(), baseline), line_text)
