"""Problems, export, welcome, palette search, display, trust texts."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QTableView, QTextBrowser
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.model import Workflow
from studio.document.problems import Problem
from studio.files import read_workflow
from studio.proof import KEYS, Proof, Step
from studio.settings import recent
from studio.settings.places import resource
from studio.ui import display
from studio.ui.actions import ACTIONS
from studio.ui.app import main
from studio.ui.command_palette import Entry, ranked
from studio.ui.dialogs.messages import Choice, ask
from studio.ui.exporting import ExportPage
from studio.ui.exporting.places import code_places, glyph_lines, workflow_file
from studio.ui.help import HelpWindow
from studio.ui.help.window import PAGES
from studio.ui.main_window import MainWindow
from studio.ui.problems import ProblemsPanel
from studio.ui.problems.rows import place_name
from studio.ui.theme import Theme, style
from studio.ui.welcome import WelcomePage
from studio.ui.welcome.cards import TemplateCard
from studio.ui.welcome.rows import RecentRow, when_text
from studio.ui.welcome.thumbnail import picture
from tests.ui.shell.still_run import StillWorkspaces
from tests.ui.shell.written import written


def brief() -> Workflow:
    return read_workflow(resource("templates", "research-brief.workflow.json"))


# ---- problems


def test_problems_lead_to_their_place(qtbot: QtBot, theme: Theme) -> None:
    workspace = StillWorkspaces().open(Workflow(), None)
    edit, node = commands.new_node(workspace.document.workflow, "function", "Count")
    workspace.document.execute(edit, "Add Count")
    workspace.problems.refresh()
    assert workspace.problems.problems, "a new function without code and start has problems"
    panel = ProblemsPanel(theme)
    qtbot.addWidget(panel)
    panel.set_workspace(workspace)
    table = panel.findChild(QTableView, "problems")
    assert table is not None
    assert table.model().rowCount() == len(workspace.problems.problems)
    row = next(i for i, p in enumerate(workspace.problems.problems) if p.place == node)
    with qtbot.waitSignal(workspace.selection.reveal_requested) as revealed:
        table.clicked.emit(table.model().index(row, 1))
    assert revealed.args == [node]


def test_a_fix_is_one_undo_step(qtbot: QtBot, theme: Theme) -> None:
    workspace = StillWorkspaces().open(Workflow(), None)
    edit, _node = commands.new_node(workspace.document.workflow, "agent", "Writer")
    workspace.document.execute(edit, "Add Writer")
    workspace.document.execute(commands.set_workflow({"start": None}), "Take the start away")
    workspace.problems.refresh()
    panel = ProblemsPanel(theme)
    qtbot.addWidget(panel)
    panel.set_workspace(workspace)
    row = next(i for i, p in enumerate(workspace.problems.problems) if p.fix is not None)
    before = workspace.document.undo_stack.count()
    table = panel.findChild(QTableView, "problems")
    assert table is not None
    table.clicked.emit(table.model().index(row, 3))
    assert workspace.document.undo_stack.count() == before + 1
    panel.set_workspace(None)


def test_places_are_named_as_people_name_them() -> None:
    workflow = brief()
    assert place_name(workflow, Problem("x", "m", "writer", "instructions")) == "Writer · instructions"
    assert place_name(workflow, Problem("x", "m")) == "Workflow"
    switch = next(e for e in workflow.edges if e.kind == "switch")
    assert place_name(workflow, Problem("x", "m", switch.id)) == "Review"
    assert place_name(workflow, Problem("x", "m", "gone")) == ""


# ---- export


def test_the_code_of_a_workflow_is_shown(qtbot: QtBot, theme: Theme) -> None:
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(StillWorkspaces().open(brief(), None))
    written(page, qtbot)
    assert "research_brief/workflow.py" in page.files
    assert page._shown == "research_brief/workflow.py"
    assert "WorkflowBuilder" in page._view.toPlainText()
    page._tree.file_chosen.emit("pyproject.toml")
    assert page._view.toPlainText().rstrip("\n") == page.files["pyproject.toml"].rstrip("\n")


def test_the_code_follows_the_document(qtbot: QtBot, theme: Theme) -> None:
    workspace = StillWorkspaces().open(brief(), None)
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(workspace)
    page.show()
    written(page, qtbot)
    workspace.document.execute(commands.set_workflow({"name": "Other plan"}), "Rename")
    qtbot.waitUntil(lambda: "other_plan/workflow.py" in page.files)


def test_a_package_name_is_checked(qtbot: QtBot, theme: Theme) -> None:
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(StillWorkspaces().open(brief(), None))
    written(page, qtbot)
    page.options.package.setText("1 wrong")
    page.refresh()
    written(page, qtbot)
    assert "letters" in page.options.package_field.problem
    for name in ("class", "état", "_"):  # would silently become another one
        page.options.package.setText(name)
        assert page.options.choice() is None
    page.options.package.setText("brief")
    page.refresh()
    written(page, qtbot)
    assert page.options.package_field.problem == ""
    assert "brief/workflow.py" in page.files


def test_positions_are_added_on_demand(qtbot: QtBot, theme: Theme) -> None:
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(StillWorkspaces().open(brief(), None))
    written(page, qtbot)
    assert not any(path.endswith(".layout.json") for path in page.files)
    page.options.positions.click()
    written(page, qtbot)
    assert "research_brief/research_brief.layout.json" in page.files


def test_a_workflow_without_code_says_why(qtbot: QtBot, theme: Theme) -> None:
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(StillWorkspaces().open(Workflow(), None))
    written(page, qtbot)
    assert page._pages.currentIndex() == 1
    assert "start" in page.no_code.reasons[0][1]
    assert not page._write.isEnabled()


def test_code_of_a_workflow_with_errors_says_so_and_is_not_written(qtbot: QtBot, theme: Theme) -> None:
    workspace = StillWorkspaces().open(brief(), None)
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(workspace)
    page.show()
    written(page, qtbot)
    assert page._errors.isHidden()
    assert page._write.isEnabled()
    workspace.document.execute(
        commands.set_fields(workspace.document.workflow, "writer", {"tools": ("no_tool",)}), "Edit"
    )
    qtbot.waitUntil(lambda: not page._errors.isHidden())
    first = next(p for p in workspace.problems.problems if p.severity == "error")
    assert first.message in page._errors.text.text
    qtbot.waitUntil(lambda: not page._timer.isActive())
    assert not page._write.isEnabled()
    with qtbot.waitSignal(page.node_chosen) as chosen:
        page._errors.show_error.click()
    assert chosen.args == [first.place] == ["writer"]
    workspace.document.undo_stack.undo()
    qtbot.waitUntil(page._write.isEnabled)
    assert page._errors.isHidden()


def test_a_proof_is_told_step_by_step_and_is_about_one_text_only(qtbot: QtBot, theme: Theme) -> None:
    workspace = StillWorkspaces().open(brief(), None)
    page = ExportPage(theme)
    qtbot.addWidget(page)
    page.set_workspace(workspace)
    page.show()
    written(page, qtbot)
    proof, bar = workspace.proof, page.proof_bar
    assert (proof.state, bar.title.text(), bar.button.text()) == ("none", "Not checked yet", "Check")
    steps = tuple(Step(key, "passed", "33", 0.5) for key in KEYS)
    proof.steps = {step.key: step for step in steps}
    proof.proof, proof._proven = Proof(steps, 2.5, 33), page.files
    proof.changed.emit()
    assert (proof.state, bar.title.text()) == ("proven", "Verified: builds, runs, same result")
    assert bar.text.text.startswith("33 of 33 events")
    assert page.checks.said()[4] == ("passed", "same outputs and 33 equal events")
    workspace.document.execute(commands.set_workflow({"name": "Other plan"}), "Rename")
    qtbot.waitUntil(lambda: proof.state == "stale")
    assert bar.button.text() == "Check again"
    assert page.checks.said()[4] == ("waiting", "not run yet")
    worse = (*steps[:4], Step("same", "failed", "writer gave nothing.", 0.1, "writer"), steps[5])
    proof.steps, proof.proof, proof._proven = {s.key: s for s in worse}, Proof(worse, 1.0), page.files
    proof.changed.emit()
    assert (bar.title.text(), bar.text.text) == ("Not the same as the canvas", "writer gave nothing.")
    with qtbot.waitSignal(page.node_chosen) as chosen:
        qtbot.mouseClick(page.checks._rows["same"], Qt.MouseButton.LeftButton)
    assert chosen.args == ["writer"]


def test_every_thing_of_the_drawing_is_found_in_the_code(qtbot: QtBot, theme: Theme) -> None:
    from studio.export import export_project

    workflow = brief()
    files = export_project(workflow)
    code = files[workflow_file(files) or ""]
    places = {place.item: place for place in code_places(workflow, code)}
    assert set(places) >= {node.id for node in workflow.nodes}
    lines = code.split("\n")
    assert lines[places["writer"].lines[0] - 1].strip().startswith("writer = ")
    switch = next(e for e in workflow.edges if e.kind == "switch")
    assert any("add_switch_case_edge_group" in lines[n - 1] for n in places[switch.id].lines)
    assert set(glyph_lines(workflow, code).values()) >= {"agent", "function", "switch", "fan_out", "join"}
    nasty = {"writer": "line\nbreak", "planner": ""}
    nodes = tuple(n.model_copy(update={"name": nasty.get(n.id, n.name)}) for n in workflow.nodes)
    named = {p.item: p.name for p in code_places(workflow.model_copy(update={"nodes": nodes}), code)}
    assert (named["writer"], named["planner"]) == ("line break", "planner")


# ---- welcome


def test_welcome_shows_templates_and_recent_files(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    (tmp_path / "a.workflow.json").write_text("{}", encoding="utf-8")
    recent.opened(tmp_path / "a.workflow.json", "Support triage")
    page = WelcomePage(theme)
    qtbot.addWidget(page)
    page.resize(1600, 900)
    page.show()
    qtbot.waitUntil(lambda: len(page.findChildren(TemplateCard)) == 12)
    titles = [card.text() for card in page.findChildren(TemplateCard)]
    assert titles[:5] == ["Research brief", "Sequential", "Concurrent", "Handoff", "Group chat"]
    assert titles[-1] == "Empty workflow"
    assert [row.text() for row in page.findChildren(RecentRow)] == ["Support triage"]
    with qtbot.waitSignal(page.file_chosen) as chosen:
        page.findChildren(RecentRow)[0].click()
    assert chosen.args == [tmp_path / "a.workflow.json"]
    page._search.setText("critic")
    shown = [card.text() for card in page.findChildren(TemplateCard) if not card.isHidden()]
    assert shown == ["Write and critique"]


def test_the_shelves_of_the_welcome_page(qtbot: QtBot, theme: Theme) -> None:
    page = WelcomePage(theme)
    qtbot.addWidget(page)
    page.resize(1600, 900)
    page.show()
    qtbot.waitUntil(lambda: len(page.findChildren(TemplateCard)) == 12)
    shown: dict[str, list[str]] = {}
    for name in ("patterns", "complete", "yours", "all"):
        page._shelf.edited.emit(name)
        shown[name] = [card.text() for card in page.findChildren(TemplateCard) if not card.isHidden()]
    assert shown["patterns"] == ["Sequential", "Concurrent", "Handoff", "Group chat"]
    assert len(shown["complete"]) == 7
    assert "Empty workflow" not in shown["complete"]
    assert shown["yours"] == []
    assert len(shown["all"]) == 12


def test_a_recent_file_that_is_gone_is_forgotten_on_click(qtbot: QtBot, theme: Theme, tmp_path: Path) -> None:
    recent.opened(tmp_path / "gone.workflow.json", "Gone")
    page = WelcomePage(theme)
    qtbot.addWidget(page)
    page.findChildren(RecentRow)[0].click()
    assert recent.recent_files() == []


def test_times_of_recent_files() -> None:
    now = time.mktime((2026, 11, 28, 15, 0, 0, 0, 0, -1))
    assert when_text(now - 1500, now) == "14:35"
    assert when_text(now - 86_400, now) == "yesterday"
    assert when_text(now - 86_400 * 4, now).startswith("24 ")
    assert when_text(now - 86_400 * 400, now).endswith("2025")


def test_thumbnails_come_from_the_geometry() -> None:
    workflow = brief()
    shown = picture(workflow)
    assert set(shown.boxes) >= {node.id for node in workflow.nodes}
    assert any(shown.goes_back(a, b) for a, b in shown.lines)
    bare = workflow.model_copy(update={"places": {}})
    assert set(picture(bare).boxes) >= {node.id for node in workflow.nodes}


def test_thumbnails_run_down_with_the_drawing() -> None:
    workflow = brief()
    back = {line for line in picture(workflow).lines if picture(workflow).goes_back(*line)}
    done = commands.arrange_items(workflow, None, "down").apply(workflow)
    shown = picture(done.workflow)
    assert {line for line in shown.lines if shown.goes_back(*line)} == back
    bars = [box for kind, box in shown.boxes.values() if kind == "join"]
    assert bars
    assert all(box.width() > box.height() for box in bars)


# ---- palette search


@pytest.mark.parametrize(
    ("typed", "first"),
    [("sav", "Save"), ("save a", "Save as"), ("sa", "Save"), ("nw", "New workflow"), ("fit sel", "Fit selection")],
)
def test_the_best_entry_comes_first(typed: str, first: str) -> None:
    texts = ("New workflow", "Save", "Save as", "Select all", "Fit all", "Fit selection", "Paste")
    found = ranked([Entry(text, lambda: None) for text in texts], typed)
    assert found[0].entry.text == first


def test_what_does_not_apply_comes_last_and_nothing_typed_shows_all() -> None:
    entries = [Entry("Stop", lambda: None, reason="Nothing runs."), Entry("Stop server", lambda: None)]
    assert [f.entry.text for f in ranked(entries, "stop")] == ["Stop server", "Stop"]
    assert len(ranked(entries, "")) == 2
    assert ranked(entries, "xyz") == []
    dark = Entry("Dark", lambda: None, "Theme")
    for typed in ("theme: dark", "Theme > dark", "theme › Dark"):
        assert [f.entry for f in ranked([*entries, dark], typed)] == [dark]


# ---- display


@pytest.mark.parametrize(
    ("variables", "problem"),
    [
        ({"QT_QPA_PLATFORM": "offscreen"}, ""),
        ({}, "There is no display: neither DISPLAY nor WAYLAND_DISPLAY is set."),
        ({"DISPLAY": ":987"}, "The display :987 does not answer."),
        ({"DISPLAY": "nonsense"}, "The display nonsense does not answer."),
    ],
)
def test_a_missing_display_is_told_before_qt_ends_the_process(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], problem: str
) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(display.sys, "platform", "linux")
    assert display.display_problem() == problem


def test_without_a_display_the_program_names_the_command_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("studio.ui.app.display_problem", lambda: "There is no display.")
    assert main([]) == 2
    assert "superstep-studio run FILE" in capsys.readouterr().err


# ---- text field of the tool bar


def test_earlier_inputs_are_offered(qtbot: QtBot, theme: Theme) -> None:
    from studio.ui.toolbar.input_field import InputField

    field = InputField(theme)
    qtbot.addWidget(field)
    for text in ("one", "two", "one"):
        field.remember(text)
    assert field.history == ["one", "two"]
    field.show()
    qtbot.keyClick(field, Qt.Key.Key_Down)
    popup = QApplication.activePopupWidget()
    assert popup is not None
    assert [a.text() for a in popup.actions()] == ["one", "two"]
    popup.actions()[1].trigger()
    popup.close()
    assert field.text() == "two"


# ---- help


@pytest.mark.parametrize("name", [name for name, _ in PAGES])
def test_a_page_of_help_is_shown_and_names_keys_that_exist(name: str, qtbot: QtBot, theme: Theme) -> None:
    window = HelpWindow(theme)
    qtbot.addWidget(window)
    window.show_page(name)
    assert window.page == name
    text = resource("help", f"{name}.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\*\*((?:(?:Ctrl|Shift|Alt)\+)*(?:F\d+|[A-Z]|Enter))\*\*", text))
    known = {key for action in ACTIONS for key in action.keys} | {"Ctrl+Enter"}
    assert named <= known
    assert named
    shown = window.findChild(QTextBrowser)
    assert shown is not None
    assert "**" not in shown.toPlainText()


def test_no_button_of_a_question_is_narrower_than_its_words(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    window.setStyleSheet(style.style_sheet(window.theme.tokens, 1.0))
    window.show()
    qtbot.waitExposed(window)
    texts = ("Restore, use recorded results", "Restore", "Cancel")
    box = ask(window.theme, window, "Go back?", "One step.", [Choice(text, lambda: None) for text in texts])
    qtbot.waitExposed(box)
    for button in box.buttons():
        assert button.width() >= button.sizeHint().width(), button.text()
    box.close()
