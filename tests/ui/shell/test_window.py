"""The window: layouts, tabs, tool bar, status, keys of text fields, palette, settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import BranchView, RequestView, RunUpdate
from studio.debugger.states import RunState
from studio.document import commands
from studio.document.edits import SetFields, SetWorkflow
from studio.document.model import AgentNode, Workflow
from studio.settings.places import state_dir
from studio.settings.preferences import Preferences, read_preferences
from studio.settings.profiles import Profile, read_profiles, write_profiles
from studio.ui.main_window import MainWindow
from studio.ui.settings_dialog import SettingsDialog
from studio.ui.toolbar.state_chip import StateChip
from studio.ui.window import memory
from studio.ui.window.status_texts import selection_text
from studio.ui.window.workflow_page import WorkflowPage
from tests.ui.shell.still_run import StillRun

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    made = make_window()
    made.show_first([])
    made.showNormal()  # the offscreen screen is small, so it begins maximized
    made.resize(QSize(1600, 1000))
    qtbot.waitExposed(made)
    return made


def still(page: WorkflowPage) -> StillRun:
    run = page.workspace.run
    assert isinstance(run, StillRun)
    return run


def add(page: WorkflowPage, kind: str, name: str) -> str:
    document = page.workspace.document
    edit, node = commands.new_node(document.workflow, kind, name)
    document.execute(edit, f"Add {name}")
    return node


# ---- layouts


def test_docks_are_there_for_workflows_only(window: MainWindow) -> None:
    layouts = window.sides.layouts
    assert not any(layouts.is_shown(side) for side in ("left", "right", "bottom"))
    page = window.files.new()
    assert all(layouts.is_shown(side) for side in ("left", "right", "bottom"))
    window.pages.show_export(page)
    assert not layouts.is_shown("right")
    window.tabs.show_page(page)
    assert layouts.is_shown("right")


def test_each_layout_keeps_its_arrangement(window: MainWindow) -> None:
    layouts = window.sides.layouts
    window.files.new()
    layouts.toggle("left")
    layouts.switch("debug")
    assert layouts.is_shown("left")
    layouts.toggle("right")
    layouts.switch("edit")
    assert not layouts.is_shown("left")
    assert layouts.is_shown("right")
    layouts.switch("debug")
    assert not layouts.is_shown("right")
    layouts.reset()
    assert layouts.is_shown("right")


def test_a_small_window_begins_without_the_left_side(make_window: MakeWindow) -> None:
    window = make_window()
    window.resize(1280, 720)
    window.files.new()
    assert not window.sides.layouts.is_shown("left")
    assert window.sides.layouts.is_shown("right")


def test_the_whole_window_for_the_canvas_and_back(window: MainWindow) -> None:
    layouts = window.sides.layouts
    window.files.new()
    layouts.toggle("left")
    window.actions_["view.canvas_only"].trigger()
    assert not any(layouts.is_shown(s) for s in ("left", "right", "bottom", "checkpoints"))
    window.actions_["view.canvas_only"].trigger()
    assert [layouts.is_shown(s) for s in ("left", "right", "bottom")] == [False, True, True]


def test_layouts_survive_a_restart(make_window: MakeWindow) -> None:
    window = make_window()
    window.resize(1600, 1000)
    window.show_first([])
    window.files.new()
    window.sides.layouts.toggle("right")
    window.close()
    again = make_window()
    again.files.new()
    assert not again.sides.layouts.is_shown("right")
    assert again.sides.layouts.is_shown("bottom")


@pytest.mark.parametrize(
    "content", ["", "{", "[]", '{"layouts": 3, "geometry": {"a": 1}}', '{"layouts": {"edit": "zz"}}']
)
def test_a_damaged_memory_costs_the_layout_only(make_window: MakeWindow, content: str) -> None:
    (state_dir() / "window.json").write_text(content, encoding="utf-8")
    window = make_window()
    window.files.new()
    assert window.sides.layouts.is_shown("right")


def test_running_changes_the_layout_and_stop_leaves_it(window: MainWindow) -> None:
    page = window.files.new()
    run = still(page)
    window.tool_bar.input.setText("What is new?")
    window.refresh()
    window.actions_["run.run"].trigger()
    assert run.calls == [("run", "What is new?")]
    assert window.sides.layouts.current == "edit"
    run.state = RunState.RUNNING
    run.state_changed.emit()
    assert window.sides.layouts.current == "debug"
    assert window.sides.bottom.current == "run"
    run.refused.clear()
    window.refresh()
    window.actions_["run.stop"].trigger()
    assert run.calls[-1] == ("stop",)
    assert window.sides.layouts.current == "debug"
    assert window.tool_bar.input.history == ["What is new?"]


def test_the_change_of_layout_can_be_turned_off(make_window: MakeWindow) -> None:
    window = make_window(preferences=Preferences(theme="light").with_layout("switch_on_run", False))
    run = still(window.files.new())
    run.state = RunState.RUNNING
    run.state_changed.emit()
    assert window.sides.layouts.current == "edit"


# ---- tool bar and status


def test_the_state_is_shown_as_sentence_and_word(window: MainWindow) -> None:
    page = window.files.new()
    run = still(page)
    run.state, run.sentence = RunState.PAUSED, "Paused before superstep 4 — breakpoint on Join"
    run.state_changed.emit()
    window.refresh()
    chip = window.findChild(StateChip, "state_chip")
    assert chip is not None
    assert chip.sentence == run.sentence
    assert window.status.state.text() == "Paused"
    assert window.actions_["run.run"].text() == "Continue"


def test_the_tool_bar_keeps_its_width(window: MainWindow) -> None:
    page = window.files.new()
    window.refresh()
    run_button = window.tool_bar.findChild(object, "tool.run.run")
    before = run_button.sizeHint()
    still(page).state = RunState.PAUSED
    window.refresh()
    assert run_button.text() == "Continue"
    assert run_button.sizeHint() == before


def test_input_belongs_to_its_tab(window: MainWindow) -> None:
    first = window.files.new()
    window.tool_bar.input.setText("One")
    window.files.new()
    assert window.tool_bar.input.text() == ""
    window.tool_bar.input.setText("Two")
    window.tabs.show_page(first)
    assert window.tool_bar.input.text() == "One"


def test_enter_in_the_input_runs(window: MainWindow, qtbot: QtBot) -> None:
    page = window.files.new()
    window.refresh()
    window.tool_bar.input.setText("Go")
    qtbot.keyClick(window.tool_bar.input, Qt.Key.Key_Return)
    assert still(page).calls == [("run", "Go")]


def test_counts_cards_and_lines() -> None:
    from studio.files import read_workflow
    from studio.settings.places import resource
    from studio.ui.widgets.sources import size_words

    assert size_words(read_workflow(resource("templates", "research-brief.workflow.json"))) == "6 nodes · 9 edges"
    assert size_words(Workflow(nodes=(AgentNode(id="a", name="A"),))) == "1 node · 0 edges"


def test_the_status_bar_names_what_is_selected(window: MainWindow) -> None:
    page = window.files.new()
    nodes = [add(page, "agent", name) for name in ("Agent", "x" * 300)]
    page.workspace.document.execute(SetFields("nodes", nodes[0], {"name": ""}), "Rename")
    page.workspace.selection.select((nodes[0],))
    assert selection_text(page.workspace) == f"{nodes[0]} selected"
    page.workspace.selection.select((nodes[1],))
    assert selection_text(page.workspace) == f"{'x' * 39}… selected"


def test_the_status_bar_tells_where_model_calls_go(window: MainWindow) -> None:
    window.files.new()
    window.refresh_profiles()
    window.refresh()
    assert window.status.privacy.text() == "No account · nothing leaves this computer"
    profiles = read_profiles()[0].with_profile(Profile("Team gateway", "other", "http://localhost:1"))
    write_profiles(profiles)
    window.refresh_profiles()
    window.tool_bar.profile.chosen.emit("Team gateway")
    window.refresh()
    assert window.tool_bar.profile.text() == "Team gateway"
    assert window.status.privacy.text() == "Model calls go to Team gateway"


def test_requests_and_problems_are_counted_on_their_tabs(window: MainWindow) -> None:
    page = window.files.new()
    window.refresh()
    problems = len(page.workspace.problems.problems)
    shown = {key: text for key, (_, text) in window.sides.bottom._counts.items()}
    assert shown == ({"problems": str(problems)} if problems else {})


# ---- keys


def undo_key(kind: QEvent.Type) -> QKeyEvent:
    return QKeyEvent(kind, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier, "z")


def test_ctrl_z_in_a_field_undoes_typing_first_then_the_document(window: MainWindow, qtbot: QtBot) -> None:
    page = window.files.new()
    add(page, "agent", "Writer")
    window.refresh()
    field = window.tool_bar.input
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    field.setFocus()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is field)
    qtbot.keyClicks(field, "abc")
    over = undo_key(QEvent.Type.ShortcutOverride)
    QApplication.sendEvent(field, over)
    assert over.isAccepted()
    qtbot.keyClick(field, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert field.text() == ""
    assert page.workspace.document.workflow.nodes
    over = undo_key(QEvent.Type.ShortcutOverride)
    QApplication.sendEvent(field, over)
    assert not over.isAccepted()
    qtbot.keyClick(window, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert not page.workspace.document.workflow.nodes


# ---- palette


def test_the_command_palette_finds_and_runs(window: MainWindow, qtbot: QtBot) -> None:
    window.files.new()
    window.refresh()
    before = len(window.files.pages())
    window.actions_["app.palette"].trigger()
    field = window.findChild(QLineEdit, "command_palette_field")
    assert field is not None
    assert field.isVisible()
    qtbot.keyClicks(field, "new work")
    qtbot.keyClick(field, Qt.Key.Key_Return)
    assert len(window.files.pages()) == before + 1
    assert not field.isVisible()


def test_find_node_reveals_it(window: MainWindow, qtbot: QtBot) -> None:
    page = window.files.new()
    add(page, "agent", "Planner")
    writer = add(page, "agent", "Writer")
    window.refresh()
    window.actions_["edit.find"].trigger()
    field = window.findChild(QLineEdit, "command_palette_field")
    assert field is not None
    with qtbot.waitSignal(page.workspace.selection.reveal_requested) as revealed:
        qtbot.keyClicks(field, "wri")
        qtbot.keyClick(field, Qt.Key.Key_Return)
    assert revealed.args == [writer]


def test_escape_closes_the_palette_and_gives_the_focus_back(window: MainWindow, qtbot: QtBot) -> None:
    window.files.new()
    window.refresh()
    window.tool_bar.input.setFocus()
    window.actions_["app.palette"].trigger()
    field = window.findChild(QLineEdit, "command_palette_field")
    assert field is not None
    qtbot.keyClick(field, Qt.Key.Key_Escape)
    assert not field.isVisible()
    assert window.focusWidget() is window.tool_bar.input


# ---- settings


def test_settings_take_effect_at_once_and_are_kept(window: MainWindow) -> None:
    window.pages.show_settings()
    dialog = window.findChild(SettingsDialog)
    assert dialog is not None
    dialog._on_page_changed({"theme": "dark"})
    dialog._on_page_changed({"layouts": {"switch_on_run": False}})
    assert window.theme.scheme == "dark"
    kept = read_preferences()[0]
    assert kept.theme == "dark"
    assert kept.layouts == {"switch_on_run": False}
    dialog.reject()


def test_the_theme_menu_is_checked(window: MainWindow) -> None:
    window.actions_["theme.dark"].trigger()
    window.refresh()
    assert window.actions_["theme.dark"].isChecked()
    assert not window.actions_["theme.light"].isChecked()


def test_the_memory_is_plain_json(window: MainWindow) -> None:
    window.files.new()
    window.close()
    data = json.loads((state_dir() / "window.json").read_text(encoding="utf-8"))
    assert set(data) == {"geometry", "layouts", "folded", "inputs"}
    assert memory.load().layouts.keys() == {"edit"}


def test_inputs_of_a_workflow_that_keeps_nothing_on_disk_are_forgotten_at_the_end(window: MainWindow) -> None:
    for on, text in ((True, "kept input"), (False, "private input")):
        page = window.files.new()
        page.workspace.document.execute(SetWorkflow({"runs_on_disk": on}), "Choose")
        window.tool_bar.input.setText(text)
        window.remember_input(page, text)
        page.workspace.document.undo_stack.setClean()
    window.tabs.step(1)
    window.tabs.step(1)
    assert window.tool_bar.input.history == ["private input"], "as long as the window is open"
    window.close()
    kept = (state_dir() / "window.json").read_text(encoding="utf-8")
    assert "kept input" in kept
    assert "private input" not in kept


def test_a_run_that_does_not_start_gives_one_message(window: MainWindow) -> None:
    from PySide6.QtWidgets import QMessageBox

    page = window.files.new()
    add(page, "function", "Count")
    page.workspace.problems.refresh()
    page.workspace.run.failed_to_start.emit("Team gateway did not answer in 30 s. Try again, or use the offline model.")
    box = window.findChild(QMessageBox)
    assert box is not None
    assert box.text() == "The run did not start."
    assert "Team gateway" in box.informativeText()
    next(b for b in box.buttons() if b.text() == "Show problems").click()
    assert window.sides.bottom.current == "problems"


def test_linked_sub_workflows_open_in_a_tab(window: MainWindow, tmp_path: Path) -> None:
    from studio.files import write_workflow

    write_workflow(Workflow(name="Fact check"), tmp_path / "inner.workflow.json")
    write_workflow(Workflow(name="Outer"), tmp_path / "outer.workflow.json")
    page = window.files.open(tmp_path / "outer.workflow.json")
    assert page is not None
    node = add(page, "sub_workflow", "Check")
    document = page.workspace.document
    document.execute(commands.set_fields(document.workflow, node, {"path": "inner.workflow.json"}), "Link")
    page.canvas.open_requested.emit(node)
    assert [p.title for p in window.files.pages()] == ["Outer", "Fact check"]
    document.undo_stack.setClean()


def test_checkpoints_are_folded_while_editing_and_open_while_debugging(window: MainWindow, qtbot: QtBot) -> None:
    layouts = window.sides.layouts
    window.files.new()
    assert layouts.checkpoints.folded
    assert layouts.checkpoints.isVisible()
    qtbot.waitUntil(lambda: layouts.checkpoints.width() == layouts.bottom.width())
    assert layouts.checkpoints.height() == layouts.checkpoints.header.height()
    layouts.switch("debug")
    assert not layouts.checkpoints.folded
    window.actions_["view.checkpoints"].trigger()
    assert layouts.checkpoints.folded
    layouts.switch("edit")
    layouts.checkpoints.header.click()
    assert not layouts.checkpoints.folded
    layouts.switch("debug")
    assert layouts.checkpoints.folded


def test_closing_a_workflow_closes_its_code(window: MainWindow) -> None:
    page = window.files.new()
    other = window.files.new()
    window.pages.show_export(page)
    window.files.close(page)
    assert window.tabs.pages() == [other]
    assert window.sides.layouts.is_shown("right")


def test_looking_at_a_message_brings_the_inspector_to_the_front(window: MainWindow) -> None:
    page = window.files.new()
    window.sides.right.show_panel("requests")
    page.workspace.selection.look_at_message("m1")
    assert window.sides.right.current == "inspector"


def test_the_focus_goes_to_the_canvas_when_nobody_waits_any_more(window: MainWindow, qtbot: QtBot) -> None:
    page = window.files.new()
    run, sides = still(page), window.sides
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    run.requests.append(RequestView("r1", "ask", "question", "How many?", "text"))
    run.state = RunState.WAITING
    run.state_changed.emit()
    assert sides.right.current == "requests"
    sides.requests.focus_first()
    focus = QApplication.focusWidget()
    assert focus is not None
    assert sides.requests.isAncestorOf(focus)
    run.requests.clear()
    run.state = RunState.RUNNING
    run.updated.emit(RunUpdate(requests=True))
    focus = QApplication.focusWidget()
    assert focus is sides.requests, "the card is gone, the panel is not"
    run.state_changed.emit()
    assert sides.right.current == "inspector"
    assert QApplication.focusWidget() is page.canvas


@pytest.mark.parametrize(
    ("state", "elsewhere", "opens"),
    [("interrupted", "", True), ("interrupted", "another window", False), ("completed", "", False)],
)
def test_the_strip_opens_for_a_run_that_was_cut(
    window: MainWindow, monkeypatch: pytest.MonkeyPatch, state: str, elsewhere: str, opens: bool
) -> None:
    """Once: folded by hand, it stays folded."""
    dock = window.sides.layouts.checkpoints
    run = still(window.files.new())
    monkeypatch.setattr(run, "is_interrupted", lambda branch: state == "interrupted")
    run.branches = [BranchView("r1", 1, "main", state, 0.0, elsewhere=elsewhere)]
    run.updated.emit(RunUpdate(everything=True))
    assert dock.folded is not opens
    dock.set_folded(True)
    run.updated.emit(RunUpdate(everything=True))
    assert dock.folded


def test_a_closed_window_asks_nothing_of_workspaces_that_are_gone(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    window.show_first([])
    workspaces = [window.files.new().workspace for _ in range(2)]
    workspaces[-1].document.execute(SetWorkflow({"name": "Brief"}), "Rename")
    workspaces[-1].document.undo_stack.setClean()
    window.schedule_refresh()
    with qtbot.waitSignal(window.closed):
        window.close()
    for workspace in workspaces:
        workspace.run.state_changed.emit()  # runs end while their workspaces are being closed
        workspace.setParent(None)
        shiboken6.delete(workspace)
    window.theme.changed.emit()
    window.say("Everything has ended")
    QApplication.sendPostedEvents()
    QApplication.processEvents()
    assert not window._refresh_timer.isActive()
