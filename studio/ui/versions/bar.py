"""The bar over the canvas while the document is compared: with what, what differs, and what can be done."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.versions.words import summary
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided


class CompareBar(QWidget):
    """Hidden while nothing is compared."""

    load_requested = Signal()
    """The file on disk should take the place of the document."""

    def __init__(self, theme: Theme, workspace: Workspace, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._workspace = theme, workspace
        self._at = -1
        self.setObjectName("compare_bar")
        self._text = Elided(theme, "", "body", "text")
        self.previous = self._button("", "chevron-up", tr("Previous difference"))
        self.next = self._button("", "chevron-down", tr("Next difference"))
        self.restore = self._button(
            tr("Bring it back"), "", tr("The other version takes the place of this; undo returns")
        )
        self.copy = self._button(tr("Open as a copy"), "", tr("The other version in a tab of its own, not saved yet"))
        self.done = self._button(tr("Close"), "", tr("Stop comparing"))
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 6, 10, 6)
        row.setSpacing(6)
        row.addWidget(self._text, 1)
        for button in (self.previous, self.next, self.restore, self.copy, self.done):
            row.addWidget(button)
        self.previous.clicked.connect(lambda: self.step(-1))
        self.next.clicked.connect(lambda: self.step(1))
        self.restore.clicked.connect(self._on_restore_clicked)
        self.copy.clicked.connect(self._on_copy_clicked)
        self.done.clicked.connect(workspace.compared.close)
        workspace.compared.changed.connect(self._on_compared_changed)
        self.hide()
        theme.changed.connect(self.update)

    def step(self, by: int) -> None:
        """Goes to the next (1) or previous (-1) difference that has a place."""
        places = self._places()
        if places:
            self._at = (self._at + by) % len(places) if self._at >= 0 else (0 if by > 0 else len(places) - 1)
            self._workspace.selection.reveal(places[self._at])

    def _places(self) -> list[str]:
        """What differs and is drawn here."""
        found = self._workspace.compared.found
        here = self._workspace.document.workflow
        there = {i.id for part in (here.nodes, here.edges, here.notes, here.groups) for i in part}
        return [c.item for c in found.changes if c.item in there] if found is not None else []

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("run_s"))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        icon = self._theme.pixmap("history", 16, "run_t", self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 16) // 2), icon)

    def _button(self, text: str, icon: str, tip: str) -> Button:
        button = Button(self._theme, text, icon, "plain" if not text else "framed", small=True)
        button.setToolTip(tip)
        button.setAccessibleName(text or tip)
        return button

    def _on_compared_changed(self) -> None:
        compared = self._workspace.compared
        if compared.found is None:
            self._at = -1
        else:
            words = tr("Compared with {other}: {summary}.")
            self._text.set_text(words.format(other=compared.title, summary=summary(compared.found)))
            self.restore.setEnabled(bool(compared.found.changes))
            for button in (self.previous, self.next):
                button.setEnabled(bool(self._places()))
        self.setVisible(compared.found is not None)

    def _on_restore_clicked(self) -> None:
        compared = self._workspace.compared
        if compared.old is None:
            return
        if compared.is_disk:
            self.load_requested.emit()
            return
        document = self._workspace.document
        old = compared.old.model_copy(update={"id": document.workflow.id})
        # "Load" as other steps that bring code from elsewhere: it is accepted only if it was before.
        document.replace_all(old, tr("Load {version}").format(version=compared.title))
        compared.close()

    def _on_copy_clicked(self) -> None:
        old = self._workspace.compared.old
        if old is not None:
            self._workspace.document_offered.emit(old)
