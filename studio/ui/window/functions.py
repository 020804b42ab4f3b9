"""What each action of the action list does."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QLineEdit, QTextEdit, QWidget

from studio.ui.dialogs.messages import inform
from studio.ui.paint.kinds import NEW_KINDS
from studio.ui.text import tr
from studio.ui.window.debug_flows import debug_command, make_test, run_over_table
from studio.ui.window.drawing_functions import Function, drawing_functions, on_page
from studio.ui.window.new_window import open_page_in_window, open_window
from studio.ui.window.workflow_page import WorkflowPage

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow


def functions(window: MainWindow) -> dict[str, Function]:
    """Action id -> function. An action that is missing here is not drawn."""
    return {
        **_file(window),
        **_edit(window),
        **_view(window),
        **_insert(window),
        **drawing_functions(window),
        **_run(window),
        **_debug(window),
        **_go(window),
        "app.palette": window.palettes.show_commands,
        "app.settings": window.pages.show_settings,
        "app.quit": window.close_window,
        "help.tour": partial(window.pages.show_help, "tour"),
        "help.debugger": partial(window.pages.show_help, "debugger"),
        "app.log": partial(_show_log, window),
        "app.about": partial(_about, window),
    }


def _file(window: MainWindow) -> dict[str, Function]:
    files = window.files
    return {
        "file.new": lambda: (files.new(), None)[1],
        "file.new_window": partial(open_window, window),
        "file.open_in_window": on_page(window, partial(open_page_in_window, window)),
        "file.open": files.ask_open,
        "file.import": window.pages.ask_import,
        "file.save": on_page(window, files.save),
        "file.save_as": on_page(window, files.save_as),
        "file.map_providers": on_page(window, window.pages.map_providers),
        "file.import_report": on_page(window, window.pages.show_import_report),
        "file.export": on_page(window, window.pages.show_export),
        "file.export_picture": on_page(window, window.pages.show_picture),
        "file.close": window.close_tab,
    }


def _edit(window: MainWindow) -> dict[str, Function]:
    return {
        "edit.undo": on_page(window, lambda page: page.workspace.document.undo_stack.undo()),
        "edit.redo": on_page(window, lambda page: page.workspace.document.undo_stack.redo()),
        "edit.cut": on_page(window, lambda page: page.canvas.cut_selection()),
        "edit.copy": on_page(window, lambda page: page.canvas.copy_selection()),
        "edit.paste": on_page(window, lambda page: page.canvas.paste()),
        "edit.paste_edges": on_page(window, lambda page: page.canvas.paste_with_edges()),
        "edit.duplicate_edges": on_page(window, lambda page: page.canvas.duplicate_with_edges()),
        "edit.delete_join": on_page(window, lambda page: page.canvas.delete_and_join()),
        "edit.select_none": on_page(window, lambda page: page.canvas.select_none()),
        "edit.select_before": on_page(window, lambda page: page.canvas.select_before()),
        "edit.select_behind": on_page(window, lambda page: page.canvas.select_behind()),
        "edit.select_connected": on_page(window, lambda page: page.canvas.select_connected()),
        "edit.duplicate": on_page(window, lambda page: page.canvas.duplicate_selection()),
        "edit.delete": on_page(window, lambda page: page.canvas.delete_selection()),
        "edit.select_all": on_page(window, lambda page: page.canvas.select_all()),
        "edit.rename": on_page(window, lambda page: page.canvas.rename()),
        "edit.rename_all": on_page(window, partial(_rename_all, window)),
        "edit.find": window.palettes.show_nodes,
        "edit.find_text": partial(_find, window),
        "edit.replace": partial(_find, window, replacing=True),
        "edit.find_next": partial(_step_hit, window, 1),
        "edit.find_previous": partial(_step_hit, window, -1),
    }


def _view(window: MainWindow) -> dict[str, Function]:
    sides = window.sides
    return {
        "view.zoom_in": on_page(window, lambda page: page.canvas.zoom_in()),
        "view.zoom_out": on_page(window, lambda page: page.canvas.zoom_out()),
        "view.zoom_actual": on_page(window, lambda page: page.canvas.zoom_actual()),
        "view.fit": on_page(window, lambda page: page.canvas.fit_all()),
        "view.fit_selection": on_page(window, lambda page: page.canvas.fit_selection()),
        "view.arrange": on_page(window, lambda page: page.canvas.arrange()),
        "view.arrange_right": on_page(window, lambda page: page.canvas.arrange("right")),
        "view.arrange_down": on_page(window, lambda page: page.canvas.arrange("down")),
        "view.up": on_page(window, lambda page: window.files.go_up(page)),
        "view.minimap": on_page(window, window.toggle_minimap),
        "view.snap": on_page(window, window.toggle_snap),
        **{f"view.{side}": partial(sides.layouts.toggle, side) for side in ("left", "bottom", "right", "checkpoints")},
        "view.canvas_only": sides.layouts.toggle_canvas_only,
        "view.edit_layout": partial(sides.layouts.switch, "edit"),
        "view.debug_layout": partial(sides.layouts.switch, "debug"),
        "view.default_layout": sides.layouts.reset,
        "view.full_screen": window.toggle_full_screen,
        "theme.system": partial(window.choose_theme, "system"),
        "theme.light": partial(window.choose_theme, "light"),
        "theme.dark": partial(window.choose_theme, "dark"),
    }


def _insert(window: MainWindow) -> dict[str, Function]:
    def adds(kind: str) -> Function:
        return on_page(window, lambda page: page.canvas.add_node(kind))

    return {
        "insert.search": on_page(window, lambda page: page.canvas.open_search()),
        **{f"insert.{new.kind}": adds(new.kind) for new in NEW_KINDS},
    }


def _run(window: MainWindow) -> dict[str, Function]:
    def start(act: Callable[[WorkflowPage, str], None]) -> Function:
        def run() -> None:
            page = window.page
            if page is not None:
                text = window.tool_bar.input.text()
                window.remember_input(page, text)
                window.tabs.show_page(page)
                act(page, text)

        return run

    return {
        "run.run": start(lambda page, text: page.workspace.run.run(text)),
        "run.step": start(lambda page, text: page.workspace.run.step(text)),
        "run.step_node": start(lambda page, text: page.workspace.run.step_node(text)),
        "run.pause": on_page(window, lambda page: page.workspace.run.pause()),
        "run.stop": on_page(window, lambda page: page.workspace.run.stop()),
        "run.restart": on_page(window, lambda page: page.workspace.run.restart()),
        "run.retry": on_page(window, lambda page: page.workspace.run.retry()),
        "run.input": window.focus_input,
        "run.find_streams": partial(_find_in_streams, window),
        "run.request": partial(_go_to_request, window),
        "run.breakpoint": on_page(window, lambda page: page.canvas.toggle_breakpoint()),
        "checkpoint.restore": window.sides.timeline.restore,
        "checkpoint.fork": window.sides.timeline.fork,
        "checkpoint.fork_edited": window.sides.timeline.fork_edited,
        "checkpoint.resume": on_page(window, partial(_resume, window)),
        "checkpoint.name": window.sides.timeline.rename,
        "checkpoint.pin": window.sides.timeline.pin,
        "checkpoint.compare": window.sides.timeline.compare_marked,
        "checkpoint.find": partial(_find_checkpoint, window),
        "checkpoint.before_error": on_page(window, partial(_before_error, window)),
        "checkpoint.keep": window.sides.timeline.show_keeping,
        "checkpoint.import": window.files.ask_open_runs,
        "checkpoint.show": partial(_show_and_focus, window, "checkpoints"),
    }


def _debug(window: MainWindow) -> dict[str, Function]:
    return {
        "run.run_to": _on_node(window, "run_to"),
        "run.run_from": _on_node(window, "run_from"),
        "run.reset_conversation": _on_node(window, "reset_conversation"),
        "run.reset_node": _on_node(window, "reset_node"),
        "run.step_back": on_page(window, lambda page: page.workspace.run.step_back()),
        "run.step_forward": on_page(window, lambda page: page.workspace.run.step_forward()),
        "run.make_test": on_page(window, partial(make_test, window)),
        "run.batch": on_page(window, partial(run_over_table, window)),
        "run.inject": partial(_on_any, window, "inject"),
        "run.apply": on_page(window, lambda page: page.workspace.run.apply_drawing()),
        "run.replay": on_page(window, lambda page: page.workspace.run.replay()),
        "run.replay_recorded": on_page(window, lambda page: page.workspace.run.replay(speed=1)),
        "run.replay_fast": on_page(window, lambda page: page.workspace.run.replay(speed=4)),
        "run.replay_step": on_page(window, lambda page: page.workspace.run.replay(step=True)),
        "run.edit_breakpoint": _on_node(window, "breakpoint"),
        "run.switch_breakpoints": window.sides.debug.switch_all,
        "run.mute": _on_node(window, "mute"),
        "run.pin": _on_node(window, "toggle_pin"),
    }


def _on_any(window: MainWindow, command: str) -> None:
    """A command of the debugger on what is selected, or on nothing."""
    page = window.page
    if page is not None:
        items = page.workspace.selection.items
        debug_command(window, page, command, items[0] if len(items) == 1 else "")


def _on_node(window: MainWindow, command: str) -> Function:
    """A command of the debugger on the selected node or line."""

    def run() -> None:
        page = window.page
        if page is not None and len(page.workspace.selection.items) == 1:
            debug_command(window, page, command, page.workspace.selection.items[0])

    return run


def _go(window: MainWindow) -> dict[str, Function]:
    return {
        "go.next_tab": partial(window.tabs.step, 1),
        "go.previous_tab": partial(window.tabs.step, -1),
        "go.canvas": on_page(window, lambda page: page.canvas.setFocus()),
        "go.inspector": partial(_show_and_focus, window, "inspector"),
        "go.run_panel": partial(_show_and_focus, window, "run"),
        "go.outline": partial(_focus_outline, window),
        "go.history": partial(_show_and_focus, window, "history"),
        "go.versions": partial(_show_and_focus, window, "versions"),
        "go.problems": partial(_show_and_focus, window, "problems"),
        "go.next_panel": partial(_step_panel, window, 1),
        "go.previous_panel": partial(_step_panel, window, -1),
        "go.next_problem": partial(_step_problem, window, 1),
        "go.previous_problem": partial(_step_problem, window, -1),
        "go.welcome": window.pages.show_welcome,
    }


def _resume(window: MainWindow, page: WorkflowPage) -> None:
    branch = page.workspace.run.branch
    if branch is not None:
        window.sides.timeline.resume_branch(branch)


def _show_and_focus(window: MainWindow, key: str) -> None:
    focus_into(window.sides.show_panel(key))


def _go_to_request(window: MainWindow) -> None:
    window.sides.show_panel("requests")
    window.sides.requests.go_to_open()


def _find_checkpoint(window: MainWindow) -> None:
    window.sides.show_panel("checkpoints")
    window.sides.timeline.open_search()


def _before_error(window: MainWindow, page: WorkflowPage) -> None:
    if page.workspace.run.checkpoint_before_error() is None:
        window.say(tr("Nothing failed in the shown run."))
    else:
        window.sides.timeline.go_before_error()


def _focus_outline(window: MainWindow) -> None:
    window.sides.show_panel("palette")
    focus_into(window.sides.outline)


def _step_panel(window: MainWindow, by: int) -> None:
    page = window.page
    if page is None:
        return
    places: list[QWidget] = [page.canvas, *window.sides.focus_places()]
    focus = window.focusWidget()
    at = next((i for i, w in enumerate(places) if focus is not None and (w is focus or w.isAncestorOf(focus))), 0)
    focus_into(places[(at + by) % len(places)])


def _step_problem(window: MainWindow, by: int) -> None:
    window.sides.show_panel("problems")
    window.sides.problems.step(by)


def _find(window: MainWindow, *, replacing: bool = False) -> None:
    """What is selected in a text field is looked for at once."""
    chosen = selected_text(window.focusWidget())
    window.sides.show_panel("find")
    window.sides.find.begin(chosen, replacing=replacing)


def _find_in_streams(window: MainWindow) -> None:
    window.sides.show_panel("run")
    window.sides.run.find_in_streams()


def _rename_all(window: MainWindow, page: WorkflowPage) -> None:
    from studio.ui.find.rename_dialog import RenameDialog

    items = page.workspace.selection.items
    node = items[0] if len(items) == 1 and page.workspace.document.workflow.node(items[0]) is not None else ""
    RenameDialog(window.theme, page.workspace, "node", node, window).open()


def _step_hit(window: MainWindow, by: int) -> None:
    window.sides.show_panel("find")
    window.sides.find.step(by)


def selected_text(widget: QWidget | None) -> str:
    """The selection of a text field, if it is within one line."""
    if isinstance(widget, QLineEdit):
        return widget.selectedText()
    if isinstance(widget, QTextEdit):
        text = widget.textCursor().selectedText()
        return "" if "\u2029" in text else text
    return ""


def focus_into(widget: QWidget) -> None:
    """Gives the focus to a panel: to itself if it takes it, else to the first thing in it that does."""
    taken = [w for w in (widget, *widget.findChildren(QWidget)) if w.isVisibleTo(widget) and w.focusPolicy().value & 1]
    (taken[0] if taken else widget).setFocus()


def _about(window: MainWindow) -> None:
    from importlib.metadata import PackageNotFoundError, version

    from PySide6.QtCore import qVersion

    try:
        number = version("superstep-studio")
    except PackageNotFoundError:
        number = tr("from a checkout")
    detail = tr("Draw, run, step, rewind, branch and export agent workflows.\nMIT licence. Qt {qt}.")
    inform(window.theme, window, f"Superstep Studio {number}", detail.format(qt=qVersion()))


def _show_log(window: MainWindow) -> None:
    from PySide6.QtCore import QUrl
    from PySide6.QtGui import QDesktopServices

    from studio.ui.faults import log_file

    folder = log_file().parent
    if not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
        window.say(tr("The log is in {folder}.").format(folder=folder))
