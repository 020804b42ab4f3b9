"""Says above the lanes why the run failed, and offers to retry."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Prose


class FailureBar(QWidget):
    """The whole sentence of a failed run; hidden otherwise."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 7, 10, 7)
        row.setSpacing(12)
        self.text = Prose(theme, "", "body", "fail_t", 17)
        row.addWidget(self.text, 1)
        self.retry = Button(theme, tr("Retry"), "history", small=True)
        self.retry.setToolTip(tr("Retry from the last checkpoint, as a new branch"))
        self.retry.clicked.connect(self._on_retry_clicked)
        row.addWidget(self.retry, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_failure(self, workspace: Workspace | None) -> None:
        """Shows why the run of a workspace failed, if it did."""
        self._workspace = workspace
        failed = workspace is not None and workspace.run.state is RunState.FAILED
        if workspace is not None and failed:
            self.text.set_text(workspace.run.sentence)
            self.retry.setVisible(workspace.run.can("retry")[0])
        self.setVisible(failed)

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("fail_s"))

    def _on_retry_clicked(self) -> None:
        if self._workspace is not None:
            self._workspace.run.retry()
