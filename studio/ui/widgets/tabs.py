"""A row of tabs with the line below, as docks and the inspector have it."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QTabBar, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme


class TabStrip(QWidget):
    """Tabs at the left; ``chosen`` gives the index."""

    chosen = Signal(int)

    def __init__(self, theme: Theme, titles: Sequence[str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(5, 0, 6, 1)
        row.setSpacing(0)
        self.bar = QTabBar(self)
        self.bar.setAccessibleName(tr("Pages"))
        self.bar.setDrawBase(False)
        self.bar.setExpanding(False)
        self.bar.setUsesScrollButtons(False)
        self.bar.setElideMode(Qt.TextElideMode.ElideNone)
        for title in titles:
            self.bar.addTab(title)
        self.bar.currentChanged.connect(self.chosen)
        row.addWidget(self.bar)
        row.addStretch(1)

    def choose(self, index: int) -> None:
        """Brings a tab to the front."""
        self.bar.setCurrentIndex(index)

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
