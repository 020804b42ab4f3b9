"""The list of supersteps: number, state, who ran, bars, seconds. Painted by a delegate; no widget a row."""

from __future__ import annotations

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QFocusEvent, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QListView, QStyle, QStyledItemDelegate, QStyleOptionViewItem, QVBoxLayout, QWidget

from studio.ui.paint import draw_badge
from studio.ui.run.rows import Row
from studio.ui.text import tip, tr
from studio.ui.theme import Theme

Index = QModelIndex | QPersistentModelIndex
HEIGHTS = {"superstep": 34, "answer": 28, "next": 37, "outputs": 34}
_TWO_LINES = 38


class SuperstepModel(QAbstractListModel):
    """Rows, replaced as little as possible."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: list[Row] = []

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self.rows)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        row = self.rows[index.row()]
        if role == Qt.ItemDataRole.UserRole:
            return row
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            number = f"{row.number} " if row.kind in ("superstep", "next") else ""
            used = f", {row.usage}" if row.usage else ""
            return f"{number}{row.title}, {row.status or row.kind}, {row.time}{used}"
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip("\n".join(text for text in (row.title, row.usage) if text))
        return None

    def flags(self, index: Index) -> Qt.ItemFlag:
        kind = self.rows[index.row()].kind
        enabled = Qt.ItemFlag.ItemIsEnabled
        return enabled | Qt.ItemFlag.ItemIsSelectable if kind in ("superstep", "outputs") else enabled

    def show_rows(self, rows: list[Row]) -> None:
        """Changes what differs; rows of the same kind and number keep their place."""
        same = 0
        limit = min(len(rows), len(self.rows))
        while same < limit and _key(rows[same]) == _key(self.rows[same]):
            same += 1
        if same < len(self.rows):
            self.beginRemoveRows(QModelIndex(), same, len(self.rows) - 1)
            del self.rows[same:]
            self.endRemoveRows()
        for i in range(same):
            if rows[i] != self.rows[i]:
                self.rows[i] = rows[i]
                self.dataChanged.emit(self.index(i), self.index(i))
        if same < len(rows):
            self.beginInsertRows(QModelIndex(), same, len(rows) - 1)
            self.rows += rows[same:]
            self.endInsertRows()


def _key(row: Row) -> tuple[str, int, str]:
    return row.kind, row.number, row.title if row.kind == "answer" else ""


class SuperstepDelegate(QStyledItemDelegate):
    """Paints a row."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        row: Row = index.data(Qt.ItemDataRole.UserRole)
        return QSize(200, self._theme.length(_TWO_LINES if row.usage else HEIGHTS[row.kind]))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row: Row = index.data(Qt.ItemDataRole.UserRole)
        rect: QRect = option.rect
        state = option.state
        painter.save()
        if state & QStyle.StateFlag.State_Selected:
            painter.fillRect(rect, self._theme.color("sel"))
            if state & QStyle.StateFlag.State_HasFocus:
                painter.fillRect(QRect(rect.left(), rect.top(), 2, rect.height()), self._theme.color("accent"))
        elif state & QStyle.StateFlag.State_MouseOver and row.kind in ("superstep", "outputs"):
            painter.fillRect(rect, self._theme.color("hover"))
        if row.kind == "answer":
            self._paint_answer(painter, rect, row)
        elif row.kind == "next":
            self._paint_next(painter, rect, row)
        elif row.kind == "outputs":
            self._paint_outputs(painter, rect, row)
        else:
            self._paint_step(painter, rect, row)
        painter.restore()

    def _paint_step(self, painter: QPainter, rect: QRect, row: Row) -> None:
        theme = self._theme
        body, small = theme.font("body"), theme.font("small", tabular=True)
        metrics = QFontMetrics(body)
        baseline = _baseline(rect, metrics)
        self._paint_number(painter, rect, str(row.number), "text")
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        draw_badge(painter, theme, QRectF(rect.left() + 38, rect.top() + (rect.height() - 14) / 2, 14, 14), row.status)
        time_width = QFontMetrics(small).horizontalAdvance(row.time)
        upper, lower = rect.top() + theme.length(16), rect.top() + theme.length(31)
        line = upper if row.usage else baseline
        bars = self._bars_rect(rect, max(34, time_width), line - metrics.ascent() // 2)
        left, right = rect.left() + 60, rect.right() - 9
        painter.setFont(body)
        painter.setPen(theme.color("text"))
        room = (bars.left() if row.bars else right - time_width) - 8 - left
        painter.drawText(QPoint(left, line), metrics.elidedText(row.title, _ELIDE, room))
        self._paint_bars(painter, bars, row)
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        if row.usage:  # below the bars, with the whole width for tokens and cost
            painter.drawText(QPoint(left, lower), QFontMetrics(small).elidedText(row.usage, _ELIDE, right - left))
        painter.drawText(QPoint(right - time_width, line), row.time)

    def _bars_rect(self, rect: QRect, time_width: int, middle: int) -> QRect:
        width = max(40, min(96, rect.width() - 170 - time_width))
        return QRect(rect.right() - 17 - time_width - width, middle - 9, width, 18)

    def _paint_bars(self, painter: QPainter, area: QRect, row: Row) -> None:
        painter.setPen(Qt.PenStyle.NoPen)
        count = len(row.bars)
        pitch = 6.0 if count <= 3 else 18.0 / count
        height = 4.0 if count <= 3 else max(1.0, pitch - 0.5)
        top = area.top() + (18 - (pitch * (count - 1) + height)) / 2
        for i, (left, width, token) in enumerate(row.bars):
            painter.setBrush(self._theme.color(token))
            wide = max(3.0, width * area.width())
            x = area.left() + min(left * area.width(), area.width() - wide)
            painter.drawRoundedRect(QRectF(x, top + i * pitch, wide, height), min(2, height / 2), min(2, height / 2))

    def _paint_answer(self, painter: QPainter, rect: QRect, row: Row) -> None:
        theme = self._theme
        small = theme.font("small")
        metrics = QFontMetrics(small)
        ratio = painter.device().devicePixelRatio()
        icon = theme.pixmap("own:hand", 13, "muted", ratio)
        painter.drawPixmap(QPoint(rect.left() + 38, rect.top() + (rect.height() - 13) // 2), icon)
        painter.setFont(small)
        baseline = _baseline(rect, metrics)
        time_left = rect.right() - 9 - metrics.horizontalAdvance(row.time)
        painter.setPen(theme.color("muted"))
        painter.drawText(QPoint(time_left, baseline), row.time)
        painter.setPen(theme.color("text2"))
        shown = metrics.elidedText(row.title, _ELIDE, time_left - 8 - rect.left() - 60)
        painter.drawText(QPoint(rect.left() + 60, baseline), shown)

    def _paint_next(self, painter: QPainter, rect: QRect, row: Row) -> None:
        theme = self._theme
        box = QRectF(rect).adjusted(6.5, 3.5, -6.5, -0.5)
        pen = QPen(theme.color("wait"), 1)
        pen.setDashPattern([3, 2])
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 5, 5)
        inner = box.toRect()
        draw_badge(painter, theme, QRectF(rect.left() + 38, inner.top() + (inner.height() - 14) / 2, 14, 14), "paused")
        self._paint_number(painter, inner.translated(-6, 0), str(row.number), "wait_t")
        small = theme.font("small")
        metrics = QFontMetrics(small)
        painter.setFont(small)
        painter.setPen(theme.color("wait_t"))
        left = inner.right() - 4 - metrics.horizontalAdvance(row.time)
        painter.drawText(QPoint(left, _baseline(inner, metrics)), row.time)
        body = theme.font("body")
        painter.setFont(body)
        wide = QFontMetrics(body)
        shown = wide.elidedText(row.title, _ELIDE, left - 8 - rect.left() - 60)
        painter.drawText(QPoint(rect.left() + 60, _baseline(inner, wide)), shown)

    def _paint_outputs(self, painter: QPainter, rect: QRect, row: Row) -> None:
        theme = self._theme
        ratio = painter.device().devicePixelRatio()
        icon = theme.pixmap("own:output", 14, "text2", ratio)
        painter.drawPixmap(QPoint(rect.left() + 38, rect.top() + (rect.height() - 14) // 2), icon)
        body = theme.font("section")
        metrics = QFontMetrics(body)
        painter.setFont(body)
        painter.setPen(theme.color("text"))
        painter.drawText(QPoint(rect.left() + 60, _baseline(rect, metrics)), row.title)
        painter.setFont(theme.font("small"))
        painter.setPen(theme.color("muted"))
        width = QFontMetrics(theme.font("small")).horizontalAdvance(row.time)
        painter.drawText(QPoint(rect.right() - 9 - width, _baseline(rect, metrics)), row.time)

    def _paint_number(self, painter: QPainter, rect: QRect, text: str, token: str) -> None:
        font = self._theme.font("section", tabular=True)
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color(token))
        x = rect.left() + 10 + (20 - metrics.horizontalAdvance(text)) // 2
        painter.drawText(QPoint(x, _baseline(rect, metrics)), text)


_ELIDE = Qt.TextElideMode.ElideRight


def _baseline(rect: QRect, metrics: QFontMetrics) -> int:
    return rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2


class _Header(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(28)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        font = self._theme.font("small")
        metrics = QFontMetrics(font)
        painter.setFont(font)
        painter.setPen(self._theme.color("muted"))
        baseline = _baseline(self.rect(), metrics)
        painter.drawText(QPoint(12, baseline), tr("Superstep"))
        time = tr("time")
        painter.drawText(QPoint(self.width() - 12 - metrics.horizontalAdvance(time), baseline), time)


class _View(QListView):
    def focusInEvent(self, event: QFocusEvent) -> None:
        """Qt makes the first row the current one when the focus comes and none is: nobody chose that."""
        none = not self.currentIndex().isValid()
        self.selectionModel().blockSignals(none)
        super().focusInEvent(event)
        if none:
            self.selectionModel().clearCurrentIndex()
        self.selectionModel().blockSignals(False)


class SuperstepList(QWidget):
    """Header and list. ``chosen`` gives the number of a superstep, 0 for the outputs."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(_Header(theme, self))
        self.view = _View(self)
        self.view.setAccessibleName(tr("Supersteps"))
        self.view.setMouseTracking(True)
        self.view.setUniformItemSizes(False)
        self.view.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.view.setItemDelegate(SuperstepDelegate(theme, self.view))
        self.model = SuperstepModel(self)
        self.view.setModel(self.model)
        self.view.selectionModel().currentChanged.connect(self._on_current_changed)
        column.addWidget(self.view, 1)
        self._quiet = False

    def show_rows(self, rows: list[Row], current: int) -> None:
        """Shows rows; ``current`` is the number that is shown, 0 the outputs."""
        self._quiet = True
        follow = len(rows) > len(self.model.rows)
        self.model.show_rows(rows)
        index = next((i for i, r in enumerate(rows) if _number(r) == current), -1)
        if index >= 0 and self.view.currentIndex().row() != index:
            self.view.setCurrentIndex(self.model.index(index))
        elif index < 0:
            self.view.clearSelection()
        if follow:
            self.view.scrollToBottom()
        self._quiet = False

    def _on_current_changed(self, now: QModelIndex, _before: QModelIndex) -> None:
        if self._quiet or not now.isValid():
            return
        number = _number(self.model.rows[now.row()])
        if number is not None:
            self.chosen.emit(number)


def _number(row: Row) -> int | None:
    return {"superstep": row.number, "outputs": 0}.get(row.kind)
