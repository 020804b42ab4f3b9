"""Building a page shows nothing but the page: a widget that is shown before it has a parent flashes as a window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QApplication, QWidget
from studio.bridge.workspace import Workspace
from studio.ui.inspector import InspectorPanel
from tests.ui.panels.conftest import Show


class ShownWindows(QObject):
    """Names of the windows that were shown."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.names.append(type(watched).__name__)
        return False


def test_inspector_pages_show_no_window(qapp: QApplication, show: Show, workspace: Workspace) -> None:
    show(InspectorPanel)
    shown = ShownWindows()
    qapp.installEventFilter(shown)
    workflow = workspace.document.workflow
    for item in [*workflow.nodes, *workflow.edges, *workflow.notes, *workflow.groups]:
        workspace.selection.select((item.id,))
        qapp.processEvents()
    workspace.selection.select(())
    qapp.removeEventFilter(shown)
    assert shown.names == []
