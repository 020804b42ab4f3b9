"""A search over the canvas: add a node, or choose what to connect with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QFrame, QLabel, QLineEdit, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.ui.paint.rows import HINT_ROLE, KIND_ROLE, KindDelegate
from studio.ui.text import tr
from studio.ui.theme import Theme

KEY_ROLE = int(Qt.ItemDataRole.UserRole)
TOOLS = 44
"""Height of the zoom tools at the bottom, which the popup leaves free where there is room."""
WIDTH = 264
ROWS = 9


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing to choose. ``letter``: typed alone it puts this entry first. ``words``: what else finds it."""

    key: str
    name: str
    kind: str
    hint: str = ""
    letter: str = ""
    words: str = ""


def found(entries: Sequence[Entry], text: str) -> list[Entry]:
    """The entries for what was typed, best first: the letter, starts of names, starts of words, anything inside."""
    typed = text.strip().casefold()
    if not typed:
        return list(entries)

    def rank(entry: Entry) -> int:
        name = entry.name.casefold()
        if typed == entry.letter.casefold():
            return 0
        if name.startswith(typed):
            return 1
        if any(word.startswith(typed) for word in f"{name} {entry.words}".casefold().replace("-", " ").split()):
            return 2
        return 3 if typed in name or typed in entry.words.casefold() else 9

    ranked = sorted((rank(e), i, e) for i, e in enumerate(entries))
    return [e for r, _, e in ranked if r < 9]


class SearchPopup(QFrame):
    """Field and list in a frame over the canvas; closes on Esc, on a choice and when the focus leaves it."""

    chosen = Signal(str)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._over = parent
        self.setProperty("card", "popup")
        self.setAutoFillBackground(True)
        self.setFixedWidth(WIDTH)
        self._entries: Sequence[Entry] = ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(6)
        self.field = QLineEdit(self)
        self.field.addAction(theme.icon("own:search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self.list = QListWidget(self)
        self.list.setItemDelegate(KindDelegate(theme, self.list))
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setMouseTracking(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.list.setStyleSheet("background: transparent")
        self._nothing = QLabel(self)
        self._nothing.setProperty("role", "muted")
        self._nothing.setWordWrap(True)
        self._nothing.setTextFormat(Qt.TextFormat.PlainText)
        layout.addWidget(self.field)
        layout.addWidget(self.list)
        layout.addWidget(self._nothing)
        self.field.textChanged.connect(self._on_field_text_changed)
        self.field.installEventFilter(self)
        self.list.itemClicked.connect(self._on_list_item_clicked)
        self.hide()

    def open(self, entries: Sequence[Entry], at: QPoint, prompt: str, nothing: str) -> None:
        """Shows these at a point of the parent, inside of it, with the focus in the field."""
        self._entries = entries
        self._nothing.setText(nothing)
        self.field.setPlaceholderText(prompt)
        self.field.setAccessibleName(prompt)
        self.list.setAccessibleName(prompt)
        self.field.clear()
        self._fill("")
        self.adjustSize()
        area = self._over.rect().adjusted(8, 8, -8, -8)
        if self.height() <= area.height() - TOOLS:
            area.setBottom(area.bottom() - TOOLS)
        x = max(area.left(), min(at.x(), area.right() - self.width()))
        y = max(area.top(), min(at.y(), area.bottom() - self.height()))
        self.move(x, y)
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.PopupFocusReason)

    def _fill(self, text: str) -> None:
        self.list.clear()
        for entry in found(self._entries, text):
            item = QListWidgetItem(entry.name)
            item.setData(KEY_ROLE, entry.key)
            item.setData(KIND_ROLE, entry.kind)
            item.setData(HINT_ROLE, entry.hint)
            self.list.addItem(item)
        count = self.list.count()
        self.list.setCurrentRow(0 if count else -1)
        self.list.setVisible(bool(count))
        self._nothing.setVisible(not count)
        if not count and text:
            self._nothing.setText(tr("Nothing has this name."))
        row = self.list.sizeHintForRow(0) if count else 0
        self.list.setFixedHeight(row * min(ROWS, max(1, len(self._entries))) + 2)

    def _on_field_text_changed(self, text: str) -> None:
        self._fill(text)

    def _on_list_item_clicked(self, item: QListWidgetItem) -> None:
        self._choose(item)

    def _choose(self, item: QListWidgetItem | None) -> None:
        if item is None:
            return
        key = str(item.data(KEY_ROLE))
        self.close_search()
        self.chosen.emit(key)

    def close_search(self) -> None:
        """Closes; whoever opened it takes the focus back."""
        if self.isVisible():
            # Before hiding: Qt would hand the focus on by Tab, and the canvas would go to the next node.
            self._over.setFocus(Qt.FocusReason.PopupFocusReason)
            self.hide()
            self.closed.emit()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.field and isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._on_key(event)
        if watched is self.field and isinstance(event, QFocusEvent) and event.type() == QEvent.Type.FocusOut:
            if event.reason() != Qt.FocusReason.ActiveWindowFocusReason:
                self.hide()
            return False
        return super().eventFilter(watched, event)

    def _on_key(self, event: QKeyEvent) -> bool:
        match event.key():
            case Qt.Key.Key_Escape:
                self.close_search()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._choose(self.list.currentItem())
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                count = self.list.count()
                if count:
                    self.list.setCurrentRow((self.list.currentRow() + step) % count)
            case _:
                return False
        return True
