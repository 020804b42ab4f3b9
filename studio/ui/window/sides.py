"""The panels around the canvas, in their docks. All are given the same workspace at the same time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QMainWindow, QSplitter, QToolButton, QVBoxLayout, QWidget

from studio.bridge.workspace import Workspace
from studio.ui.context import ContextPanel
from studio.ui.debug import DebugPanel
from studio.ui.history import HistoryPanel
from studio.ui.inspector import InspectorPanel
from studio.ui.invocations import InvocationsPanel
from studio.ui.outline import OutlinePanel
from studio.ui.palette import PalettePanel
from studio.ui.problems import ProblemsPanel
from studio.ui.requests import RequestsPanel
from studio.ui.run import EventsPanel, MessagesPanel, RunPanel
from studio.ui.state import StatePanel
from studio.ui.status.totals import RunTotals
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline import TimelinePanel
from studio.ui.widgets.labels import Label
from studio.ui.window.checkpoint_dock import CheckpointDock
from studio.ui.window.dock import PanelDock
from studio.ui.window.late_panel import LatePanel
from studio.ui.window.layouts import WindowLayouts
from studio.ui.window.memory import WindowMemory

if TYPE_CHECKING:
    from studio.ui.find import FindPanel
    from studio.ui.versions.panel import VersionsPanel


class _Panel(Protocol):
    def set_workspace(self, workspace: Workspace | None) -> None: ...


class Sides(QObject):
    """Builds docks and panels; knows which panel is where."""

    def __init__(self, theme: Theme, window: QMainWindow, memory: WindowMemory) -> None:
        super().__init__(window)
        self._theme = theme
        self._workspace: Workspace | None = None
        self.palette = PalettePanel(theme)
        self.outline = OutlinePanel(theme)
        self.debug = DebugPanel(theme)
        self.inspector = InspectorPanel(theme)
        self.requests = RequestsPanel(theme)
        self.run = RunPanel(theme)
        self.messages = MessagesPanel(theme)
        self.state = StatePanel(theme)
        self.context = ContextPanel(theme)
        self.invocations = InvocationsPanel(theme)
        self.events = EventsPanel(theme)
        self.problems = ProblemsPanel(theme)
        self._find = LatePanel(partial(_find_panel, theme))
        self.history = HistoryPanel(theme)
        self._versions = LatePanel(partial(_versions_panel, theme))
        self.timeline = TimelinePanel(theme)
        self.totals = RunTotals(theme)
        self.left = self._left_dock(window)
        self.right = self._right_dock(window)
        self.bottom = self._bottom_dock(window)
        self.checkpoints = CheckpointDock(theme, self.timeline, window)
        self.layouts = WindowLayouts(window, self.left, self.right, self.bottom, self.checkpoints, memory)

    @property
    def find(self) -> FindPanel:
        """The panel to find and replace."""
        return self._find.panel

    @property
    def versions(self) -> VersionsPanel:
        """The panel of saved versions."""
        return self._versions.panel

    def set_workspace(self, workspace: Workspace | None) -> None:
        """Shows another workflow in every panel."""
        if workspace is self._workspace:
            return
        self._workspace = workspace
        for panel in self._panels():
            panel.set_workspace(workspace)
        self.palette.setEnabled(workspace is None or not workspace.document.read_only)
        self.totals.set_workspace(workspace)
        self.checkpoints.set_workspace(workspace)

    def show_panel(self, key: str) -> QWidget:
        """Opens the side of a panel and brings the panel to the front."""
        for side, dock in (("left", self.left), ("right", self.right), ("bottom", self.bottom)):
            if dock.has(key):
                self.layouts.open(side)
                dock.show_panel(key)
                return dock.panel(key)
        self.layouts.open("checkpoints")
        return self.timeline

    def focus_places(self) -> list[QWidget]:
        """The visible panels, in the order in which F6 visits them."""
        docks = (("left", self.left), ("right", self.right), ("bottom", self.bottom))
        found = [dock.panel(dock.current) for side, dock in docks if self.layouts.is_shown(side)]
        if self.layouts.is_shown("checkpoints"):
            found.append(self.timeline)
        return found

    def _panels(self) -> tuple[_Panel, ...]:
        return (
            self.palette,
            self.outline,
            self.debug,
            self.inspector,
            self.requests,
            self.run,
            self.messages,
            self.state,
            self.context,
            self.invocations,
            self.events,
            self.problems,
            self._find,
            self.history,
            self._versions,
            self.timeline,
        )

    def _left_dock(self, window: QMainWindow) -> PanelDock:
        dock = PanelDock(self._theme, "left", tr("Left side"), 180, window)
        both = QSplitter(Qt.Orientation.Vertical)
        both.setObjectName("palette_and_outline")
        both.setChildrenCollapsible(False)
        both.setHandleWidth(1)
        both.addWidget(self.palette)
        both.addWidget(_titled(self._theme, tr("Outline"), self.outline))
        both.setStretchFactor(0, 1)  # up to what the palette needs
        both.setStretchFactor(1, 1)
        both.setSizes([340, 260])
        dock.add("palette", tr("Palette"), both)
        dock.add("debug", tr("Debug"), self.debug)
        dock.add("history", tr("History"), self.history)
        return dock

    def _right_dock(self, window: QMainWindow) -> PanelDock:
        dock = PanelDock(self._theme, "right", tr("Right side"), 280, window)
        dock.add("inspector", tr("Inspector"), self.inspector)
        dock.add("requests", tr("Requests"), self.requests)
        return dock

    def _bottom_dock(self, window: QMainWindow) -> PanelDock:
        dock = PanelDock(self._theme, "bottom", tr("Bottom panels"), 120, window)
        dock.add("run", tr("Run"), self.run)
        dock.add("messages", tr("Messages"), self.messages)
        dock.add("state", tr("State"), self.state)
        dock.add("context", tr("Context"), self.context)
        dock.add("invocations", tr("Invocations"), self.invocations)
        dock.add("events", tr("Events"), self.events)
        dock.add("problems", tr("Problems"), self.problems)
        dock.add("find", tr("Find"), self._find)
        dock.add("versions", tr("Versions"), self._versions)
        self.context.counted.connect(lambda count: dock.set_count("context", count))
        dock.strip.add_corner(self.totals)
        fold = QToolButton()
        fold.setObjectName("fold_bottom")
        fold.setIcon(self._theme.icon("chevron-down", "muted"))
        fold.setToolTip(tr("Close the bottom panels (Alt+2)"))
        fold.setAccessibleName(tr("Close the bottom panels"))
        fold.setFixedSize(24, 24)
        fold.clicked.connect(self._on_fold_clicked)
        dock.strip.add_corner(fold)
        return dock

    def _on_fold_clicked(self) -> None:
        self.layouts.toggle("bottom")


def _find_panel(theme: Theme) -> FindPanel:
    from studio.ui.find import FindPanel

    return FindPanel(theme)


def _versions_panel(theme: Theme) -> VersionsPanel:
    from studio.ui.versions.panel import VersionsPanel

    return VersionsPanel(theme)


def _titled(theme: Theme, title: str, panel: QWidget) -> QWidget:
    """A panel under a header of its own, where it shares a tab with another."""
    holder = QWidget()
    head = Label(theme, title, "section")
    head.setContentsMargins(12, 0, 8, 0)
    head.setFixedHeight(theme.length(30))
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    column.addWidget(head)
    column.addWidget(panel, 1)
    return holder
