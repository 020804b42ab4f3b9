"""How the window follows a run: layouts, panels that come to the front, what could not be done."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from studio.debugger.states import ENDED, RunState
from studio.ui.dialogs.messages import Choice, show_problem
from studio.ui.text import tr
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow

_UNDER_WAY = frozenset({RunState.RUNNING, RunState.STEPPING, RunState.PAUSING, RunState.PAUSED, RunState.WAITING})


class RunFollowing:
    """Nothing here takes the focus."""

    def __init__(self, window: MainWindow) -> None:
        self._window = window
        self._left_chosen = False
        """The user has brought a panel of the left side to the front: it stays as it is."""
        self._left_before = ""
        """What was there before a pause brought the debug panel; empty: it was not brought."""
        self._bringing = False
        window.sides.left.current_changed.connect(self._on_left_current_changed)

    def on_state_changed(self) -> None:
        """The run of the shown workflow has another state."""
        page = self._window.page
        if page is None:
            return
        run, sides = page.workspace.run, self._window.sides
        if run.state in _UNDER_WAY and not page.run_shown:
            page.run_shown = True
            self._show_debug_layout(page)
            sides.bottom.show_panel("run")
        if run.requests and run.state is RunState.WAITING:
            sides.right.show_panel("requests")
        elif not run.requests and run.unanswered is None and sides.right.current == "requests":
            sides.right.show_panel("inspector")
        if run.state is RunState.PAUSED and not page.debug_shown:
            page.debug_shown = True
            if not self._left_chosen and sides.left.current != "debug":
                self._left_before = sides.left.current
                self._bring_left("debug")
        if run.state in ENDED or run.state is RunState.IDLE:
            page.debug_shown = page.run_shown = False
            if self._left_before:
                self._bring_left(self._left_before)

    def on_failed(self, sentence: str) -> None:
        """A command could not be carried out."""
        window, page = self._window, self._window.page
        idle = page is None or page.workspace.run.state is RunState.IDLE
        title = tr("The run did not start.") if idle else tr("That is not possible now.")
        errors = [p for p in page.workspace.problems.problems if p.severity == "error"] if page is not None else []
        choices = [Choice(tr("Close"), _nothing, default=not errors, cancels=True)]
        if idle and errors and page is not None:
            choices = [
                Choice(tr("Show problems"), self._show_problems, default=True),
                *self._ways_out_of_an_import(page),
                *choices,
            ]
        elif idle and page is not None and not page.trust_bar.isHidden():
            choices = [
                Choice(tr("Show code…"), page.trust_bar.show_code, default=True),
                Choice(tr("Close"), _nothing, cancels=True),
            ]
        show_problem(window.theme, window, title, sentence, choices)

    def _ways_out_of_an_import(self, page: WorkflowPage) -> list[Choice]:
        """What a workflow of another program may miss: steps that are told in its report, providers and tools."""
        from studio.ui.dialogs.provider_sheet import is_needed

        if page.workspace.document.workflow.imported is None:
            return []
        pages = self._window.pages
        found = [Choice(tr("Import report…"), partial(pages.show_import_report, page))]
        if is_needed(page.workspace):
            found.append(Choice(tr("Map providers and tools…"), partial(pages.map_providers, page)))
        return found

    def _show_problems(self) -> None:
        self._window.sides.show_panel("problems")

    def _bring_left(self, panel: str) -> None:
        self._bringing = True
        self._window.sides.left.show_panel(panel)
        self._bringing = False
        if panel == self._left_before:
            self._left_before = ""

    def _on_left_current_changed(self, _panel: str) -> None:
        if not self._bringing:
            self._left_chosen, self._left_before = True, ""

    def _show_debug_layout(self, page: WorkflowPage) -> None:
        """It stays after the run. A drawing that was seen whole stays whole, or at least can be read."""
        layouts = self._window.sides.layouts
        if self._window.preferences.layouts.get("switch_on_run", True) and layouts.current != "debug":
            if page.sees_all:
                page.canvas.show_readable()
            layouts.switch("debug")


def _nothing() -> None:
    return
