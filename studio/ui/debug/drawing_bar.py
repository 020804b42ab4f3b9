"""Says that the drawing is no longer what the paused run has, and takes it over."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose


class DrawingBar(QWidget):
    """Hidden while nothing differs."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        column = QVBoxLayout(self)
        column.setContentsMargins(12, 8, 12, 8)
        column.setSpacing(6)
        self._text = Prose(theme, "", "small", "text2", 15)
        self.apply = Button(theme, tr("Apply to this run"), "check", small=True)
        self.apply.setToolTip(tr("A fork takes the drawing as it is now and stands where the run stands"))
        column.addWidget(self._text)
        column.addWidget(self.apply)
        self.hide()

    def show_names(self, names: Sequence[str]) -> None:
        """What differs."""
        if names:
            shown = ", ".join(names[:3]) + (tr(" and {count} more").format(count=len(names) - 3) if names[3:] else "")
            self._text.set_text(tr("{names} changed since this run began.").format(names=shown))
        self.setVisible(bool(names))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("wait_s"))
