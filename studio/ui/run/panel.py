"""The run panel: superstep list at the left; lanes of one superstep, or the outputs, at the right."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QSplitter, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.run.failure_bar import FailureBar
from studio.ui.run.lanes import Lanes
from studio.ui.run.outputs import OutputsView
from studio.ui.run.retry_bar import RetryBar
from studio.ui.run.rows import outputs_shown, rows
from studio.ui.run.stream_search import StreamSearch
from studio.ui.run.superstep_list import SuperstepList
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.panel import Panel

_TICK = 120
"""Milliseconds between two pictures of the growing bars."""


class RunPanel(Panel):
    """Follows the newest superstep until the user picks another one; picking the last one follows again."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._shown = 0
        self._following = True
        self._outputs = 0
        """How many outputs there were when the list was shown."""
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        self._stack = QStackedWidget(self)
        row.addWidget(self._stack)
        self._empty = EmptyText(theme, self._nothing_shown())
        self._stack.addWidget(self._empty)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(1)
        self.list = SuperstepList(theme)
        self.list.setMinimumWidth(180)
        self.list.chosen.connect(self._on_list_chosen)
        self._splitter.addWidget(self.list)
        self._right = QStackedWidget()
        self.lanes = Lanes(theme)
        self.outputs = OutputsView(theme)
        self._right.addWidget(self.lanes)
        self._right.addWidget(self.outputs)
        column = QVBoxLayout(right := QWidget())
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        self.failure = FailureBar(theme)
        self.retries = RetryBar(theme)
        self.search = StreamSearch(theme, self.lanes)
        for bar in (self.failure, self.retries, self.search):
            column.addWidget(bar)
        column.addWidget(self._right, 1)
        self._splitter.addWidget(right)
        self._splitter.setStretchFactor(0, 0)
        self._splitter.setStretchFactor(1, 1)
        self._splitter.setSizes([300, 900])
        self._stack.addWidget(self._splitter)
        self._seen: object = None
        self._make_timers()

    def _make_timers(self) -> None:
        self._same_turn = QTimer(self)
        """Active until the loop goes on after a new state was shown."""
        self._same_turn.setSingleShot(True)
        self._same_turn.setInterval(0)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._on_timer_timeout)

    @property
    def shown_superstep(self) -> int:
        """Number of the superstep whose lanes are shown; 0: the outputs."""
        return self._shown

    def show_superstep(self, number: int) -> None:
        """Shows the lanes of a superstep, or with 0 the outputs."""
        self._on_list_chosen(number)
        self._show_list()

    def can_find(self) -> bool:
        """Whether there are streams to look through."""
        return self._stack.currentIndex() == 1 and self._right.currentWidget() is self.lanes

    def find_in_streams(self) -> None:
        """Opens the search; where outputs are shown, in the streams of the last superstep."""
        if not self.can_find() and self.workspace is not None and self.workspace.run.supersteps:
            self.show_superstep(self.workspace.run.supersteps[-1].number)
        if self.can_find():
            self.search.begin()

    def event(self, event: QEvent) -> bool:
        # With the focus in here, Ctrl+F means these streams, not the workflow.
        if (
            isinstance(event, QKeyEvent)
            and event.type() == QEvent.Type.ShortcutOverride
            and event.matches(QKeySequence.StandardKey.Find)
            and self.can_find()
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Find) and self.can_find():
            self.find_in_streams()
        else:
            super().keyPressEvent(event)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self._on_run_state_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.state_changed.disconnect(self._on_run_state_changed)
        self._timer.stop()
        self._same_turn.stop()

    def show_workspace(self) -> None:
        self._following = True
        self._show_all(anew=True)

    def _show_all(self, *, anew: bool = False) -> None:
        workspace = self.workspace
        self._seen = self._extent()
        self.failure.show_failure(workspace)
        self.retries.show_waits(workspace)
        if workspace is None or not self._has_run(workspace):
            self._empty.label.setText(self._nothing_shown())
            self._shown = 0
            self.lanes.clear()
            self._stack.setCurrentIndex(0)
            return
        self._stack.setCurrentIndex(1)
        if self._following:
            self._shown = self._newest(workspace)
        self._show_list()
        self._show_right(anew=anew)
        self._run_timer()

    def _nothing_shown(self) -> str:
        if self.workspace is not None and self.workspace.run.checkpoints:
            return tr("Press F5 for a new run, or select a checkpoint below to go on with an earlier one.")
        return tr("No run yet. Press F5 to run with the input above.")

    def _has_run(self, workspace: Workspace) -> bool:
        run = workspace.run
        return bool(run.supersteps or run.outputs or (run.state is RunState.PAUSED and run.queued))

    def _newest(self, workspace: Workspace) -> int:
        run = workspace.run
        if outputs_shown(workspace) and run.state is RunState.COMPLETED:
            return 0
        if run.state is RunState.FAILED:
            failed = (v.superstep for v in reversed(run.invocations.values()) if v.status == "failed")
            number = next(failed, 0)
            if number:
                return number
        return next((s.number for s in reversed(run.supersteps) if s.invocations or s.ended is not None), 0)

    def _show_list(self) -> None:
        if self.workspace is not None:
            self.list.show_rows(rows(self.workspace, self.workspace.run.now), self._shown)

    def _show_right(self, *, anew: bool = False) -> None:
        workspace = self.workspace
        if workspace is None:
            return
        if self._shown == 0 and outputs_shown(workspace):
            self.outputs.show_outputs(workspace)
            self._right.setCurrentWidget(self.outputs)
            self.search.close_search()
            return
        step = next((s for s in reversed(workspace.run.supersteps) if s.number == self._shown), None)
        self.lanes.show_invocations(workspace, step.invocations if step is not None else (), anew=anew)
        self._right.setCurrentWidget(self.lanes)
        self.search.refresh()

    def _on_list_chosen(self, number: int) -> None:
        if self.workspace is None:
            return
        self._shown = number
        self._following = number == self._newest(self.workspace)
        self._show_right()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.everything:
            self._following = True
            self._show_all(anew=True)
        elif self._touches(update) and not (self._same_turn.isActive() and self._seen == self._extent()):
            # A frame tells a new state first: what came with it is shown already.
            self._show_all()
        if update.invocations:
            self.lanes.refresh(update.invocations)
            self.search.refresh()
        if update.checkpoints and self._stack.currentIndex() == 0:
            self._empty.label.setText(self._nothing_shown())

    def _touches(self, update: RunUpdate) -> bool:
        return bool(update.supersteps) or update.queued or update.requests or self._shows_outputs(update)

    def _extent(self) -> object:
        """What there is to show, in numbers."""
        if self.workspace is None:
            return None
        run = self.workspace.run
        last = run.supersteps[-1] if run.supersteps else None
        step = (last.number, last.ended, len(last.invocations), len(last.answers)) if last is not None else None
        return run.state, len(run.supersteps), step, len(run.outputs), len(run.queued), len(run.requests)

    def _shows_outputs(self, update: RunUpdate) -> bool:
        """Whether outputs are in sight or new ones are there; texts that stream grow with every frame."""
        count = len(self.workspace.run.outputs) if self.workspace is not None else 0
        before, self._outputs = self._outputs, count
        return update.outputs and (self._shown == 0 or count != before)

    def _on_run_state_changed(self) -> None:
        if self.workspace is not None and self.workspace.run.state is RunState.FAILED:
            self._following = True  # what failed comes to the front, whatever is looked at
        self._show_all()
        self._same_turn.start()

    def _run_timer(self) -> None:
        running = self.workspace is not None and any(s.ended is None for s in self.workspace.run.supersteps[-1:])
        if running and not self._timer.isActive():
            self._timer.start()
        elif not running:
            self._timer.stop()

    def _on_timer_timeout(self) -> None:
        self.retries.show_waits(self.workspace)
        if self.isVisible():
            self._show_list()
            self.lanes.tick()
        self._run_timer()
