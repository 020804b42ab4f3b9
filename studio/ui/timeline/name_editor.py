"""A small field over the picture for the name of a checkpoint or a branch."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QLineEdit, QWidget

from studio.ui.text import tr

_LONGEST = 120


class NameEditor(QLineEdit):
    """Enter, Tab or a click elsewhere takes the name, Esc leaves everything as it was. Deletes itself."""

    def __init__(self, parent: QWidget, place: QRect, text: str, taken: Callable[[str], None]) -> None:
        super().__init__(text, parent)
        self._taken = taken
        self._open = True
        self.setAccessibleName(tr("Name"))
        self.setObjectName("timeline_name")
        self.setMaxLength(_LONGEST)
        width = min(max(place.width(), 150), parent.width())
        x = min(max(0, place.x()), parent.width() - width)
        height = self.sizeHint().height()
        y = min(max(0, place.center().y() - height // 2), max(0, parent.height() - height))
        self.setGeometry(x, y, width, height)
        self.selectAll()
        self.show()
        self.setFocus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self._end(take=False)
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._end(take=True)
        else:
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end(take=True)

    def _end(self, *, take: bool) -> None:
        if not self._open:
            return
        self._open = False
        viewport = self.parentWidget()
        view = viewport.parentWidget() if viewport is not None else None
        if take:
            self._taken(self.text())
        if view is not None and self.hasFocus():
            view.setFocus()
        self.hide()
        self.deleteLater()
