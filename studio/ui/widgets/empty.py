"""What stands where nothing is yet."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.labels import Label


class EmptyText(QWidget):
    """One muted sentence in the middle."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 12, 16, 12)
        self.label = Label(theme, text, "body", "muted")
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setWordWrap(True)
        column.addWidget(self.label)
