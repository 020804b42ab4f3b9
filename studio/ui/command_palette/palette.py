"""The palette: a field and a list over the window; commands with Ctrl+Shift+P, nodes with Ctrl+P."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractListModel,
    QEvent,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
)
from PySide6.QtGui import QFontMetrics, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QFrame,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from studio.ui.command_palette.search import Entry, Found, ranked
from studio.ui.paint import draw_kind
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Label

_Index = QModelIndex | QPersistentModelIndex
_WIDTH, _ROWS = 560, 12


class CommandPalette(QFrame):
    """A child of the window, not a window: it moves with it and works the same on every platform."""

    def __init__(self, theme: Theme, window: QWidget) -> None:
        super().__init__(window)
        self._theme, self._window = theme, window
        self._entries: Sequence[Entry] = ()
        self._focus_before: QWidget | None = None
        self.setObjectName("command_palette")
        self.setProperty("card", "popup")
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._field = QLineEdit()
        self._field.setObjectName("command_palette_field")
        self._field.addAction(theme.icon("search", "muted"), QLineEdit.ActionPosition.LeadingPosition)
        self._field.setTextMargins(-8, 0, 0, 0)
        self._rows = _Rows(self)
        self._list = QListView()
        self._list.setObjectName("command_palette_list")
        self._list.setModel(self._rows)
        self._list.setItemDelegate(_Delegate(theme, self._list))
        self._list.setUniformItemSizes(True)
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setMouseTracking(True)
        self._list.setProperty("popup", "true")
        self._empty = Label(theme, "", "body", "muted")
        self._empty.setContentsMargins(10, 6, 10, 8)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 8, 8, 8)
        column.setSpacing(6)
        column.addWidget(self._field)
        column.addWidget(self._list)
        column.addWidget(self._empty)
        self.hide()
        self._field.textChanged.connect(self._on_field_text_changed)
        self._field.installEventFilter(self)
        self._list.clicked.connect(self._on_list_clicked)
        window.installEventFilter(self)

    def open(self, entries: Sequence[Entry], placeholder: str) -> None:
        """Shows the palette with these entries."""
        if not self.isVisible():
            self._focus_before = self._window.window().focusWidget()
        self._entries = entries
        self._field.setPlaceholderText(placeholder)
        self._field.setAccessibleName(placeholder)
        self._field.clear()
        self._on_field_text_changed("")
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def close_palette(self) -> None:
        """Hides it and gives the focus back."""
        if not self.isVisible():
            return
        before, self._focus_before = self._focus_before, None
        self.hide()
        if before is not None:
            before.setFocus(Qt.FocusReason.PopupFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.Resize and self.isVisible():
            self._place()
        if watched is self._field:
            if event.type() == QEvent.Type.FocusOut and self.isVisible():
                self._focus_before = None
                self.hide()
            elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
                return self._key(Qt.Key(event.key()))
            elif (
                isinstance(event, QKeyEvent)
                and event.type() == QEvent.Type.ShortcutOverride
                and event.key() == Qt.Key.Key_Escape
            ):
                event.accept()
                return True
        return super().eventFilter(watched, event)

    def _key(self, key: Qt.Key) -> bool:
        step = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: _ROWS, Qt.Key.Key_PageUp: -_ROWS}.get(key)
        if step is not None:
            count = self._rows.rowCount()
            row = self._list.currentIndex().row() + step
            row = row % count if abs(step) == 1 and count else max(0, min(count - 1, row))
            self._list.setCurrentIndex(self._rows.index(row))
            return True
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._run(self._list.currentIndex())
            return True
        if key == Qt.Key.Key_Escape:
            self.close_palette()
            return True
        return False

    def _run(self, index: QModelIndex) -> None:
        found = self._rows.found(index.row())
        if found is None or found.entry.reason:
            return
        self.close_palette()
        found.entry.run()

    def _on_field_text_changed(self, typed: str) -> None:
        found = ranked(self._entries, typed)
        self._rows.show(found)
        self._list.setVisible(bool(found))
        self._empty.setVisible(not found)
        self._empty.setText(tr("Nothing is called “{typed}”.").format(typed=typed))
        if found:
            self._list.setCurrentIndex(self._rows.index(0))
        self._place()

    def _on_list_clicked(self, index: QModelIndex) -> None:
        self._run(index)

    def _place(self) -> None:
        window = self._window
        width = min(_WIDTH, window.width() - 40)
        rows = min(self._rows.rowCount(), _ROWS)
        self._list.setFixedHeight(rows * self._theme.length(28) + 2)
        self.setFixedWidth(width)
        self.adjustSize()
        self.move((window.width() - width) // 2, 78)


class _Rows(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._found: list[Found] = []

    def show(self, found: list[Found]) -> None:
        self.beginResetModel()
        self._found = found
        self.endResetModel()

    def found(self, row: int) -> Found | None:
        return self._found[row] if 0 <= row < len(self._found) else None

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._found)

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        found = self.found(index.row())
        if found is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return found.entry.text
        if role == Qt.ItemDataRole.UserRole:
            return found
        if role == Qt.ItemDataRole.ToolTipRole:
            return tip(found.entry.reason) or None
        return None


class _Delegate(QStyledItemDelegate):
    """Icon, group, text with the typed letters strong, key."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: _Index) -> QSize:
        return QSize(200, self._theme.length(28))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: _Index) -> None:
        rect: QRect = option.rect
        state: QStyle.StateFlag = option.state
        found = index.data(Qt.ItemDataRole.UserRole)
        if not isinstance(found, Found):
            return
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
            chosen = bool(state & QStyle.StateFlag.State_Selected)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self._theme.color("sel" if chosen else "hover"))
            painter.drawRoundedRect(QRectF(rect), 4, 4)
        entry = found.entry
        off = bool(entry.reason)
        middle = rect.top() + rect.height() / 2
        if entry.kind:
            draw_kind(painter, self._theme, QRectF(rect.left() + 7, middle - 9, 18, 18), entry.kind)
        elif entry.icon:
            ratio = painter.device().devicePixelRatio()
            pixmap = self._theme.pixmap(entry.icon, 15, "off" if off else "text2", ratio)
            painter.drawPixmap(QPoint(rect.left() + 9, round(middle - 7.5)), pixmap)
        note_width = self._paint_note(painter, rect, entry)
        x = rect.left() + 34
        if entry.group:
            x = self._write(painter, x, rect, f"{entry.group}:", "body", "off" if off else "muted") + 5
        room = rect.right() - 16 - note_width
        for text, strong in _pieces(entry.text, found.marks):
            token = "off" if off else "accent" if strong else "text"
            x = self._write(painter, x, rect, text, "section" if strong else "body", token, room)

    def _paint_note(self, painter: QPainter, rect: QRect, entry: Entry) -> int:
        metrics = QFontMetrics(self._theme.font("small"))
        width = metrics.horizontalAdvance(entry.note)
        self._write(painter, rect.right() - 10 - width, rect, entry.note, "small", "off" if entry.reason else "muted")
        return width

    def _write(
        self, painter: QPainter, x: int, rect: QRect, text: str, role: str, token: str, room: int | None = None
    ) -> int:
        font = self._theme.font(role)
        metrics = QFontMetrics(font)
        if room is not None:
            text = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(0, room - x))
        painter.setFont(font)
        painter.setPen(self._theme.color(token))
        painter.drawText(QPoint(x, rect.top() + (rect.height() + metrics.ascent() - metrics.descent()) // 2), text)
        return x + metrics.horizontalAdvance(text)


def _pieces(text: str, marks: tuple[int, ...]) -> list[tuple[str, bool]]:
    pieces: list[tuple[str, bool]] = []
    marked = set(marks)
    for i, letter in enumerate(text):
        strong = i in marked
        if pieces and pieces[-1][1] == strong:
            pieces[-1] = (pieces[-1][0] + letter, strong)
        else:
            pieces.append((letter, strong))
    return pieces
