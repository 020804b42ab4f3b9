"""The bar that says that another program changed the file, and offers what can be done."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided


class DiskBar(QWidget):
    """Hidden until :meth:`tell`; each button but *Compare* hides it again."""

    load_requested = Signal()
    compare_requested = Signal()
    keep_requested = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setObjectName("disk_bar")
        self._text = Elided(theme, "", "body", "text")
        self.load = Button(theme, tr("Load it"), small=True)
        self.compare = Button(theme, tr("Compare"), small=True)
        self.keep = Button(theme, tr("Keep mine"), small=True)
        self.load.setToolTip(tr("What is on disk takes the place of this; undo brings it back"))
        self.compare.setToolTip(tr("Shows on the canvas what differs"))
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 6, 10, 6)
        row.setSpacing(6)
        row.addWidget(self._text, 1)
        for button in (self.load, self.compare, self.keep):
            row.addWidget(button)
        self.load.clicked.connect(self.load_requested)
        self.compare.clicked.connect(self.compare_requested)
        self.keep.clicked.connect(self.keep_requested)
        self.hide()
        theme.changed.connect(self.update)

    def tell(self, name: str, *, dirty: bool) -> None:
        """Says that the file of this name was changed; ``dirty``: the window has changes of its own."""
        words = tr("{name} was changed by another program.")
        if dirty:
            words = tr("{name} was changed by another program, and there are unsaved changes here.")
        self._show(words.format(name=name), there=True)

    def tell_gone(self, name: str) -> None:
        """Says that the file of this name is no longer there."""
        self._show(tr("{name} was deleted or moved. This window has what was in it: save to put it back."
                      ).format(name=name), there=False)  # fmt: skip

    def _show(self, text: str, *, there: bool) -> None:
        self._text.set_text(text)
        for button in (self.load, self.compare):
            button.setVisible(there)
        self.keep.setText(tr("Keep mine") if there else tr("Close"))
        self.keep.setToolTip(
            tr("The next save replaces what is on disk, which is kept as a version") if there else tr("Hides this line")
        )
        self.show()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("wait_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        icon = self._theme.pixmap("triangle-alert", 16, "wait_t", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 16) // 2), icon)
