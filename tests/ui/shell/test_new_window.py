"""A second window: what is started, and that it is this program, wherever it is started."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from studio.document.model import AgentNode, Workflow
from studio.files import write_workflow
from studio.settings import recent
from studio.ui.main_window import MainWindow
from studio.ui.window import new_window
from studio.ui.window.new_window import command

MakeWindow = Callable[..., MainWindow]
HEAD = len(command())


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The commands that were started; none is."""
    commands: list[list[str]] = []

    class Process:
        @staticmethod
        def startDetached(program: str, arguments: Sequence[str]) -> tuple[bool, int]:
            commands.append([program, *arguments])
            return True, 1

    monkeypatch.setattr(new_window, "QProcess", Process)
    return commands


def test_a_new_window_is_empty_and_one_of_a_tab_has_its_file(
    make_window: MakeWindow, started: list[list[str]], tmp_path: Path
) -> None:
    window = make_window()
    window.actions_["file.new_window"].trigger()
    assert started == [command()]
    file = tmp_path / "one.workflow.json"
    write_workflow(Workflow(id="w", name="One", nodes=(AgentNode(id="a", name="A"),)), file)
    window.files.open_all([file])
    window.actions_["file.open_in_window"].trigger()
    assert started[1][HEAD:] == [str(file.resolve())]


def test_unsaved_work_is_saved_first(make_window: MakeWindow, started: list[list[str]]) -> None:
    window = make_window()
    action = window.actions_["file.open_in_window"]
    window.pages.show_welcome()
    assert not action.isEnabled()
    page = window.files.new()
    window.refresh()
    action.trigger()
    page.canvas.add_node("agent")
    window.refresh()
    assert not action.isEnabled()
    assert action.toolTip().endswith("Save the changes first: the other window opens the file.")
    assert not started


def test_tabs_of_last_time_are_not_opened_a_second_time(make_window: MakeWindow, tmp_path: Path) -> None:
    file = tmp_path / "one.workflow.json"
    write_workflow(Workflow(id="w", name="One"), file)
    recent.keep_session([file])
    other = make_window()
    other.show_first([], reopen=False)
    assert other.files.documents() == []
    again = make_window()
    again.show_first([])
    assert [page.workspace.document.path for page in again.files.documents()] == [file]


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_the_command_starts_this_program_in_any_folder(tmp_path: Path) -> None:
    decoy = tmp_path / "studio"
    decoy.mkdir()
    (decoy / "__init__.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    without = ("DISPLAY", "WAYLAND_DISPLAY", "WAYLAND_SOCKET", "QT_QPA_PLATFORM", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if name not in without}
    done = subprocess.run(command(), cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "display" in done.stderr
