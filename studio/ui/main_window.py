"""The window. It only wires: parts are in the rooms of ``studio.ui``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QMainWindow

from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.files import recoverable
from studio.settings import recent
from studio.settings.preferences import Preferences
from studio.settings.preferences import Theme as ThemeChoice
from studio.ui.actions import ACTIONS, Page
from studio.ui.status.status_bar import StatusBar
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.toolbar.action_set import ActionSet
from studio.ui.toolbar.menus import fill_menu_bar
from studio.ui.toolbar.tool_bar import MainToolBar
from studio.ui.widgets.sources import short
from studio.ui.window import drops, memory
from studio.ui.window.debug_flows import debug_command
from studio.ui.window.document_tabs import DocumentPage, DocumentTabs
from studio.ui.window.drawing_functions import OUTLINE_KEEPS
from studio.ui.window.field_keys import FieldKeys
from studio.ui.window.file_flows import FileFlows, OpensWorkspaces
from studio.ui.window.functions import functions
from studio.ui.window.late_menus import late_menus
from studio.ui.window.layouts import DEFAULT_SIZE, LEAST_SIZE, fit_screen, has_room
from studio.ui.window.pages import Pages
from studio.ui.window.palettes import Palettes
from studio.ui.window.run_following import RunFollowing
from studio.ui.window.sides import Sides
from studio.ui.window.situation import checked_of, situation
from studio.ui.window.status_texts import show_status
from studio.ui.window.workflow_page import WorkflowPage

_COUNTS_MS = 150


class MainWindow(QMainWindow):
    """One window with documents as tabs."""

    closed = Signal()
    """The user has closed the window and nothing is left to ask."""

    def __init__(self, theme: Theme, preferences: Preferences, workspaces: OpensWorkspaces) -> None:
        super().__init__()
        self.theme, self.preferences = theme, preferences
        self._memory = memory.load()
        self._leaving = False
        self._session: list[Path | None] = []
        """Files that were closed since the user began to close the window: they come back at the next start."""
        self._shown_workspace: Workspace | None = None
        self.setObjectName("main_window")
        self.setMinimumSize(LEAST_SIZE)
        self.resize(DEFAULT_SIZE)
        self.setWindowIcon(theme.icon("own:logo"))
        self.setAcceptDrops(True)
        self.tabs = DocumentTabs(theme)
        self.setCentralWidget(self.tabs)
        self.files = FileFlows(theme, self.tabs, self, workspaces)
        self.sides = Sides(theme, self, self._memory)
        self.palettes = Palettes(self)
        self.pages = Pages(self)
        self.following = RunFollowing(self)
        self.actions_ = ActionSet(theme, ACTIONS, functions(self), self)
        self.actions_.set_keys(preferences.shortcuts)
        self.tool_bar = MainToolBar(theme, self.actions_)
        self.addToolBar(self.tool_bar)
        self.status = StatusBar(theme)
        self.setStatusBar(self.status)
        fill_menu_bar(self.menuBar(), self.actions_, late_menus(self.files))
        self._field_keys = FieldKeys(self)
        self._refresh_timer = QTimer(self)
        self._refresh_timer.setSingleShot(True)
        self._refresh_timer.timeout.connect(self.refresh)
        self.actions_.add_canvas_widget(self.sides.outline, OUTLINE_KEEPS)
        self._connect()
        self.restoreGeometry(bytes.fromhex(self._memory.geometry)) if self._memory.geometry else None

    @property
    def page(self) -> WorkflowPage | None:
        """The workflow that is shown, or whose code is shown; None on the welcome page."""
        current = self.tabs.current
        if current is None or isinstance(current, WorkflowPage):
            return current
        return next((page for page in self.files.pages() if page.workspace is current.workspace), None)

    @property
    def page_kind(self) -> Page:
        """What kind of page is shown."""
        current = self.tabs.current
        return current.kind if current is not None else "welcome"

    def close_tab(self) -> None:
        """Closes the current tab; asks if there are unsaved changes."""
        current = self.tabs.current
        if current is not None:
            self._on_tabs_close_requested(current)

    # ---- settings
    def apply_preferences(self, preferences: Preferences) -> None:
        """Takes over changed preferences and keeps them."""
        from studio.settings.preferences import change_preferences

        before, self.preferences = self.preferences, preferences
        self.theme.set_scale(preferences.font_scale)
        self.theme.set_choice(preferences.theme)
        self.theme.set_contrast(preferences.more_contrast)
        self.actions_.set_keys(preferences.shortcuts)
        self.tool_bar.show_keys()
        for page in self.files.pages():
            page.canvas.prefer(preferences)
        try:
            change_preferences(before, preferences)
        except OSError as error:
            self.say(tr("The settings could not be saved: {reason}").format(reason=error.strerror or error))
        self.schedule_refresh()

    def choose_theme(self, choice: ThemeChoice) -> None:
        """System, light or dark, at once and for good."""
        self.apply_preferences(replace(self.preferences, theme=choice))

    def refresh_profiles(self) -> None:
        """Shows the model profiles in the tool bar."""
        from studio.settings.profiles import read_profiles

        profiles, _ = read_profiles()
        current = profiles.find(None)
        self.tool_bar.profile.set_profiles([p.name for p in profiles.profiles], current.name if current else "")
        for page in self.files.pages():
            page.workspace.problems.refresh()
        self.schedule_refresh()

    def toggle_minimap(self, page: WorkflowPage) -> None:
        """Shows or hides the minimap of a canvas."""
        page.canvas.toggle_minimap()
        self.schedule_refresh()

    def toggle_snap(self, page: WorkflowPage) -> None:
        """Snapping to the grid, on or off."""
        page.canvas.toggle_snap()
        self.schedule_refresh()

    def toggle_full_screen(self) -> None:
        """Full screen and back."""
        self.showNormal() if self.isFullScreen() else self.showFullScreen()
        self.schedule_refresh()

    # ---- runs
    def remember_input(self, page: WorkflowPage, text: str) -> None:
        """Keeps an input for the next time."""
        self.tool_bar.input.remember(text)
        self._memory.inputs[page.workspace.document.workflow.id] = self.tool_bar.input.history
        self._note_privacy(page)

    def _note_privacy(self, page: WorkflowPage) -> None:
        """Whether inputs of a workflow may be kept on disk."""
        workflow, private = page.workspace.document.workflow, self._memory.private
        (private.discard if workflow.runs_on_disk else private.add)(workflow.id)

    def focus_input(self) -> None:
        """Puts the focus into the input field."""
        self.tool_bar.input.setFocus()
        self.tool_bar.input.selectAll()

    # ---- state
    def say(self, text: str) -> None:
        """A passing line in the status bar."""
        self.status.showMessage(text, 8000)

    def schedule_refresh(self, _changed: object = None) -> None:
        """Shows titles, actions and status again, once per turn of the loop."""
        if not self._leaving:
            self._refresh_timer.start(0)

    def refresh(self) -> None:
        """Shows titles, actions and status as they are now."""
        page, kind = self.page, self.page_kind
        workspace = page.workspace if page is not None else None
        self.actions_.update(situation(kind, workspace, self._checked()))
        self.tool_bar.show_page(kind)
        state = workspace.run.state if workspace is not None else RunState.IDLE
        self.tool_bar.chip.show_state(state, workspace.run.sentence if workspace is not None else "")
        self.tool_bar.set_paused(state is RunState.PAUSED)
        saved = page.saved_text if page is not None else ""
        show_status(self.status, workspace, self.tool_bar.profile.text(), saved, kind)
        self._count_tabs(workspace)
        self.setWindowTitle(self._title())

    def show_first(self, files: list[Path], *, reopen: bool = True) -> None:
        """Shows the window with the files named at the start, else (with ``reopen``) the tabs of the last session, else
        the welcome page; this one also if there is unsaved work to recover, but behind a file that was named."""
        named, small = bool(files), not self._memory.geometry and not has_room(self)
        fit_screen(self)
        if not files and reopen and self.preferences.reopen_last:
            files = [p for p in map(Path, recent.last_session()) if p.is_file()]
        self.refresh_profiles()
        self.files.open_all(files)
        shown = self.tabs.current
        if shown is None or recoverable():
            self.pages.show_welcome()
        if named and shown is not None and self.tabs.current is not shown:
            self.tabs.show_page(shown)
            self.say(tr("Unsaved work was found. It is offered on the Welcome tab."))
        if small:
            self.showMaximized()
        else:
            self.show()
        if named and self.page is not None:
            self.pages.map_providers_if_needed(self.page)

    # ---- closing
    def close_window(self) -> None:
        """Closes the window as its frame's button does."""
        self.close()

    def end_from_outside(self) -> None:
        """The program is told to end (Ctrl+C, SIGTERM): nothing is asked, unsaved work stays in its journal."""
        for page in self.files.pages():
            page.workspace.keep_unsaved()
        self._leave()

    def closeEvent(self, event: QCloseEvent) -> None:
        if self._leaving:
            event.accept()
            return
        event.ignore()
        self._session.clear()
        self.files.close_all(self._leave)

    def _leave(self) -> None:
        self._leaving = True
        self.sides.layouts.remember()
        for page in self.files.pages():
            self._note_privacy(page)
        self._memory.geometry = bytes(self.saveGeometry().data()).hex()
        memory.save(self._memory)
        paths = dict.fromkeys([*self._session, *(page.workspace.document.path for page in self.files.documents())])
        recent.keep_session([path for path in paths if path is not None])
        self.hide()
        self._let_go()
        self.closed.emit()

    def _let_go(self) -> None:
        """The window outlives its workspaces by what it takes to stop their runs: nothing in it may ask them again."""
        self._refresh_timer.stop()
        self._watch(None)
        self.sides.set_workspace(None)
        for page in self.files.pages():
            page.canvas.set_workspace(None)

    # ---- drops
    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if drops.files_of(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        drops.take(self, drops.files_of(event.mimeData()), event.position().toPoint())
        event.acceptProposedAction()

    # ---- parts
    def _connect(self) -> None:
        self.tabs.current_changed.connect(self._on_tabs_current_changed)
        self.tabs.close_requested.connect(self._on_tabs_close_requested)
        self.files.opened.connect(self._on_files_opened)
        self.files.closing.connect(self._on_files_closing)
        self.files.said.connect(self.say)
        self.files.saved.connect(self.schedule_refresh)
        self.sides.layouts.changed.connect(self.schedule_refresh)
        for dock in (self.sides.left, self.sides.right, self.sides.bottom):
            dock.focus_left.connect(self._on_dock_focus_left)
        self.sides.palette.add_requested.connect(self._on_palette_add_requested)
        self.status.problems_requested.connect(self._on_status_problems_requested)
        self.tool_bar.input.submitted.connect(self._on_input_submitted)
        self.tool_bar.profile.chosen.connect(self._on_profile_chosen)
        self.tool_bar.profile.settings_requested.connect(partial(self.pages.show_settings, "providers"))
        self.theme.changed.connect(self.schedule_refresh)

    def _checked(self) -> frozenset[str]:
        layouts = self.sides.layouts
        on = {f"view.{side}" for side in ("left", "bottom", "right", "checkpoints") if layouts.is_shown(side)}
        on |= {f"theme.{self.preferences.theme}", f"view.{layouts.current}_layout"}
        if layouts.canvas_only:
            on.add("view.canvas_only")
        if self.isFullScreen():
            on.add("view.full_screen")
        if self.page is not None and self.page.canvas.minimap_shown:
            on.add("view.minimap")
        if self.page is not None and self.page.canvas.snap:
            on.add("view.snap")
        return frozenset(on) | checked_of(self._shown_workspace)

    def _title(self) -> str:
        page = self.page
        if page is None:
            return tr("Superstep Studio")
        mark = " •" if page.workspace.document.dirty else ""
        return f"{short(page.title, 80)}{mark} — {tr('Superstep Studio')}"

    def _count_tabs(self, workspace: Workspace | None) -> None:
        self.sides.bottom.set_count("problems", len(workspace.problems.problems) if workspace else 0)
        self.sides.bottom.set_count("messages", len(workspace.run.messages) if workspace else 0)
        self.sides.right.set_count("requests", len(workspace.run.requests) if workspace else 0)

    def _watch(self, workspace: Workspace | None) -> None:
        """Follows the signals of the workspace that is shown, and no longer those of the one before."""
        for shown, join in ((self._shown_workspace, "disconnect"), (workspace, "connect")):
            if shown is None:
                continue
            document, run = shown.document, shown.run
            signals = (document.changed, document.dirty_changed, document.path_changed,
                       document.undo_stack.indexChanged, shown.selection.changed, shown.problems.changed,
                       run.state_changed)  # fmt: skip
            for signal in signals:
                getattr(signal, join)(self.schedule_refresh)
            getattr(run.updated, join)(self._on_run_updated)
            getattr(run.failed_to_start, join)(self.following.on_failed)
            getattr(shown.selection.changed, join)(self._on_selection_changed)
            getattr(shown.selection.command_requested, join)(self._on_command_requested)
            getattr(run.state_changed, join)(self.following.on_state_changed)
        self._shown_workspace = workspace

    def _on_run_updated(self, update: RunUpdate) -> None:
        """Texts that stream change nothing but counts and times: these are shown a few times a second."""
        if replace(update, invocations=frozenset(), outputs=False, events=0) != RunUpdate():
            self.schedule_refresh()
        elif not self._refresh_timer.isActive():
            self._refresh_timer.start(_COUNTS_MS)

    def _on_tabs_current_changed(self) -> None:
        page = self.page
        workspace = page.workspace if page is not None else None
        if workspace is not self._shown_workspace:
            self._watch(workspace)
            self.sides.set_workspace(workspace)
            if page is not None:
                workflow = page.workspace.document.workflow
                self.tool_bar.input.set_history(self._memory.inputs.get(workflow.id, []))
                self.tool_bar.input.show_text(page.input_text)
        self.sides.layouts.show_for(self.page_kind)
        self.refresh()

    def _on_tabs_close_requested(self, page: DocumentPage) -> None:
        if isinstance(page, WorkflowPage):
            self.files.close(page, self._after_closing)
        else:
            self.tabs.remove(page)
            self._after_closing()

    def _after_closing(self) -> None:
        if not self.tabs.pages():
            self.pages.show_welcome()

    def _on_files_opened(self, page: WorkflowPage) -> None:
        for other in self.tabs.pages():
            if other.kind == "welcome":
                self.tabs.remove(other)
        history = self._memory.inputs.get(page.workspace.document.workflow.id, [])
        page.input_text = history[0] if history else page.workspace.document.workflow.sample_input
        self.tool_bar.input.show_text(page.input_text)
        self.tool_bar.input.textChanged.connect(partial(self._on_input_text_changed, page))
        self.actions_.add_canvas_widget(page.canvas)
        page.input_changed.connect(partial(self._on_page_input_changed, page))
        page.workspace.run.bundled.connect(self.say)
        page.workspace.run.test_written.connect(self.say)
        page.workspace.comparison_offered.connect(partial(self.pages.show_comparison, page))
        page.saved_changed.connect(self.schedule_refresh)
        page.canvas.templates_requested.connect(self.pages.show_welcome)
        page.canvas.minimap_toggled.connect(self.schedule_refresh)
        page.canvas.open_requested.connect(partial(self.files.open_sub_workflow, page))
        page.canvas.setFocus()
        page.canvas.prefer(self.preferences)
        page.fit_soon()
        if self.isVisible():
            # The dialog that a file was chosen in is still in front in this turn of the loop.
            QTimer.singleShot(0, page, partial(self.pages.map_providers_if_needed, page))

    def _on_files_closing(self, page: WorkflowPage) -> None:
        """What shows the same workflow goes with it."""
        self._session.append(page.workspace.document.path)
        self._note_privacy(page)
        for other in self.tabs.pages():
            if other is not page and other.workspace is page.workspace:
                self.tabs.remove(other)

    def _on_input_text_changed(self, page: WorkflowPage, text: str) -> None:
        if page is self.page:
            page.input_text = text

    def _on_command_requested(self, command: str, item: str) -> None:
        if self.page is not None:
            debug_command(self, self.page, command, item)

    def _on_page_input_changed(self, page: WorkflowPage) -> None:
        if page is self.page:
            self.tool_bar.input.show_text(page.input_text)

    def _on_input_submitted(self, _text: str) -> None:
        if self.actions_["run.run"].isEnabled():
            self.actions_["run.run"].trigger()

    def _on_profile_chosen(self, name: str) -> None:
        from studio.settings.profiles import change_profiles, read_profiles

        profiles = read_profiles()[0]
        change_profiles(profiles, replace(profiles, default=name))
        self.refresh_profiles()

    def _on_dock_focus_left(self) -> None:
        if self.page is not None:
            self.page.canvas.setFocus()

    def _on_palette_add_requested(self, kind: str) -> None:
        if self.page is not None:
            self.page.canvas.add_node(kind)

    def _on_status_problems_requested(self) -> None:
        self.sides.show_panel("problems")

    def _on_selection_changed(self) -> None:
        selection = self._shown_workspace.selection if self._shown_workspace is not None else None
        if selection is not None and (selection.items or selection.message or selection.checkpoint):
            self.sides.right.show_panel("inspector")
