"""A workflow from elsewhere: its providers are mapped to those of this computer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot
from studio.document.model import AgentNode, Workflow
from studio.files import write_workflow
from studio.settings.profiles import Profile, Profiles, write_profiles
from studio.ui.dialogs.provider_sheet import ProviderSheet
from studio.ui.main_window import MainWindow

FLOW = Workflow(
    name="From elsewhere",
    start="a",
    nodes=(
        AgentNode(id="a", name="Writer", profile="Team gateway", instructions="x"),
        AgentNode(id="b", name="Critic", profile="nobody", instructions="x"),
    ),
)


def shown_sheet(window: MainWindow, qtbot: QtBot) -> ProviderSheet:
    qtbot.waitUntil(lambda: any(s.isVisible() for s in window.findChildren(ProviderSheet)), timeout=20_000)
    return next(s for s in window.findChildren(ProviderSheet) if s.isVisible())


def test_the_sheet_comes_after_the_dialog_that_the_file_was_chosen_in(
    make_window: Callable[..., MainWindow], qtbot: QtBot, tmp_path: Path
) -> None:
    file = tmp_path / "elsewhere.workflow.json"
    write_workflow(FLOW, file)
    window = make_window()
    window.show()
    qtbot.waitExposed(window)
    window.files.ask_open()
    qtbot.waitUntil(lambda: window.findChild(QFileDialog) is not None, timeout=20_000)
    dialog = window.findChild(QFileDialog)
    assert dialog is not None
    dialog.setDirectory(str(tmp_path))
    dialog.selectFile(str(file))
    dialog.accept()
    assert list(shown_sheet(window, qtbot).boxes) == ["Team gateway", "nobody"]


def test_the_sheet_opens_with_the_workflow_and_is_one_step(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    write_profiles(Profiles().with_profile(Profile("team gateway", "openai", "https://x.example/v1")))
    window = make_window()
    window.show()
    qtbot.waitExposed(window)
    page = window.files._show(FLOW, None)
    sheet = shown_sheet(window, qtbot)
    assert {n: b.currentText() for n, b in sheet.boxes.items()} == {
        "Team gateway": "team gateway",
        "nobody": "The one chosen for the run",
    }
    assert [p.code for p in page.workspace.problems.problems if p.severity == "error"][:2] == ["unknown_profile"] * 2
    sheet.accept()
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)
    document = page.workspace.document
    assert [n.profile for n in document.workflow.nodes] == ["team gateway", None]  # type: ignore[union-attr]
    page.workspace.problems.refresh()
    assert "unknown_profile" not in [p.code for p in page.workspace.problems.problems]
    document.undo_stack.undo()
    assert document.workflow == FLOW


def test_a_new_profile_takes_the_problem_away(make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = make_window()
    page = window.files._show(FLOW, None)  # not shown yet: nothing pops up
    assert window.findChild(ProviderSheet) is None
    assert page.workspace.problems.problems[0].code == "unknown_profile"
    made = Profiles().with_profile(Profile("Team gateway", "openai", "https://x.example/v1"))
    write_profiles(made.with_profile(Profile("nobody", "openai", "https://x.example/v1")))
    window.refresh_profiles()
    assert "unknown_profile" not in [p.code for p in page.workspace.problems.problems]
    window.pages.map_providers(page)
    assert window.findChild(ProviderSheet) is None
