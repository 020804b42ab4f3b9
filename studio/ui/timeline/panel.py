"""The checkpoints panel: strip or tree, and the buttons that go back or branch."""

from __future__ import annotations

from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.timeline.legend import Legend
from studio.ui.timeline.plan import arrange
from studio.ui.timeline.view import TREE_FROM, TimelineView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.restoring import ask_restore
from studio.ui.widgets.sources import counted

_HELD = frozenset({RunState.PAUSED, RunState.PAUSING})


class _Side(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, 1, self.height(), self._theme.color("line"))


class TimelinePanel(Panel):
    """A click selects a checkpoint; Enter restores it, Shift+Enter forks from it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._stack = QStackedWidget()
        self._stack.addWidget(EmptyText(theme, tr("Checkpoints appear here after the first superstep.")))
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.view = TimelineView(theme)
        self.view.picked.connect(self._on_view_picked)
        self.view.restore_requested.connect(self.restore)
        self.view.fork_requested.connect(self.fork)
        row.addWidget(self.view, 1)
        row.addWidget(self._make_side())
        self._stack.addWidget(content)
        outer.addWidget(self._stack, 1)
        self._legend = Legend(theme)
        self._legend.hide()
        outer.addWidget(self._legend)
        self.setMinimumHeight(64)

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.state_changed.connect(self.refresh)
        workspace.selection.changed.connect(self._on_selection_changed)

    def leave(self, workspace: Workspace) -> None:
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.state_changed.disconnect(self.refresh)
        workspace.selection.changed.disconnect(self._on_selection_changed)

    def show_workspace(self) -> None:
        self.refresh()

    def refresh(self) -> None:
        """Shows the tree as it is."""
        workspace = self.workspace
        checkpoints = workspace.run.checkpoints if workspace is not None else []
        self._stack.setCurrentIndex(1 if checkpoints else 0)
        if workspace is not None:
            run = workspace.run
            plan = arrange(run.checkpoints, run.branches, run.branch)
            selected = workspace.selection.checkpoint
            self.view.show_plan(plan, run.here, selected, run.branch, run.state in _HELD)
        self._show_legend()
        self._show_buttons()

    def restore(self, checkpoint: str | None = None) -> None:
        """Shows the moment of a checkpoint (default: the selected one); asks first if that stops a run."""
        chosen = checkpoint or self._chosen()
        if self.workspace is not None and chosen is not None and self._may("restore", chosen):
            ask_restore(self, self.workspace, chosen)

    def fork(self, checkpoint: str | None = None) -> None:
        """Runs a new branch from a checkpoint (default: the selected one)."""
        chosen = checkpoint or self._chosen()
        if self.workspace is not None and chosen is not None and self._may("fork", chosen):
            self.workspace.run.fork(chosen)

    def summary(self) -> str:
        """For a folded header: "Run 12 · 9 checkpoints · 2 branches"; "" without any."""
        if self.workspace is None or not self.workspace.run.checkpoints:
            return ""
        run = self.workspace.run
        number = next((b.number for b in run.branches if b.branch == run.branch), None)
        shown = counted(len(run.checkpoints), tr("1 checkpoint"), tr("{count} checkpoints"))
        shown += " · " + counted(len(run.branches), tr("1 branch"), tr("{count} branches"))
        return tr("Run {number}").format(number=number) + f" · {shown}" if number is not None else shown

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._show_legend()

    def _make_side(self) -> QWidget:
        side = _Side(self.theme)
        column = QVBoxLayout(side)
        column.setContentsMargins(11, 9, 10, 9)
        column.setSpacing(4)
        self.restore_button = Button(self.theme, tr("Restore…"), "history", small=True)
        self.restore_button.clicked.connect(lambda: self.restore())
        self.fork_button = Button(self.theme, tr("Fork"), "git-branch", small=True)
        self.fork_button.clicked.connect(lambda: self.fork())
        self.restore_button.at_left = self.fork_button.at_left = True
        column.addWidget(self.restore_button)
        column.addWidget(self.fork_button)
        column.addStretch(1)
        return side

    def _chosen(self) -> str | None:
        return self.workspace.selection.checkpoint if self.workspace is not None else None

    def _may(self, command: str, checkpoint: str) -> bool:
        assert self.workspace is not None
        spot = self.view.plan.by_id.get(checkpoint)
        return spot is not None and spot.glyph != "broken" and self.workspace.run.can(command)[0]

    def _show_buttons(self) -> None:
        chosen = self._chosen()
        for button, command in ((self.restore_button, "restore"), (self.fork_button, "fork")):
            if self.workspace is None or chosen is None:
                allowed, why = False, tr("Select a checkpoint first")
            else:
                allowed, why = self.workspace.run.can(command)
                view = next((c for c in self.workspace.run.checkpoints if c.checkpoint == chosen), None)
                if view is None or view.problem:
                    allowed, why = False, view.problem if view is not None else tr("Select a checkpoint first")
            button.setEnabled(allowed)
            button.setToolTip(why)

    def _show_legend(self) -> None:
        has = bool(self.view.plan.spots)
        self._legend.setVisible(has and self.height() >= TREE_FROM + 30)

    def _on_view_picked(self, checkpoint: str) -> None:
        if self.workspace is not None:
            self.workspace.selection.look_at_checkpoint(checkpoint)

    def _on_selection_changed(self) -> None:
        if self.workspace is not None:
            self.view.selected = self.workspace.selection.checkpoint
            self.view.viewport().update()
            self._show_buttons()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.checkpoints or update.everything:
            self.refresh()
