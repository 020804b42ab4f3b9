"""A scrolling column of sections and fields."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from studio.ui.widgets.tab_order import follow_layout


class Page(QScrollArea):
    """Content as wide as the page. Whoever makes the page narrower than its content can be reaches the rest all the
    same: nothing is cut off without a scroll bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        content = QWidget()
        content.setObjectName("page")
        self.body = QVBoxLayout(content)
        self.body.setContentsMargins(0, 0, 0, 12)
        self.body.setSpacing(0)
        self.body.addStretch(1)
        self.setWidget(content)
        self.viewport().setAutoFillBackground(False)
        content.setAutoFillBackground(False)

    def add(self, widget: QWidget) -> None:
        """Puts a widget at the end."""
        self.body.insertWidget(self.body.count() - 1, widget)

    def focusNextPrevChild(self, following: bool) -> bool:
        content = self.widget()
        if content is not None:
            follow_layout(content)
        return super().focusNextPrevChild(following)

    def minimumSizeHint(self) -> QSize:
        return QSize(80, 40)


def scrolled(content: QWidget) -> QScrollArea:
    """A part of a dialog that scrolls when there is no room for all of it."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(content)
    return area
