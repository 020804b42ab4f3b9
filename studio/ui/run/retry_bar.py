"""Says above the lanes who waits for another try of a model call that a provider refused, and lets it begin at once."""

from __future__ import annotations

import math

from PySide6.QtCore import Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.run_views import InvocationView
from studio.bridge.workspace import Workspace
from studio.document.lines import path_names
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided

_WORTH_SAYING = 1.0
"""Seconds that are left when the bar comes; shorter waits are over before anybody could press the button."""


class RetryBar(QWidget):
    """Counts the seconds down; hidden while nobody waits."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._workspace: Workspace | None = None
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 5, 10, 5)
        row.setSpacing(8)
        self.text = Elided(theme, "", "body", "wait_t")
        row.addWidget(self.text, 1)
        self.try_now = Button(theme, tr("Try now"), "history", small=True)
        self.try_now.setToolTip(tr("Ask the provider again without waiting any longer"))
        self.try_now.clicked.connect(self._on_try_now_clicked)
        row.addWidget(self.try_now, 0, Qt.AlignmentFlag.AlignVCenter)
        self.hide()

    def show_waits(self, workspace: Workspace | None) -> None:
        """Shows who waits in the run of a workspace, if anybody does."""
        self._workspace = workspace
        waits = workspace.run.waits if workspace is not None else []
        longest = waits[-1][1] if waits else 0.0
        if workspace is not None and (longest >= _WORTH_SAYING or (waits and not self.isHidden())):
            self.text.set_text(_sentence(workspace, waits))
            self.setVisible(True)
        elif not self.isHidden():
            self.hide()

    def paintEvent(self, _event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color("wait_s"))

    def _on_try_now_clicked(self) -> None:
        if self._workspace is not None:
            self._workspace.run.try_now()
            self.show_waits(self._workspace)


def _sentence(workspace: Workspace, waits: list[tuple[InvocationView, float]]) -> str:
    view, left = waits[0]
    name = " › ".join(path_names(workspace.document.workflow, view.inside, view.node))
    seconds = math.ceil(left)
    if len(waits) == 1:
        return tr("{name} waits for its provider: the next try is in {seconds} s").format(name=name, seconds=seconds)
    return tr("{name} and {count} more wait for their provider: the next try is in {seconds} s").format(
        name=name, count=len(waits) - 1, seconds=seconds
    )
