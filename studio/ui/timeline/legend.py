"""What the marks mean; stands below the tree."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline.glyphs import draw_glyph
from studio.ui.timeline.plan import Glyph


class Legend(QWidget):
    """One row, 30 high."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(30)

    def paintEvent(self, _event: QPaintEvent) -> None:
        marks: tuple[tuple[Glyph, str], ...] = (
            ("input", tr("input")),
            ("superstep", tr("after a superstep")),
            ("answers", tr("answers delivered")),
            ("finished", tr("finished")),
            ("broken", tr("cannot be restored")),
        )
        painter = QPainter(self)
        painter.fillRect(0, 0, self.width(), 1, self._theme.color("line"))
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = self._theme.font("small")
        metrics = QFontMetrics(font)
        x = 14
        for glyph, text in marks:
            draw_glyph(painter, self._theme, x + 8, 15.5, glyph, "text2")
            painter.setFont(font)
            painter.setPen(self._theme.color("muted"))
            painter.drawText(QPoint(x + 22, 15 + (metrics.ascent() - metrics.descent()) // 2 + 1), text)
            x += 22 + metrics.horizontalAdvance(text) + 16
