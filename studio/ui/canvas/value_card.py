"""The card that appears beside the pointer after a moment over a node, edge, pill or port."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QEnterEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QLabel, QWidget

from studio.ui.canvas.hover_words import HoverWords
from studio.ui.theme import Theme

SHOW_MS, GRACE_MS = 400, 250
"""How long the pointer rests before the card appears, and may be away from both before it goes."""
WIDTH = 320
LINES = 8
"""A value is cut after so many lines."""


class ValueCard(QFrame):
    """Asks for its words when it is about to appear; stays while the pointer is on it."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._over = parent
        self._ask: Callable[[], HoverWords | None] | None = None
        self._at = QPoint()
        self.setProperty("card", "popup")
        self.setAutoFillBackground(True)
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(12, 10, 12, 10)
        self._grid.setHorizontalSpacing(10)
        self._grid.setVerticalSpacing(4)
        self._grid.setColumnStretch(1, 1)
        self._show = QTimer(self)
        self._show.setSingleShot(True)
        self._show.setInterval(SHOW_MS)
        self._show.timeout.connect(self._on_show_timeout)
        self._grace = QTimer(self)
        self._grace.setSingleShot(True)
        self._grace.setInterval(GRACE_MS)
        self._grace.timeout.connect(self.dismiss)
        self.hide()

    def rest_on(self, ask: Callable[[], HoverWords | None], at: QPoint) -> None:
        """The pointer is over something now, at a point of the parent; ``ask`` gives the words."""
        self._ask, self._at = ask, at
        if self.isVisible():
            self._grace.start()
        self._show.start()

    def leave(self) -> None:
        """The pointer is over nothing: a card that waits does not come, one that is there goes in a moment."""
        self._show.stop()
        if self.isVisible():
            self._grace.start()

    def dismiss(self) -> None:
        """Goes at once: something was pressed, the view moved."""
        self._show.stop()
        self._grace.stop()
        self.hide()

    def _on_show_timeout(self) -> None:
        words = self._ask() if self._ask is not None else None
        self._grace.stop()
        if words is None:
            self.hide()
            return
        self._fill(words)
        self._place()
        self.show()
        self.raise_()

    def _fill(self, words: HoverWords) -> None:
        while (item := self._grid.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        title = self._label(words.title, "title")
        title.setFont(self._theme.font("title"))
        self._grid.addWidget(title, 0, 0, 1, 2)
        self._grid.addWidget(self._label(words.detail, "muted"), 1, 0, 1, 2)
        for row, (label, text) in enumerate(words.rows, start=2):
            if label:
                name = self._label(label, "muted")
                name.setAlignment(Qt.AlignmentFlag.AlignTop)
                self._grid.addWidget(name, row, 0)
                self._grid.addWidget(self._label(text, "second"), row, 1)
            else:
                value = self._label("\n".join(text.splitlines()[:LINES]), "second")
                value.setFont(self._theme.font("code-small"))
                value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
                self._grid.addWidget(value, row, 0, 1, 2)
        spoken = (f"{label} {text}".strip() for label, text in words.rows)
        self.setAccessibleName(". ".join((words.title, words.detail, *spoken)))

    def _label(self, text: str, role: str) -> QLabel:
        label = QLabel(text, self)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setWordWrap(True)
        label.setProperty("role", role)
        return label

    def _place(self) -> None:
        """Below the pointer, inside the parent; above it where there is no room."""
        self.setFixedWidth(WIDTH)
        self.setFixedHeight(min(max(self._grid.heightForWidth(WIDTH), 40), self._over.height() - 16))
        area = self._over.rect().adjusted(8, 8, -8, -8)
        x = max(area.left(), min(self._at.x() + 14, area.right() - self.width()))
        y = self._at.y() + 20
        if y + self.height() > area.bottom():
            y = max(area.top(), self._at.y() - 14 - self.height())
        self.move(x, y)

    # ---- the pointer on the card

    def enterEvent(self, event: QEnterEvent) -> None:
        self._grace.stop()
        self._show.stop()
        super().enterEvent(event)

    def leaveEvent(self, event: QEvent) -> None:
        self._grace.start()
        super().leaveEvent(event)

    def hideEvent(self, event: QEvent) -> None:
        self._show.stop()
        self._grace.stop()
