"""A line over the canvas that says why something was not done, and may offer what to do instead."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPoint, Qt, QTimer
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import QLabel, QWidget

from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button

TOLD_MS, OFFERED_MS = 4000, 12000
"""How long a line stays, and one that has to be decided upon."""
_WIDEST = 380
_SIDE, _ABOVE = 10, 6


class Told(QLabel):
    """A short line at the bottom that goes away by itself."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self._then: Callable[[], object] | None = None
        self.setProperty("card", "popup")
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWordWrap(True)
        self.button = Button(theme, kind="link", parent=self)
        self.button.clicked.connect(self._on_button_clicked)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hide)
        self.hide()

    def tell(self, text: str) -> None:
        """Shows a line for four seconds."""
        self._then = None
        self._show_below(text, "", TOLD_MS)

    def offer(self, text: str, action: str, then: Callable[[], object]) -> None:
        """Shows a line with something to do about it, for twelve seconds."""
        self._then = then
        self._show_below(text, action, OFFERED_MS)

    def withdraw(self) -> None:
        """What was offered is about a drawing that changed."""
        if self._then is not None:
            self._then = None
            self.hide()

    def _show_below(self, text: str, action: str, time: int) -> None:
        self._lay_out(text, action)
        over = self._over
        self.move((over.width() - self.width()) // 2, over.height() - self.height() - 60)
        self.show()
        self.raise_()
        self._timer.start(time)

    def show_at(self, text: str, at: QPoint) -> None:
        """Shows a line beside a point, until it is hidden."""
        self._lay_out(text)
        area = self._over.rect()
        x = min(at.x() + 16, area.right() - self.width() - 4)
        y = min(at.y() + 20, area.bottom() - self.height() - 4)
        self.move(x, y)
        self.show()
        self.raise_()

    def _lay_out(self, text: str, action: str = "") -> None:
        self.setText(text)
        self.setAccessibleName(text)
        self.button.setText(action)
        self.button.setAccessibleName(action)
        self.button.setVisible(bool(action))
        wanted = QFontMetrics(self.font()).horizontalAdvance(text) + 28
        size = self.button.sizeHint()
        below = size.height() + _ABOVE if action else 0
        self.setContentsMargins(_SIDE, _ABOVE, _SIDE, _ABOVE + below)
        offer = size.width() + 2 * _SIDE + 4 if action else 0
        self.setFixedWidth(max(min(_WIDEST, wanted), offer))  # the text can go on in a second line, the offer cannot
        self.adjustSize()
        self.button.setGeometry(_SIDE + 2, self.height() - size.height() - _ABOVE, size.width(), size.height())

    def _on_button_clicked(self) -> None:
        then, self._then = self._then, None
        self.hide()
        if then is not None:
            then()

    def event(self, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Hide:
            self._timer.stop()
        return super().event(event)
