"""The bar above code that is not whole: the workflow has errors."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.document.problems import Problem
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.sources import counted


class ErrorBar(QWidget):
    """Says the first error and leads to it; hidden while there is none."""

    chosen = Signal(str)
    """Where the first error is: id of an item."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._place = ""
        self.setObjectName("export_errors")
        self.text = Elided(theme, "", "body", "text")
        self.show_error = Button(theme, tr("Show on canvas"), kind="framed", small=True)
        self.show_error.clicked.connect(self._on_show_error_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 6, 10, 6)
        row.setSpacing(6)
        row.addWidget(self.text, 1)
        row.addWidget(self.show_error)
        self.hide()
        theme.changed.connect(self.update)

    def show_errors(self, errors: Sequence[Problem]) -> None:
        """Replaces what is said."""
        self.setVisible(bool(errors))
        if not errors:
            return
        self._place = errors[0].place
        self.show_error.setVisible(bool(self._place))
        count = counted(len(errors), tr("1 error"), tr("{count} errors"))
        text = tr("This code does not work yet, the workflow has {count}: {first}")
        self.text.set_text(text.format(count=count, first=errors[0].message))

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("fail_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        icon = self._theme.pixmap("circle-x", 16, "fail_t", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 16) // 2), icon)

    def _on_show_error_clicked(self) -> None:
        self.chosen.emit(self._place)
