"""What the marks mean, what was taken away, and which checkpoints are kept; stands below the tree."""

from __future__ import annotations

from PySide6.QtCore import QPoint
from PySide6.QtGui import QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline.glyphs import draw_glyph
from studio.ui.timeline.plan import Glyph
from studio.ui.timeline.rule_words import rules_words
from studio.ui.timeline.size_bar import SizeBar
from studio.ui.widgets.buttons import Button


class Legend(QWidget):
    """One row, 30 high."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(30)
        self.undo_button = Button(theme, "", "undo-2", "plain", small=True)
        self.keep_button = Button(theme, "", "", "plain", small=True)
        self.size_bar = SizeBar(theme, words=False)
        row = QHBoxLayout(self)
        row.setContentsMargins(10, 1, 10, 0)
        row.setSpacing(6)
        row.addStretch(1)
        for part in (self.undo_button, self.keep_button, self.size_bar):
            row.addWidget(part)
        self.undo_button.hide()

    def show_run(self, run: RunModel) -> None:
        """Shows what can be put back, the rules and the size."""
        last = run.discarded[-1] if run.discarded else None
        self.undo_button.setVisible(last is not None)
        if last is not None:
            self.undo_button.setText(tr("Put back {text}").format(text=last.text))
        self.keep_button.setText(rules_words(run.rules))
        self.keep_button.setToolTip(tr("Which checkpoints are kept, and how much room they take"))
        self.size_bar.show_sizes(run.sizes)
        self.update()

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
        x, end = 14, min(part.x() for part in (self.undo_button, self.keep_button) if not part.isHidden())
        for glyph, text in marks:
            if x + 22 + metrics.horizontalAdvance(text) > end:
                break
            draw_glyph(painter, self._theme, x + 8, 15.5, glyph, "text2")
            painter.setFont(font)
            painter.setPen(self._theme.color("muted"))
            painter.drawText(QPoint(x + 22, 15 + (metrics.ascent() - metrics.descent()) // 2 + 1), text)
            x += 22 + metrics.horizontalAdvance(text) + 16
