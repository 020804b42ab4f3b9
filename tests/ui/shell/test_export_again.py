"""The export page when there is an export already: what would change, what was written by hand, the editor."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.files.last_folders import keep_last_folder, last_folder
from studio.settings.preferences import Preferences, write_preferences
from studio.ui.exporting import ExportPage
from studio.ui.exporting.changed_lines import changed_lines
from studio.ui.exporting.editor import command_line, open_in_editor
from studio.ui.exporting.replace_sheet import ReplaceSheet
from studio.ui.theme import Theme
from tests.ui.panels.brief import brief
from tests.ui.shell.still_run import StillWorkspaces
from tests.ui.shell.written import written

AGENTS = "research_brief/agents.py"


@pytest.fixture
def page(qtbot: QtBot, theme: Theme) -> ExportPage:
    made = ExportPage(theme)
    qtbot.addWidget(made)
    made.resize(1400, 900)
    made.set_workspace(StillWorkspaces().open(brief(), None))
    made.show()
    written(made, qtbot)
    return made


def _instructions(page: ExportPage, qtbot: QtBot, text: str) -> None:
    assert page.workspace is not None
    document = page.workspace.document
    document.execute(commands.set_fields(document.workflow, "writer", {"instructions": text}), "Edit")
    page.refresh()
    written(page, qtbot)
    _rested(page, qtbot)


def _write(page: ExportPage, qtbot: QtBot, folder: Path) -> None:
    page.write_to(folder)
    _rested(page, qtbot)


def _rested(page: ExportPage, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.last.busy)


def _sheet(page: ExportPage) -> ReplaceSheet:
    return next(sheet for sheet in page.findChildren(ReplaceSheet) if sheet.isVisible())


def test_the_changes_since_the_last_export_are_shown_line_by_line(
    page: ExportPage, qtbot: QtBot, tmp_path: Path
) -> None:
    assert page.shows.isHidden()
    assert not page.edit.isEnabled()
    _write(page, qtbot, tmp_path)
    assert not page.shows.isHidden()
    assert page.last.reasons() == {}
    assert page._changed.plain == "Nothing has changed since the last export."
    _instructions(page, qtbot, "Write a limerick.")
    assert page.last.reasons()[AGENTS] == "would be written anew"
    come, go = page.last.counts()[AGENTS]
    assert (come, go > 0) == (1, True)
    changed = "2 files changed since the last export. Unchanged nodes give unchanged lines."
    assert page._changed.plain == changed
    page.last.look("another", page.files)
    page.last.look(page.workspace.document.workflow.id if page.workspace else "", page.files)
    assert page._changed.plain == f"Comparing with {tmp_path.name} …"
    _rested(page, qtbot)
    assert page._changed.plain == changed, "what is looked at last counts"
    page._tree.file_chosen.emit(AGENTS)
    qtbot.keyClick(page.shows, Qt.Key.Key_Right)
    _rested(page, qtbot)
    assert page.shows.value == "changes"
    lines = page._view.toPlainText().split("\n")
    come = [lines[line - 1].strip() for line, mark in page._view.marks.items() if mark == "in"]
    assert come == ['"Write a limerick.",']
    assert "out" in page._view.marks.values()
    qtbot.keyClick(page.shows, Qt.Key.Key_Left)
    assert page._view.toPlainText() == page.files[AGENTS].removesuffix("\n")
    assert page._view.marks == {}
    _write(page, qtbot, tmp_path)
    assert page.findChild(ReplaceSheet) is None, "only what the export had written is replaced"
    assert "Write a limerick." in (tmp_path / AGENTS).read_text(encoding="utf-8")
    assert page.last.reasons() == {}


def test_files_that_were_there_before_are_shown_with_a_question(page: ExportPage, qtbot: QtBot, tmp_path: Path) -> None:
    tmp_path /= "out"
    tmp_path.mkdir()
    (tmp_path / "README.md").write_text("mine\n", encoding="utf-8")
    _write(page, qtbot, tmp_path)
    sheet = _sheet(page)
    assert [sheet.names.item(row).text() for row in range(sheet.names.count())] == ["README.md"]
    assert sheet.view.toPlainText().startswith("mine\n")
    assert sheet.view.marks[1] == "out"
    assert set(sheet.view.marks.values()) == {"in", "out"}
    sheet.cancel_button.click()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.md"], "nothing was written"
    _write(page, qtbot, tmp_path)
    _sheet(page).keep_button.click()
    _rested(page, qtbot)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == "mine\n"
    assert (tmp_path / AGENTS).is_file()
    assert page.last.reasons() == {"README.md": "was changed by hand where the export changes it too"}
    _write(page, qtbot, tmp_path)
    _sheet(page).replace_button.click()
    _rested(page, qtbot)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == page.files["README.md"]


def test_lines_by_hand_are_kept_and_it_is_said(page: ExportPage, qtbot: QtBot, tmp_path: Path) -> None:
    _write(page, qtbot, tmp_path)
    file = tmp_path / AGENTS
    by_hand = "# By hand.\n" + file.read_text(encoding="utf-8")
    file.write_text(by_hand, encoding="utf-8")
    _instructions(page, qtbot, "Write a limerick.")
    said: list[str] = []
    page.said.connect(said.append)
    _write(page, qtbot, tmp_path)
    assert said[0] == f"Comparing with {tmp_path} …"
    assert said[-1].endswith("1 file keeps what was changed by hand.")
    text = file.read_text(encoding="utf-8")
    assert text.startswith("# By hand.\n")
    assert "Write a limerick." in text


def test_a_file_is_opened_in_the_editor_of_the_settings(
    page: ExportPage, qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(Path(QUrl(url).toLocalFile())) or True)
    _write(page, qtbot, tmp_path / "out dir")
    page._tree.file_chosen.emit(AGENTS)
    page.edit.click()
    assert opened == [tmp_path / "out dir" / AGENTS]
    told = tmp_path / "told.txt"
    script = tmp_path / "editor.py"
    script.write_text(f"import sys\nopen({str(told)!r}, 'w').write(repr(sys.argv[1:]) + '.')\n", encoding="utf-8")
    write_preferences(Preferences(editor=f"'{sys.executable}' '{script}' -g {{file}}:{{line}}"))
    page._view.show_line(7)
    page.edit.click()
    qtbot.waitUntil(lambda: told.exists() and told.read_text(encoding="utf-8").endswith("."), timeout=60_000)
    assert told.read_text(encoding="utf-8") == repr(["-g", f"{tmp_path / 'out dir' / AGENTS}:7"]) + "."
    assert len(opened) == 1


def test_editors_that_cannot_be_started_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "a b.py"
    assert command_line("vi", file, 3) == ["vi", str(file)]
    assert command_line("code -g {file}:{line}", file, 0) == ["code", "-g", f"{file}:1"]
    assert "no-such-editor cannot be started" in open_in_editor("no-such-editor", file)
    assert "cannot be understood" in open_in_editor("code 'half", file)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda _url: False)
    assert open_in_editor("", file) == "The system has no program for a b.py. Name one in the settings."


def test_lines_that_go_stand_before_those_that_come() -> None:
    found = changed_lines("a\nb\nc\n", "a\nX\nY\nc\nd\n")
    assert found.text == "a\nb\nX\nY\nc\nd"
    assert found.marks == {2: "out", 3: "in", 4: "in", 6: "in"}
    assert (found.first, found.counts) == (2, (3, 1))
    assert changed_lines("same\n", "same\n").marks == {}
    assert changed_lines("", "new\n").marks == {1: "in"}


def test_the_last_folder_of_a_workflow_is_remembered_while_it_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    keep_last_folder(tmp_path, "one", folder)
    assert last_folder(tmp_path, "one") is None
    folder.mkdir()
    assert last_folder(tmp_path, "one") == folder
    for number in range(200):
        keep_last_folder(tmp_path, f"other {number}", folder)
    assert last_folder(tmp_path, "one") is None
    assert last_folder(tmp_path, "other 0") == folder
    (tmp_path / "exports" / "folders.json").write_text("[", encoding="utf-8")
    assert last_folder(tmp_path, "other 0") is None
