"""Completion in a text field: a list under the cursor, without a window of its own, that takes a few keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QListWidget, QTextEdit

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.positions import until

MOST_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Offer:
    """What fits at the cursor: ``typed`` characters before it are the beginning of each of the ``words``; ``after`` is
    put behind a chosen one if it is not there."""

    typed: str
    words: tuple[str, ...]
    after: str = ""


Offers = Callable[[str], Offer | None]
"""The text before the cursor -> what fits."""


class Completion(QObject):
    """Shows offers while one types; Down and Up choose, Enter or Tab takes, Esc closes. Ctrl+Space asks for it."""

    def __init__(self, theme: Theme, editor: QTextEdit | QLineEdit, offers: Offers) -> None:
        super().__init__(editor)
        self._theme, self._editor, self._offers = theme, editor, offers
        self._offer: Offer | None = None
        self._list: QListWidget | None = None
        editor.installEventFilter(self)

    def copy_for(self, editor: QTextEdit | QLineEdit) -> Completion:
        """The same offers for another editor."""
        return Completion(self._theme, editor, self._offers)

    @property
    def shown(self) -> tuple[str, ...]:
        """The words that are offered now."""
        if self._list is None or self._list.isHidden() or self._offer is None:
            return ()
        return self._offer.words

    def takes(self, event: QKeyEvent) -> bool:
        """Whether a key was for the list; the editor asks before it looks at the key itself."""
        if event.key() == Qt.Key.Key_Space and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.look(asked=True)
            return True
        if not self.shown or self._list is None:
            return False
        match event.key():
            case Qt.Key.Key_Down | Qt.Key.Key_Up:
                step = 1 if event.key() == Qt.Key.Key_Down else -1
                self._list.setCurrentRow((self._list.currentRow() + step) % self._list.count())
            case Qt.Key.Key_Return | Qt.Key.Key_Enter | Qt.Key.Key_Tab:
                self._take(self._list.currentRow())
            case Qt.Key.Key_Escape:
                self.close()
            case _:
                return False
        return True

    def takes_tab(self) -> bool:
        """Tab leaves a field before its keys are asked: whether it took the chosen word instead."""
        if not self.shown or self._list is None:
            return False
        self._take(self._list.currentRow())
        return True

    def look(self, *, asked: bool = False) -> None:
        """Offers what fits now; by itself only once something was typed of it."""
        before = self._before()
        offer = self._offers(before)
        if offer is None or not offer.words or (offer.words == (offer.typed,) and not asked):
            self.close()
            return
        self._offer = offer
        self._show(offer)

    def close(self) -> None:
        """Takes the list away."""
        if self._list is not None:
            self._list.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusOut, QEvent.Type.Hide, QEvent.Type.Wheel, QEvent.Type.MouseButtonPress):
            self.close()
        return False

    def _before(self) -> str:
        if isinstance(self._editor, QLineEdit):
            return until(self._editor.text(), self._editor.cursorPosition())
        cursor = self._editor.textCursor()
        return until(cursor.block().text(), cursor.positionInBlock())

    def _show(self, offer: Offer) -> None:
        if self._list is None:
            self._list = QListWidget(self._editor.window())
            self._list.setObjectName("completion")
            self._list.setAccessibleName(tr("What fits here"))
            self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            self._list.setProperty("card", "true")
            self._list.itemClicked.connect(self._on_list_item_clicked)
            self._editor.destroyed.connect(self._list.deleteLater)
        shown = self._list
        shown.setFont(self._theme.font("code-small"))
        tokens = self._theme.tokens
        shown.setStyleSheet(
            f"QListWidget {{ border: 1px solid {tokens.ctl}; border-radius: 5px; background: {tokens.raised}; }}"
        )
        shown.clear()
        shown.addItems(list(offer.words))
        shown.setCurrentRow(0)
        width = shown.sizeHintForColumn(0) + 34
        height = min(len(offer.words), MOST_SHOWN) * max(18, shown.sizeHintForRow(0)) + 8
        window, at = self._editor.window(), self._cursor_rect()
        corner = self._editor.mapTo(window, QPoint(at.left(), at.bottom() + 4))
        x = max(0, min(corner.x(), window.width() - width - 4))
        y = corner.y() if corner.y() + height < window.height() else corner.y() - height - at.height() - 8
        shown.setGeometry(x, y, max(140, width), height)
        shown.show()
        shown.raise_()

    def _cursor_rect(self) -> QRect:
        if isinstance(self._editor, QTextEdit):
            return self._editor.cursorRect().translated(self._editor.viewport().pos())
        rect: QRect = self._editor.inputMethodQuery(Qt.InputMethodQuery.ImCursorRectangle)
        return QRect(rect)

    def _take(self, row: int) -> None:
        offer = self._offer
        self.close()
        if offer is None or not 0 <= row < len(offer.words):
            return
        word = offer.words[row]
        if isinstance(self._editor, QLineEdit):
            at = self._editor.cursorPosition()
            self._editor.setSelection(at - len(offer.typed), len(offer.typed))
            self._editor.insert(word)
            self._editor.textEdited.emit(self._editor.text())
            return
        cursor = self._editor.textCursor()
        cursor.movePosition(QTextCursor.MoveOperation.Left, QTextCursor.MoveMode.KeepAnchor, len(offer.typed))
        line = cursor.block().text()
        rest = line[len(until(line, self._editor.textCursor().positionInBlock())) :]
        cursor.insertText(word + ("" if rest.startswith(offer.after) else offer.after))
        self._editor.setTextCursor(cursor)

    def _on_list_item_clicked(self, _item: object) -> None:
        if self._list is not None:
            self._take(self._list.currentRow())


def beginning(typed: str, words: Sequence[str], after: str = "") -> Offer:
    """The words that begin with what was typed, without regard to case."""
    low = typed.casefold()
    return Offer(typed, tuple(w for w in words if w.casefold().startswith(low)), after)
