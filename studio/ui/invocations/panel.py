"""The panel of the invocation chart: buttons for the zoom and the next error, and what is chosen."""

from __future__ import annotations

from itertools import islice

from PySide6.QtCore import QTimer
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.document.lines import path_names
from studio.ui.invocations.chart import InvocationChart
from studio.ui.invocations.plan import Plan
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.labels import Elided
from studio.ui.widgets.panel import Panel

_DELAY = 100
_PIECE = 400
"""Invocations that are taken in one piece of work."""


class InvocationsPanel(Panel):
    """Picking a bar selects its node on the canvas."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._known: set[str] = set()
        self._waiting: set[str] = set()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        bar = QHBoxLayout()
        bar.setContentsMargins(11, 5, 11, 5)
        bar.setSpacing(6)
        self.chosen = Elided(theme, tr("Ctrl and wheel zoom along the time."), "body", "muted")
        bar.addWidget(self.chosen, 1)
        self.error_button = self._button(bar, tr("Next error"), "arrow-down", tr("Next error (F8)"))
        self.out_button = self._button(bar, "", "zoom-out", tr("Zoom out (-)"))
        self.in_button = self._button(bar, "", "zoom-in", tr("Zoom in (+)"))
        self.fit_button = self._button(bar, "", "own:fit", tr("Show the whole run (0)"))
        column.addLayout(bar)
        self.chart = InvocationChart(theme)
        self._stack = QStackedWidget()
        self._stack.addWidget(EmptyText(theme, tr("No run yet. When each node ran is shown here.")))
        self._stack.addWidget(self.chart)
        column.addWidget(self._stack, 1)
        self.error_button.clicked.connect(lambda: self.chart.next_error(1))
        self.out_button.clicked.connect(lambda: self.chart.zoom(0.5))
        self.in_button.clicked.connect(lambda: self.chart.zoom(2.0))
        self.fit_button.clicked.connect(self.chart.fit)
        self.chart.picked.connect(self._on_chart_picked)
        self.chart.activated.connect(self._on_chart_picked)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.refresh)

    def _button(self, bar: QHBoxLayout, text: str, icon: str, tip: str) -> Button:
        button = Button(self.theme, text, icon, small=True)
        button.setToolTip(tip)
        button.setAccessibleName(tip)
        bar.addWidget(button)
        return button

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        self._timer.stop()

    def show_workspace(self) -> None:
        self._known.clear()
        workspace = self.workspace
        self.chart.plan = (
            Plan()
            if workspace is None
            else Plan(lambda path: path_names(workspace.document.workflow, path[:-1], path[-1])[-1])
        )
        self.chart.chosen = None
        self.chart.fit()
        self._waiting = set(workspace.run.invocations) if workspace is not None else set()
        self.refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refresh()

    def refresh(self) -> None:
        """Takes what is new; nothing while the panel cannot be seen."""
        if self.workspace is None:
            self._stack.setCurrentIndex(0)
            return
        if not self.isVisible():
            return
        run = self.workspace.run
        if len(self._waiting) > _PIECE:  # as the run has them: by their beginnings
            waiting = list(islice((key for key in run.invocations if key in self._waiting), _PIECE))
            self._waiting.difference_update(waiting)
            self._waiting &= run.invocations.keys()
            self._timer.start(0)
        else:
            waiting, self._waiting = list(self._waiting), set()
        found = [run.invocations[key] for key in waiting if key in run.invocations]
        found.sort(key=lambda view: view.started)
        self.chart.plan.take(found, self._known)
        self._stack.setCurrentIndex(1 if self.chart.plan.rows else 0)
        failed = len(self.chart.plan.failed)
        self.error_button.setEnabled(bool(failed))
        self.error_button.setToolTip(tr("Next error (F8)") if failed else tr("Nothing failed."))
        self.chart.refresh()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self.show_workspace()
        elif update.invocations:
            self._waiting |= update.invocations
            if self.isVisible() and not self._timer.isActive():
                self._timer.start(_DELAY)

    def _on_chart_picked(self, _invocation: str) -> None:
        view = self.chart.chosen
        if view is None or self.workspace is None:
            return
        self.chosen.set_text(self.chart.words(view).replace("\n", " · "), "fail_t" if view.error else "text")
        self.workspace.selection.reveal(view.inside[0] if view.inside else view.node)
