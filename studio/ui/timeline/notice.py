"""A line above the checkpoints: what is wrong with their file, or that they are kept in memory only."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.ui.paint.numbers import size_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import IconLabel, Prose


class Notice(QWidget):
    """Hidden while there is nothing to say."""

    pressed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 10, 5)
        row.setSpacing(8)
        self._icon = IconLabel(theme, "own:problem", 15, "wait_t")
        self.text = Prose(theme, "", "body", "text", 17)
        self.button = Button(theme, "", small=True)
        self.button.clicked.connect(self.pressed)
        row.addWidget(self._icon)
        row.addWidget(self.text, 1)
        row.addWidget(self.button)
        self.hide()

    def show_run(self, run: RunModel) -> None:
        """Says what there is to say about the runs."""
        trouble, left = run.file_trouble, run.left_on_disk
        text = trouble
        if not trouble and run.in_memory_only:
            text = tr("This workflow keeps no message on disk: its runs are gone when the window closes.")
            if left:
                text += " " + tr("Runs from before still take {size} there.").format(size=size_text(left))
        if text != self.text.plain:
            self.text.set_text(text)
        self.button.setText(tr("Begin a new file") if trouble else tr("Delete them…"))
        self.button.setToolTip(tr("The file gets another name; nothing is deleted") if trouble else "")
        self.button.setVisible(bool(trouble or left))
        self._icon.set_icon("own:problem" if trouble else "own:info", "wait_t" if trouble else "run_t")
        self.setVisible(bool(text))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
