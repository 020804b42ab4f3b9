"""A bar to find something in a panel: a field, how much is found, next and previous."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.search_field import SearchField

_RESTS_AFTER_MS = 200


class FindBar(QWidget):
    """Enter and F3 go to the next, Shift+Enter and Shift+F3 to the previous one; Esc closes."""

    query_changed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, placeholder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(11, 4, 10, 4)
        self.row.setSpacing(6)
        self.field = SearchField(theme, placeholder)
        self.previous_button = Button(theme, "", "chevron-up", "plain", small=True)
        self.next_button = Button(theme, "", "chevron-down", "plain", small=True)
        self.close_button = Button(theme, "", "x", "plain", small=True)
        for button, text in (
            (self.previous_button, tr("Previous (Shift+F3)")),
            (self.next_button, tr("Next (F3)")),
            (self.close_button, tr("Close the search (Esc)")),
        ):
            button.setToolTip(text)
            button.setAccessibleName(text)
        self.count = Elided(theme, "", "body", "muted")
        self.row.addWidget(self.field, 2)
        self.row.addWidget(self.previous_button)
        self.row.addWidget(self.next_button)
        self.row.addWidget(self.count, 1)
        self.row.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_RESTS_AFTER_MS)
        self._timer.timeout.connect(self._tell)
        self.field.textChanged.connect(lambda _text: self._timer.start())
        self.previous_button.clicked.connect(lambda: self.stepped.emit(-1))
        self.next_button.clicked.connect(lambda: self.stepped.emit(1))
        self.close_button.clicked.connect(self.close_search)

    def open_search(self) -> None:
        """Shows the bar with the focus in its field."""
        self.show()
        self.field.setFocus()
        self.field.selectAll()

    def close_search(self) -> None:
        """Hides it; nothing is looked for any more."""
        self.field.clear()
        self._timer.stop()
        self.hide()
        self.closed.emit()

    def show_count(self, count: int, text: str, *, problem: bool = False) -> None:
        """Says how much there is in words, as long as something is looked for."""
        self.count.set_text(text if self.field.text().strip() else "", "wait_t" if problem else "muted")
        for button in (self.previous_button, self.next_button):
            button.setEnabled(count > 0)

    def event(self, event: QEvent) -> bool:
        # F3 steps here while the focus is here, whatever the window does with it elsewhere.
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.key() == Qt.Key.Key_F3
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close_search()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            if self._timer.isActive():  # what was typed last counts
                self._timer.stop()
                self._tell()
            self.stepped.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))

    def _tell(self) -> None:
        self.query_changed.emit(self.field.text().strip())
