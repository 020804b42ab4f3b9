"""What an empty canvas says."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme


class EmptyHint(QWidget):
    """One line and two buttons in the middle of the canvas."""

    add_requested = Signal()
    templates_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setSpacing(12)
        text = QLabel(tr("Add the first node, or start from a template."), self)
        text.setProperty("role", "second")
        text.setAlignment(Qt.AlignmentFlag.AlignCenter)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.add = QPushButton(theme.icon("own:plus", "on_accent"), tr("Add node"), self)
        self.add.setProperty("variant", "primary")
        self.add.setToolTip(tr("Add node (Shift+A)"))
        self.templates = QPushButton(tr("Templates"), self)
        row.addStretch(1)
        row.addWidget(self.add)
        row.addWidget(self.templates)
        row.addStretch(1)
        column.addWidget(text)
        column.addLayout(row)
        self.add.clicked.connect(self.add_requested)
        self.templates.clicked.connect(self.templates_requested)
        self.adjustSize()
