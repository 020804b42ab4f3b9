"""The checkpoints panel: strip or tree, and the buttons that go back or branch."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from studio.bridge.run_model import RunModel
from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.edits import SetWorkflow
from studio.ui.dialogs.file_dialogs import choose_bundle, choose_bundle_target
from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.timeline.arranger import Arranger
from studio.ui.timeline.entries import branch_entries, checkpoint_entries, panel_entries
from studio.ui.timeline.find_bar import FindBar
from studio.ui.timeline.legend import Legend
from studio.ui.timeline.menu import ask_delete, ask_remove_from_disk, make_menu
from studio.ui.timeline.notice import Notice
from studio.ui.timeline.plan import Plan, Spot, Track
from studio.ui.timeline.view import TREE_FROM, TimelineView
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.empty import EmptyText
from studio.ui.widgets.panel import Panel
from studio.ui.widgets.restoring import ask_fork, ask_restore, ask_resume
from studio.ui.widgets.sources import counted

_GOES_ON = ("waiting", "paused", "interrupted")
_HELD = frozenset({RunState.PAUSED, RunState.PAUSING})


class _Side(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme

    def paintEvent(self, _event: QPaintEvent) -> None:
        QPainter(self).fillRect(0, 0, 1, self.height(), self._theme.color("line"))


def _arranged(run: RunModel) -> object:
    """What a plan depends on, as far as a change of the run's state can change it."""
    branches = tuple((b.branch, b.state, b.name, b.note, b.elsewhere, b.usage) for b in run.branches)
    return run.branch, len(run.checkpoints), branches


class TimelinePanel(Panel):
    """A click selects a checkpoint; Enter restores it, Shift+Enter forks from it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        self._arranged: object = None
        self._arranger = Arranger(self)
        self._arranger.arranged.connect(self._on_arranger_arranged)
        """What the plan that is shown was made of."""
        self._stack = QStackedWidget()
        self._stack.addWidget(EmptyText(theme, tr("Checkpoints appear here after the first superstep.")))
        content = QWidget()
        row = QHBoxLayout(content)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.view = self._make_view()
        row.addWidget(self.view, 1)
        row.addWidget(self._make_side())
        self._stack.addWidget(content)
        self.notice = Notice(theme)
        self.notice.pressed.connect(self._on_notice_pressed)
        outer.addWidget(self.notice)
        self.find_bar = FindBar(theme)
        self.find_bar.hide()
        self.find_bar.query_changed.connect(self._on_find_bar_query_changed)
        self.find_bar.stepped.connect(self.view.step_found)
        self.find_bar.closed.connect(self._on_find_bar_closed)
        outer.addWidget(self.find_bar)
        outer.addWidget(self._stack, 1)
        self._legend = Legend(theme)
        self._legend.hide()
        self._legend.undo_button.clicked.connect(self._on_undo_button_clicked)
        self._legend.keep_button.clicked.connect(self.show_keeping)
        outer.addWidget(self._legend)
        self.setMinimumHeight(64)

    def _make_view(self) -> TimelineView:
        view = TimelineView(self.theme)
        view.picked.connect(self._on_view_picked)
        view.restore_requested.connect(self.restore)
        view.fork_requested.connect(self.fork)
        view.branch_requested.connect(self.show_branch)
        view.named.connect(self._on_view_named)
        view.branch_named.connect(self._on_view_branch_named)
        view.pin_requested.connect(self.pin)
        view.menu_requested.connect(self._on_view_menu_requested)
        view.compare_requested.connect(self.compare)
        view.find_requested.connect(self._on_view_find_requested)
        view.tagged.connect(self._on_view_tagged)
        return view

    def enter(self, workspace: Workspace) -> None:
        workspace.run.updated.connect(self._on_run_updated)
        workspace.run.found.connect(self._on_run_found)
        workspace.run.mapping_needed.connect(self._on_run_mapping_needed)
        workspace.run.upkeep_changed.connect(self._on_run_upkeep_changed)
        workspace.run.state_changed.connect(self._on_run_state_changed)
        workspace.selection.changed.connect(self._on_selection_changed)

    def leave(self, workspace: Workspace) -> None:
        self._arranger.stop()
        workspace.run.updated.disconnect(self._on_run_updated)
        workspace.run.found.disconnect(self._on_run_found)
        workspace.run.mapping_needed.disconnect(self._on_run_mapping_needed)
        workspace.run.upkeep_changed.disconnect(self._on_run_upkeep_changed)
        workspace.run.state_changed.disconnect(self._on_run_state_changed)
        workspace.selection.changed.disconnect(self._on_selection_changed)

    def show_workspace(self) -> None:
        self.find_bar.close_search()
        self.view.compared = None
        self.refresh()
        self._measure_when_seen()

    def _measure_when_seen(self) -> None:
        """Sizes take a look at the whole file: only when somebody sees them."""
        if self.workspace is not None and not self._legend.isHidden() and self.workspace.run.sizes is None:
            self.workspace.run.measure()

    def _on_run_upkeep_changed(self) -> None:
        if self.workspace is not None:
            self._legend.show_run(self.workspace.run)
            self.notice.show_run(self.workspace.run)

    def _on_notice_pressed(self) -> None:
        run = self.workspace.run if self.workspace is not None else None
        if run is not None and run.file_trouble:
            run.begin_new_file()
        elif run is not None:
            ask_remove_from_disk(self.theme, self, run)

    def refresh(self) -> None:
        """Shows the tree as it is."""
        workspace = self.workspace
        checkpoints = workspace.run.checkpoints if workspace is not None else []
        self._stack.setCurrentIndex(1 if checkpoints else 0)
        if workspace is not None:
            run = workspace.run
            self._arranged = _arranged(run)
            self._arranger.ask(run.checkpoints, run.branches, run.branch)
        self._show_legend()
        self._show_buttons()

    def _on_arranger_arranged(self, plan: Plan) -> None:
        if self.workspace is not None:
            self._show_plan(self.workspace, plan)
            self._show_legend()
            self._show_buttons()

    def _show_plan(self, workspace: Workspace, plan: Plan) -> None:
        run = workspace.run
        self.view.show_plan(plan, run.here, workspace.selection.checkpoint, run.branch, run.state in _HELD)
        self.notice.show_run(run)

    def _on_run_state_changed(self) -> None:
        """A run changes its state far more often than its tree; arranging thousands of checkpoints takes its time."""
        if self.workspace is None or _arranged(self.workspace.run) != self._arranged:
            self.refresh()
        else:
            self._show_plan(self.workspace, self.view.plan)
            self._show_buttons()

    def restore(self, checkpoint: str | None = None) -> None:
        """Shows the moment of a checkpoint (default: the selected one); asks first if that stops a run."""
        chosen = checkpoint or self._chosen()
        if self.workspace is not None and chosen is not None and self._may("restore", chosen):
            ask_restore(self.theme, self, self.workspace, chosen)

    def fork(self, checkpoint: str | None = None) -> None:
        """Runs a new branch from a checkpoint (default: the selected one); asks first if that reaches outside."""
        chosen = checkpoint or self._chosen()
        if self.workspace is not None and chosen is not None and self._may("fork", chosen):
            ask_fork(self.theme, self, self.workspace, chosen)

    def fork_edited(self, checkpoint: str | None = None) -> None:
        """Opens the sheet of a fork with edits (default: of the selected checkpoint)."""
        chosen = checkpoint or self._chosen()
        if self.workspace is not None and chosen is not None and self._may("fork", chosen):
            from studio.ui.dialogs.fork_sheet import open_fork_sheet

            open_fork_sheet(self.theme, self.workspace, chosen, self)

    def show_branch(self, branch: str) -> None:
        """Shows a branch at its end, with its forms if it waits for answers."""
        run = self.workspace.run if self.workspace is not None else None
        view = next((b for b in run.branches if b.branch == branch), None) if run is not None else None
        if view is not None and view.state in _GOES_ON and not view.elsewhere:
            self.resume_branch(branch, answer=True)  # it stands where it can go on, perhaps with another drawing
        elif run is not None:
            run.show_branch(branch)

    def resume(self) -> None:
        """Goes on with the interrupted branch that is selected or shown; shows one that waits for an answer."""
        track = self._unfinished()
        if self.workspace is None or track is None:
            return
        self.resume_branch(track.branch, answer=track.state == "waiting")

    def resume_branch(self, branch: str, *, answer: bool = False) -> None:
        """Goes on with an interrupted branch; asks first if the drawing is not the one that it ran."""
        if self.workspace is not None:
            ask_resume(self.theme, self, self.workspace, branch, answer=answer)

    def rename(self) -> None:
        """Opens a field for the name of the selected checkpoint."""
        chosen = self._chosen()
        if chosen is not None:
            self.view.edit_name(chosen)

    def pin(self, checkpoint: str | None = None) -> None:
        """Pins a checkpoint (default: the selected one), or takes the pin away."""
        spot = self.view.plan.by_id.get(checkpoint or self._chosen() or "")
        if self.workspace is not None and spot is not None:
            self.workspace.run.mark(spot.checkpoint, pinned=not spot.pinned)

    def delete_branch(self, branch: str) -> None:
        """Deletes a branch, after a question with numbers."""
        if self.workspace is not None:
            ask_delete(self.theme, self, self.workspace.run, branch)

    def summary(self) -> str:
        """For a folded header: "Run 12 · 9 checkpoints · 2 branches"; "" without any."""
        run = self.workspace.run if self.workspace is not None else None
        if run is None or not run.checkpoints:
            return tr("the file of runs cannot be used") if run is not None and run.file_trouble else ""
        number = next((b.number for b in run.branches if b.branch == run.branch), None)
        shown = counted(len(run.checkpoints), tr("1 checkpoint"), tr("{count} checkpoints"))
        shown += " · " + counted(len(run.branches), tr("1 branch"), tr("{count} branches"))
        shown += f" · {self._loose_end()}" if self._loose_end() else ""
        shown += " · " + tr("in memory only") if run.in_memory_only else ""
        return tr("Run {number}").format(number=number) + f" · {shown}" if number is not None else shown

    def _loose_end(self) -> str:
        """What waits for the person at the branch that *Resume* is about."""
        track = self._unfinished()
        if track is None:
            return ""
        waits, was_cut = tr("{branch} waits for your answer"), tr("{branch} was interrupted")
        return (waits if track.state == "waiting" else was_cut).format(branch=track.name)

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
        self.resume_button = Button(self.theme, tr("Resume"), "own:play", "primary", small=True)
        self.resume_button.clicked.connect(self.resume)
        for button in (self.restore_button, self.fork_button, self.resume_button):
            button.at_left = True
            column.addWidget(button)
        column.addStretch(1)
        return side

    def _chosen(self) -> str | None:
        return self.workspace.selection.checkpoint if self.workspace is not None else None

    def _unfinished(self) -> Track | None:
        """The branch that *Resume* is about: the selected one, else the shown one, else the newest."""
        tracks, chosen = self.view.plan.tracks, self.view.plan.by_id.get(self._chosen() or "")
        run = self.workspace.run if self.workspace is not None else None
        if run is None or not tracks:
            return None
        newest = max(tracks, key=lambda t: (t.number, t.row))
        shown = next((t for t in tracks if t.branch == run.branch), newest)
        track = tracks[chosen.row] if chosen is not None else shown
        answerable = track.state == "waiting" and not run.requests
        return track if answerable or run.is_interrupted(track.branch) else None

    def _may(self, command: str, checkpoint: str) -> bool:
        assert self.workspace is not None
        spot = self.view.plan.by_id.get(checkpoint)
        return spot is not None and spot.glyph != "broken" and self.workspace.run.can(command)[0]

    def _show_resume(self) -> None:
        track = self._unfinished()
        if track is None:
            self._let_go_of_focus(self.resume_button)
        self.resume_button.setVisible(track is not None)
        if track is not None and self.workspace is not None:
            waits = track.state == "waiting"
            allowed, why = self.workspace.run.can("restore")
            names = {"branch": track.name, "number": track.number}
            hint = (
                tr("Show the question of {branch} of run {number}")
                if waits
                else tr("Go on with {branch} of run {number} from its last checkpoint")
            )
            if not allowed:
                self._let_go_of_focus(self.resume_button)
            self.resume_button.setText(tr("Answer…") if waits else tr("Resume"))
            self.resume_button.set_icon_name("hand" if waits else "own:play")
            self.resume_button.setEnabled(allowed)
            self.resume_button.setToolTip(tip(hint.format(**names) if allowed else why))

    def _show_buttons(self) -> None:
        self._show_resume()
        chosen = self._chosen()
        for button, command in ((self.restore_button, "restore"), (self.fork_button, "fork")):
            why = self.why_not(command, chosen)
            if why:
                self._let_go_of_focus(button)
            button.setEnabled(not why)
            button.setToolTip(tip(why))

    def _let_go_of_focus(self, button: Button) -> None:
        """Before a button goes: Qt would give its focus to the next field, wherever in the window that is."""
        if button.hasFocus():
            self.view.setFocus()

    def why_not(self, command: str, checkpoint: str | None) -> str:
        """Why a command does not apply to a checkpoint; "" if it does."""
        run = self.workspace.run if self.workspace is not None else None
        view = next((c for c in run.checkpoints if c.checkpoint == checkpoint), None) if run is not None else None
        if run is None or view is None:
            return tr("Select a checkpoint first")
        return view.problem or run.can(command)[1]

    def _show_legend(self) -> None:
        has = bool(self.view.plan.spots) and self.height() >= TREE_FROM + 30
        if has and self._legend.isHidden() and self.workspace is not None:
            self._legend.show()
            self._legend.show_run(self.workspace.run)
            self._measure_when_seen()
        self._legend.setVisible(has)

    def _on_view_picked(self, checkpoint: str) -> None:
        if self.workspace is not None:
            self.workspace.selection.look_at_checkpoint(checkpoint)

    def _on_view_named(self, checkpoint: str, name: str) -> None:
        if self.workspace is not None:
            self.workspace.run.mark(checkpoint, name=name)

    def _on_view_branch_named(self, branch: str, name: str) -> None:
        if self.workspace is not None:
            self.workspace.run.rename_branch(branch, name)

    def _on_view_menu_requested(self, spot: Spot | None, track: Track, at: QPoint) -> None:
        if self.workspace is not None:
            entries = [*(checkpoint_entries(self, spot) if spot is not None else ()), *branch_entries(self, track)]
            make_menu(self.theme, self, entries).popup(at)

    def offer(self, at: QPoint) -> None:
        """Opens the menu of the panel at a place of the screen."""
        make_menu(self.theme, self, panel_entries(self)).popup(at)

    def compare(self, a: str, b: str) -> None:
        """Compares two checkpoints or branches in a tab of their own."""
        self.view.compared = None
        self.view.viewport().update()
        if self.workspace is not None:
            self.workspace.comparison_offered.emit(a, b)

    def compare_marked(self) -> None:
        """Compares the selected checkpoint with the marked one, else with the end of the branch that is shown; that
        end itself with the branch that began before."""
        run, chosen = (self.workspace.run if self.workspace is not None else None), self._chosen()
        if run is None or chosen is None:
            return
        other = self.view.compared if self.view.compared not in (None, chosen) else run.branch
        end = next((c.checkpoint for c in reversed(run.checkpoints) if c.branch == run.branch), None)
        if other == run.branch and chosen == end:
            shown = next((b.started for b in run.branches if b.branch == run.branch), 0.0)
            before = [b for b in run.branches if b.branch != run.branch and b.started <= shown]
            other = max(before, key=lambda b: b.started).branch if before else other
        if other is not None:
            self.compare(other, chosen)

    def _on_run_mapping_needed(self, checkpoint: str) -> None:
        if self.workspace is not None:
            from studio.ui.dialogs.mapping_sheet import open_mapping_sheet

            open_mapping_sheet(self.theme, self.workspace, checkpoint, self.window())

    def _on_undo_button_clicked(self) -> None:
        if self.workspace is not None:
            self.workspace.run.put_back()

    def delete_checkpoint(self, checkpoint: str) -> None:
        """Takes one checkpoint away; it can be put back."""
        if self.workspace is not None:
            self.workspace.run.delete_checkpoints([checkpoint])

    def export_bundle(self, key: str) -> None:
        """Asks where, and writes a branch or checkpoint for another machine."""
        if self.workspace is not None:
            run, folder = self.workspace.run, self._folder()
            name = "".join(c if c.isalnum() or c in " -_" else "-" for c in run.title_of(key))
            target = folder / f"{self.workspace.document.workflow.name}, {name}.superstep-runs"
            choose_bundle_target(self, target, lambda file: run.export_bundle(key, file))

    def import_bundle(self) -> None:
        """Asks for a file of runs and adds them."""
        if self.workspace is not None:
            choose_bundle(self, self._folder(), self.workspace.run.import_bundle)

    def _folder(self) -> Path:
        path = self.workspace.document.path if self.workspace is not None else None
        return path.parent if path is not None else Path.home()

    def keep_on_disk(self, on: bool) -> None:
        """Whether runs of this workflow are kept on disk; a step that can be undone."""
        if self.workspace is not None:
            text = tr("Keep runs on disk") if on else tr("Keep no messages on disk")
            self.workspace.document.execute(SetWorkflow({"runs_on_disk": on}), text)

    def show_keeping(self) -> None:
        """Opens the rules of retention."""
        if self.workspace is not None:
            from studio.ui.timeline.keeping_dialog import KeepingDialog

            KeepingDialog(self.theme, self.workspace.run, self).open()

    def open_search(self) -> None:
        """Opens the search."""
        if self._stack.currentIndex() == 1:
            self.find_bar.open_search()

    def go_before_error(self) -> None:
        """Selects the last checkpoint before what failed in the shown run."""
        before = self.workspace.run.checkpoint_before_error() if self.workspace is not None else None
        if before is not None:
            self.view.pick(before)

    def _on_find_bar_query_changed(self, query: str) -> None:
        if self.workspace is not None and query:
            self.workspace.run.search(query)
        else:
            self._show_found("", (), "")

    def _on_run_found(self, query: str, found: tuple[str, ...], problem: str) -> None:
        if query == self.find_bar.field.text().strip():
            self._show_found(query, found, problem)

    def _show_found(self, query: str, found: tuple[str, ...], problem: str) -> None:
        self.view.found = frozenset(found) if query and not problem else None
        self.find_bar.show_found(len(found), problem)
        self.view.viewport().update()

    def _on_find_bar_closed(self) -> None:
        self._show_found("", (), "")
        self.view.setFocus()

    def _on_view_find_requested(self, by: int) -> None:
        if by == 0 or self.find_bar.isHidden():
            self.open_search()
        else:
            self.view.step_found(by)

    def _on_view_tagged(self, checkpoint: str, text: str) -> None:
        if self.workspace is not None:
            tags = [tag.lstrip("#") for tag in text.replace(",", " ").split()]
            self.workspace.run.mark(checkpoint, tags=tags)

    def _on_selection_changed(self) -> None:
        if self.workspace is not None:
            self.view.selected = self.workspace.selection.checkpoint
            self.view.viewport().update()
            self._show_buttons()

    def _on_run_updated(self, update: RunUpdate) -> None:
        if update.checkpoints or update.everything:
            self.refresh()
