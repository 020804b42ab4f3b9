"""A row of "Where it came from"."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.ui.text import tip
from studio.ui.theme import Theme
from studio.ui.widgets.labels import chip_width, paint_chip
from studio.ui.widgets.tiles import paint_tile


class TrailRow(QWidget):
    """Tile, name, what it sent, and the superstep; deeper rows are indented."""

    def __init__(self, theme: Theme, kind: str, name: str, text: str, where: str, *, depth: int) -> None:
        super().__init__()
        self._theme, self._kind, self._name, self._where, self._depth = theme, kind, name, where, depth
        self._text = " ".join(text.split())
        self.setFixedHeight(theme.length(30))
        self.setToolTip(tip(text[:2000]))
        self.setAccessibleName(f"{name}, {where}, {self._text}")

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter, theme = QPainter(self), self._theme
        x = 12 + self._depth * 10
        middle = self.height() / 2
        paint_tile(painter, theme, QRectF(x, middle - 9, 18, 18), self._kind)
        x += 26
        body, small = theme.font("body"), theme.font("small")
        metrics, narrow = QFontMetrics(body), QFontMetrics(small)
        baseline = (self.height() + metrics.ascent() - metrics.descent()) // 2
        width = chip_width(theme, self._where)
        chip = QRectF(self.width() - 12 - width, middle - theme.length(18) / 2, width, theme.length(18))
        paint_chip(painter, theme, chip, self._where, square=True)
        painter.setFont(body)
        painter.setPen(theme.color("text"))
        name = metrics.elidedText(self._name, Qt.TextElideMode.ElideRight, int(chip.left()) - x - 40)
        painter.drawText(x, baseline, name)
        x += metrics.horizontalAdvance(name) + 8
        painter.setFont(small)
        painter.setPen(theme.color("muted"))
        room = int(chip.left()) - 8 - x
        painter.drawText(x, baseline, narrow.elidedText(self._text, Qt.TextElideMode.ElideRight, room))
