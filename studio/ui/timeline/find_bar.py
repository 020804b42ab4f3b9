"""The search of the checkpoints panel: a field, how many are found, and where else to look."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.search_field import SearchField

_RESTS_AFTER_MS = 200


def _terms() -> tuple[tuple[str, str], ...]:
    """What the menu offers: the beginning of a term, and what it finds."""
    return (
        ("name:", tr("name of the checkpoint")),
        ("tag:", tr("tag")),
        ("node:", tr("node that ran in the superstep")),
        ("key:", tr("key of the shared state that was written")),
        ("text:", tr("text of a message, answer or output")),
        ("error:", tr("what failed right after it")),
        ("branch:", tr("name of the branch")),
        ("cost>0.01", tr("cost of the superstep in dollars")),
        ("tokens>1000", tr("tokens of the superstep")),
        ("date:today", tr("day it was saved; also after: and before:")),
        ("is:named", tr("named or tagged")),
        ("is:pinned", tr("pinned")),
        ("is:waiting", tr("waits for an answer")),
        ("is:failed", tr("the last one before an error")),
    )


class FindBar(QWidget):
    """Enter and F3 go to the next, Shift+Enter and Shift+F3 to the previous one; Esc closes."""

    query_changed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        row = QHBoxLayout(self)
        row.setContentsMargins(11, 4, 10, 4)
        row.setSpacing(6)
        self.field = SearchField(theme, tr("Find checkpoints: a word, node:, text:, cost>, date:, is:…"))
        self.field.setMinimumWidth(240)
        self.terms_button = Button(theme, "", "list-filter", "plain", small=True)
        self.terms_button.setToolTip(tr("What can be looked for"))
        self.terms_button.setAccessibleName(tr("What can be looked for"))
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
        row.addWidget(self.field, 2)
        row.addWidget(self.terms_button)
        row.addWidget(self.previous_button)
        row.addWidget(self.next_button)
        row.addWidget(self.count, 1)
        row.addWidget(self.close_button)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_RESTS_AFTER_MS)
        self._timer.timeout.connect(lambda: self.query_changed.emit(self.field.text().strip()))
        self.field.textChanged.connect(lambda _text: self._timer.start())
        self.terms_button.clicked.connect(self._offer_terms)
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
        self._timer.stop()
        self.field.clear()
        self._timer.stop()
        self.hide()
        self.closed.emit()

    def show_found(self, count: int, problem: str) -> None:
        """Says how many there are, or what is wrong with the query."""
        text = problem or (tr("1 checkpoint") if count == 1 else tr("{count} checkpoints").format(count=count))
        shown = text if self.field.text().strip() else ""
        self.count.set_text(shown, "wait_t" if problem else "muted")
        for button in (self.previous_button, self.next_button):
            button.setEnabled(count > 0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        back = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.key() == Qt.Key.Key_Escape:
            self.close_search()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_F3):
            self.stepped.emit(-1 if back else 1)
        else:
            super().keyPressEvent(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))

    def _offer_terms(self) -> None:
        menu = QMenu(self)
        for term, words in _terms():
            action = menu.addAction(f"{term}\t{words}")
            action.triggered.connect(lambda _checked=False, term=term: self._add(term))
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.terms_button.mapToGlobal(QPoint(0, self.terms_button.height())))

    def _add(self, term: str) -> None:
        text = self.field.text().rstrip()
        self.field.setText(f"{text} {term}" if text else term)
        self.field.setFocus()
