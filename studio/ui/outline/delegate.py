"""Rows of the outline, painted like the palette's: tile or glyph, name, muted detail, marks at the right."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from studio.ui.outline.tree import Row
from studio.ui.paint import KIND_ICONS, ChipText, Ink, draw_badge, draw_glyph, draw_kind, draw_octagon, ink, scene_font
from studio.ui.text import one_line, tr
from studio.ui.theme import Theme

ROW_ROLE = int(Qt.ItemDataRole.UserRole) + 1
STATUS_ROLE = int(Qt.ItemDataRole.UserRole) + 2
SEVERITY_ROLE = int(Qt.ItemDataRole.UserRole) + 3
BREAKPOINT_ROLE = int(Qt.ItemDataRole.UserRole) + 4
_PLAIN = frozenset({"join", "switch", "fan_out", "fan_in", "direct"})
"""Kinds that are shown as a glyph without a tile."""


class OutlineDelegate(QStyledItemDelegate):
    """24 high; start flag, output tag, run state, problems mark and octagon from right to left."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        return QSize(80, self._theme.length(24))

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        row = index.data(ROW_ROLE)
        if not isinstance(row, Row):
            return
        tools, theme = ink(self._theme), self._theme
        rect = option.rect
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        x = self._paint_front(painter, tools, rect, row)
        right = self._paint_marks(painter, tools, rect, row, index)
        font, _ = scene_font(theme, "body")
        painter.setFont(font)
        metrics = QFontMetrics(font)
        room = max(0, right - x)
        name = metrics.elidedText(one_line(row.name), Qt.TextElideMode.ElideRight, room)
        painter.setPen(tools.color("text"))
        label = QRect(x, rect.top(), room, rect.height())
        painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, name)
        if row.detail:
            used = metrics.horizontalAdvance(name) + 4
            painter.setPen(tools.color("muted"))
            rest = metrics.elidedText(f"· {row.detail}", Qt.TextElideMode.ElideRight, max(0, room - used))
            painter.drawText(label.adjusted(used, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, rest)
        painter.restore()

    def _paint_front(self, painter: QPainter, tools: Ink, rect: QRect, row: Row) -> int:
        x, middle = rect.left() + 17, rect.center().y() + 0.5
        if row.mark:
            painter.setFont(self._theme.font("code-small"))
            painter.setPen(tools.color("muted"))
            painter.drawText(QRect(x - 8, rect.top(), 14, rect.height()), Qt.AlignmentFlag.AlignCenter, row.mark)
            return x + 10
        if row.kind in _PLAIN:
            draw_glyph(painter, tools, KIND_ICONS[row.kind].removeprefix("own:"), x + 2.5, middle - 6.5, 13, "muted")
        else:
            draw_kind(painter, self._theme, QRectF(x, middle - 9, 18, 18), row.kind)
        return x + 26

    def _paint_marks(
        self,
        painter: QPainter,
        tools: Ink,
        rect: QRect,
        row: Row,
        index: QModelIndex | QPersistentModelIndex,
    ) -> int:
        """Paints from the right; returns where the text must end."""
        x, middle = rect.right() - 10.0, rect.center().y() + 0.5
        if row.output:
            chip = ChipText(self._theme, tr("output"), look="plain", small=True)
            x -= chip.width
            chip.paint(painter, x, middle - chip.height / 2)
            x -= 4
        if row.start:
            x -= 13
            draw_glyph(painter, tools, "flag", x, middle - 6.5, 13, "accent")
            x -= 4
        severity = index.data(SEVERITY_ROLE)
        if severity in ("error", "warning"):
            x -= 13
            name, token = ("error", "fail_t") if severity == "error" else ("problem", "wait_t")
            draw_glyph(painter, tools, name, x, middle - 6.5, 13, token)
            x -= 4
        status = str(index.data(STATUS_ROLE) or "")
        if status and status not in ("idle", "queued"):
            x -= 14
            draw_badge(painter, self._theme, QRectF(x, middle - 7, 14, 14), status)
            x -= 4
        if index.data(BREAKPOINT_ROLE):
            x -= 14
            draw_octagon(painter, self._theme, QRectF(x, middle - 7, 14, 14), "on")
            x -= 4
        return round(x)
