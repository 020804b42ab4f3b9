"""What every panel has: a theme that it follows, and at most one workspace that it shows."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from studio.bridge.workspace import Workspace
from studio.ui.theme import Theme
from studio.ui.widgets.style import sheet


class Panel(QWidget):
    """A panel leaves the signals of one workspace and shows the next; subclasses fill :meth:`enter`, :meth:`leave`."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.workspace: Workspace | None = None
        theme.changed.connect(self._on_theme_changed)
        self._dress()

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workspace, or none."""
        if workspace is self.workspace:
            return
        if self.workspace is not None:
            self.leave(self.workspace)
        self.workspace = workspace
        if workspace is not None:
            self.enter(workspace)
        self.show_workspace()

    def enter(self, workspace: Workspace) -> None:
        """Connects to the signals of a workspace."""

    def leave(self, workspace: Workspace) -> None:
        """Disconnects what :meth:`enter` connected."""

    def show_workspace(self) -> None:
        """Shows everything of :attr:`workspace` from scratch."""

    def restyle(self) -> None:
        """Called after the theme changed, for what a style sheet does not reach."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(event.rect(), self.theme.color("window"))

    def _dress(self) -> None:
        self.setStyleSheet(sheet(self.theme))

    def _on_theme_changed(self) -> None:
        self._dress()
        self.restyle()
        self.update()
