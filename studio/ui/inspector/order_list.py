"""A short list whose order matters: rows with move up and move down."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided, Label


class OrderList(QWidget):
    """Shows (value, text) in order; ``moved`` gives the values in the new order."""

    moved = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._rows: tuple[tuple[str, str], ...] = ()
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(12, 0, 12, 0)
        self._column.setSpacing(0)

    @property
    def values(self) -> tuple[str, ...]:
        """The order that is shown."""
        return tuple(value for value, _ in self._rows)

    def show_rows(self, rows: Sequence[tuple[str, str]]) -> None:
        """Shows these rows."""
        if tuple(rows) == self._rows:
            return
        self._rows = tuple(rows)
        while (item := self._column.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        for i, (_, text) in enumerate(self._rows):
            self._column.addWidget(self._row(i, text))

    def move_row(self, index: int, step: int) -> None:
        """Moves a row up (-1) or down (1)."""
        to = index + step
        if not (0 <= index < len(self._rows) and 0 <= to < len(self._rows)):
            return
        values = list(self.values)
        values[index], values[to] = values[to], values[index]
        self.moved.emit(tuple(values))

    def _row(self, index: int, text: str) -> QWidget:
        row = QWidget()
        row.setFixedHeight(self._theme.length(26))
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(4)
        number = Label(self._theme, str(index + 1), "code-small", "muted")
        number.setFixedWidth(20)
        layout.addWidget(number)
        layout.addWidget(Elided(self._theme, text), 1)
        for icon, step, tip in (("chevron-up", -1, tr("Move up")), ("chevron-down", 1, tr("Move down"))):
            button = Button(self._theme, "", icon, "plain", small=True)
            button.setToolTip(tip)
            button.setAccessibleName(f"{tip}: {text}")
            button.setEnabled(0 <= index + step < len(self._rows))
            button.clicked.connect(lambda _=False, i=index, s=step: self.move_row(i, s))
            layout.addWidget(button)
        return row
