"""Says that a file has code which nobody accepted, shows it, and lets the user accept it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.document.model import Workflow
from studio.settings.trust import Part, trust_list
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.trust_bar.code_dialog import CodeDialog
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.sources import counted


class TrustBar(QWidget):
    """Hidden while all code of the workflow is accepted."""

    trusted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workflow: Workflow | None = None
        self._parts: list[Part] = []
        self.setObjectName("trust_bar")
        self._text = Elided(theme, "", "body", "text")
        show = Button(theme, tr("Show code"), kind="plain", small=True)
        accept = Button(theme, tr("Trust this code"), kind="framed", small=True)
        show.setObjectName("trust_show")
        accept.setObjectName("trust_accept")
        show.clicked.connect(self.show_code)
        accept.clicked.connect(self.trusted)
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 6, 10, 6)
        row.setSpacing(6)
        row.addWidget(self._text, 1)
        row.addWidget(show)
        row.addWidget(accept)
        self.hide()
        theme.changed.connect(self.update)

    def show_workflow(self, workflow: Workflow, folder: Path | None) -> None:
        """Looks at a document again. ``folder``: that of its file."""
        self._workflow = workflow
        self._parts = trust_list().untrusted(workflow, folder)
        self.setVisible(bool(self._parts))
        if self._parts:
            self._text.set_text(sentence(self._parts))

    def show_code(self) -> None:
        """Opens the code that waits to be accepted."""
        if self._workflow is None or not self._parts:
            return
        dialog = CodeDialog(self._theme, self._workflow, self._parts, self.window())
        dialog.trusted.connect(self.trusted)
        dialog.open()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("wait_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        icon = self._theme.pixmap("shield-alert", 16, "wait_t", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 16) // 2), icon)


def sentence(parts: list[Part]) -> str:
    """What the bar says."""
    count = counted(len(parts), tr("1 piece of code"), tr("{count} pieces of code"))
    return tr(
        "This file has {count} that you did not accept. You can look, edit, check and export; a run waits."
    ).format(count=count)
