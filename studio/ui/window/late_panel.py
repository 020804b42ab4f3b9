"""A panel that is made when it is first seen or asked for: a start does not pay for what nobody looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.ui.widgets.panel import Panel

P = TypeVar("P", bound=Panel)


class LatePanel(QWidget, Generic[P]):
    """Holds the place of a panel, and the workspace that it will show."""

    def __init__(self, make: Callable[[], P], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._make = make
        self._panel: P | None = None
        self._workspace: Workspace | None = None
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        self._column = column

    @property
    def panel(self) -> P:
        """The panel; it is made now if it was not yet."""
        if self._panel is None:
            self._panel = self._make()
            self._column.addWidget(self._panel)
            self._panel.show()
            self._panel.set_workspace(self._workspace)
        return self._panel

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workspace, or none."""
        self._workspace = workspace
        if self._panel is not None:
            self._panel.set_workspace(workspace)

    def showEvent(self, event: QShowEvent) -> None:
        _ = self.panel
        super().showEvent(event)
