"""The bar over a drawing of an earlier run: which one it is, and what can be done with it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided


class KeptBar(QWidget):
    """Always shown: it says why nothing can be changed here."""

    compare_requested = Signal()
    copy_requested = Signal()
    leave_requested = Signal()

    def __init__(self, theme: Theme, origin: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("kept_bar")
        self.text = Elided(theme, "", "body", "text")
        words = tr("The drawing of {origin}. It can be run and restored, not changed.")
        self.text.set_text(words.format(origin=origin))
        self.compare = Button(theme, tr("Compare with now"), small=True)
        self.copy = Button(theme, tr("Open as a copy"), small=True)
        self.leave = Button(theme, tr("Close"), small=True)
        self.compare.setToolTip(tr("Shows on the canvas of the drawing as it is now what differs"))
        self.copy.setToolTip(tr("A workflow of its own in a tab, not saved yet, which can be changed"))
        self.leave.setToolTip(tr("Back to the drawing as it is now"))
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 6, 10, 6)
        row.setSpacing(6)
        row.addWidget(self.text, 1)
        for button in (self.compare, self.copy, self.leave):
            row.addWidget(button)
        self.compare.clicked.connect(self.compare_requested)
        self.copy.clicked.connect(self.copy_requested)
        self.leave.clicked.connect(self.leave_requested)
        theme.changed.connect(self.update)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("run_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        icon = self._theme.pixmap("lock", 15, "run_t", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 15) // 2), icon)
