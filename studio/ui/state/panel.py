"""The state panel: shared state with its history, what differs between two supersteps, what nodes remember."""

from __future__ import annotations

from functools import cached_property

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.ui.state.difference_page import DifferencePage
from studio.ui.state.moments import NOW, MomentBox
from studio.ui.state.nodes_page import NodesPage
from studio.ui.state.shared_page import SharedPage
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.segments import SegmentedControl

_DELAY = 60


class StatePanel(Panel):
    """While it cannot be seen it only remembers that there is something new."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._stale = False
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.views = SegmentedControl(
            theme,
            (("shared", tr("Shared")), ("difference", tr("Difference")), ("nodes", tr("Nodes"))),
            small=True,
        )
        self.views.setAccessibleName(tr("What is shown of the state"))
        self.views.show_value("shared")
        self.views.edited.connect(self.show_view)
        self.moment = MomentBox(theme, tr("Moment"), now=True)
        self.moment.activated.connect(lambda _index: self.refresh())
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(8)
        bar.addWidget(self.views)
        bar.addWidget(self.moment)
        bar.addStretch(1)
        column.addLayout(bar)
        self.shared = SharedPage(theme)
        self._pages = QStackedWidget()
        self._pages.addWidget(self.shared)
        column.addWidget(self._pages, 1)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_DELAY)
        self._timer.timeout.connect(self._on_timer_timeout)

    @cached_property
    def difference(self) -> DifferencePage:
        """The page that compares; made when it is looked at first."""
        page = DifferencePage(self.theme)
        self._pages.addWidget(page)
        return page

    @cached_property
    def nodes(self) -> NodesPage:
        """The page of nodes; made when it is looked at first."""
        page = NodesPage(self.theme)
        self._pages.addWidget(page)
        return page

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        self._timer.stop()

    def show_workspace(self) -> None:
        self.shared.tree.show_values({})
        self.moment.choose(NOW)
        if "nodes" in self.__dict__:
            self.nodes.clear()
        if "difference" in self.__dict__:
            self.difference.show_run(self.workspace, anew=True)
        self.refresh()

    def show_view(self, view: object) -> None:
        """Shows ``shared``, ``difference`` or ``nodes``."""
        self.views.show_value(view)
        page = self.difference if view == "difference" else self.nodes if view == "nodes" else self.shared
        self._pages.setCurrentWidget(page)
        self.moment.setVisible(view != "difference")
        self.refresh()

    def refresh(self) -> None:
        """Shows everything as it is."""
        self._stale = False
        self.moment.show_moments(self.workspace, NOW)
        page = self._pages.currentWidget()
        if isinstance(page, DifferencePage):
            page.show_run(self.workspace)
        elif isinstance(page, NodesPage):
            page.show_moment(self.workspace, self.moment.moment)
        else:
            self.shared.show_moment(self.workspace, self.moment.moment)

    def showEvent(self, event: object) -> None:
        super().showEvent(event)  # type: ignore[arg-type]
        if self._stale:
            self.refresh()

    def _on_timer_timeout(self) -> None:
        if self.isVisible():
            self.refresh()
        else:
            self._stale = True

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self.show_workspace()
        elif (update.shared_state or update.supersteps or update.checkpoints) and not self._timer.isActive():
            self._timer.start()
