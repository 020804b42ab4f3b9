"""The rounded tile of a node kind, and of the other things that have an inspector, as a widget."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.ui.paint import draw_kind
from studio.ui.theme import Theme

_OTHERS: dict[str, tuple[str, str, str]] = {
    "message": ("own:message", "run_s", "run_t"),
    "checkpoint": ("history", "soft", "accent"),
    "several": ("layers", "sunken", "text2"),
    "workflow": ("network", "sunken", "text2"),
    "note": ("own:note", "wait_s", "wait_t"),
}


def paint_tile(painter: QPainter, theme: Theme, rect: QRectF, kind: str) -> None:
    """The tile of a kind: 22 px in headers, 18 px in lists."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    other = _OTHERS.get(kind)
    if other is None:
        draw_kind(painter, theme, rect, kind)
        return
    icon, ground, ink = other
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(theme.color(ground))
    painter.drawRoundedRect(rect, 5, 5)
    at = QPoint(round(rect.center().x() - 7), round(rect.center().y() - 7))
    painter.drawPixmap(at, theme.pixmap(icon, 14, ink, painter.device().devicePixelRatio()))


class KindTile(QWidget):
    """A tile as a widget."""

    def __init__(self, theme: Theme, kind: str, size: int = 22, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._kind, self._size = theme, kind, size
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(self._size, self._size)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_tile(painter, self._theme, QRectF(self.rect()), self._kind)
