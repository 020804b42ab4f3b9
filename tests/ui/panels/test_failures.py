"""A failed run above the lanes: where, with which input, one click to the field, and everything in a window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot
from studio.bridge.run_views import InvocationView
from studio.bridge.workspace import Workspace
from studio.debugger.failures import CodeLine, Failure, Target
from studio.debugger.states import RunState
from studio.engine import events as ev
from studio.ui.debug.failure_dialog import FailureDialog, parts_of
from studio.ui.run.failure_bar import FailureBar
from studio.ui.run.retry_bar import RetryBar
from studio.ui.theme import Theme
from tests.ui.panels.fake_run import FakeRun

ERROR = "The provider does not know the model: gpt-9"


def fail(run: FakeRun) -> None:
    for event in (
        ev.NodeStarted(0.0, 2, "writer", "i2", ("planner",), "Two pages about\n grid storage"),
        ev.ModelCallStarted(0.1, "writer", "i2", "m1", (), "gpt-9"),
        ev.ModelCallFinished(0.2, "writer", "i2", "m1", None, None, ERROR, raw='{"error": {"message": "no gpt-9"}}'),
        ev.NodeFailed(0.3, 2, "writer", "i2", "ProviderError", ERROR),
        ev.RunFailed(0.3, "ProviderError", ERROR, "writer"),
        ev.StatusChanged(0.3, "FAILED"),
    ):
        run.events.append(event)
    run.state, run.sentence = RunState.FAILED, f"Writer failed: {ERROR}."


def test_the_bar_says_where_with_which_input_and_asks_to_go_there(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    bar = FailureBar(theme)
    qtbot.addWidget(bar)
    bar.show_failure(workspace)
    assert bar.isHidden()
    fail(run)
    bar.show_failure(workspace)
    assert bar.where.text == "Writer, superstep 2 · input: Two pages about grid storage"
    assert bar.show_place.toolTip() == "Go to the node and there to model"
    asked: list[tuple[str, str]] = []
    workspace.selection.command_requested.connect(lambda *words: asked.append(words))
    qtbot.mouseClick(bar.show_place, Qt.MouseButton.LeftButton)
    qtbot.mouseClick(bar.details, Qt.MouseButton.LeftButton)
    assert asked == [("failure", ""), ("failure_details", "")]


def test_a_low_panel_leaves_the_whole_sentence(theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    """The way out stands at its end."""
    around = QWidget()
    qtbot.addWidget(around)
    column = QVBoxLayout(around)
    column.setContentsMargins(0, 0, 0, 0)
    bar, lanes = FailureBar(theme), QWidget()
    lanes.setMinimumHeight(40)
    column.addWidget(bar)
    column.addWidget(lanes, 1)
    fail(run)
    run.sentence = "The provider cannot be reached. Check the address in the profile, then retry from here. " * 2
    bar.show_failure(workspace)
    around.resize(900, 60)
    around.show()
    qtbot.waitUntil(lambda: bar.text.height() >= bar.text.heightForWidth(bar.text.width()) > 20)
    assert bar.text.toolTip() == run.sentence
    run.sentence *= 20
    bar.show_failure(workspace)
    qtbot.waitUntil(lambda: bar.minimumHeight() == theme.length(84))  # the lanes are not pushed away


def test_a_failure_that_is_held_is_told_and_run_again_in_place(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    bar = FailureBar(theme)
    qtbot.addWidget(bar)
    run.state, run.sentence = RunState.PAUSED, "Paused in superstep 2 — Writer failed: no."
    bar.show_failure(workspace)
    assert bar.isHidden()
    monkeypatch.setattr(type(run), "held_failures", ("writer",))
    bar.show_failure(workspace)
    assert (bar.isHidden(), bar.text.plain, bar.details.isHidden()) == (False, run.sentence, True)
    bar.show_place.click()
    assert workspace.selection.items == ("writer",)
    bar.retry.click()
    assert run.calls == [("retry",)]
    monkeypatch.setattr(type(run), "held_failures", ())
    bar.show_failure(workspace)
    assert bar.isHidden()


def test_without_a_log_only_the_sentence_is_shown(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    bar = FailureBar(theme)
    qtbot.addWidget(bar)
    run.state, run.sentence = RunState.FAILED, "The run failed: no."
    bar.show_failure(workspace)
    assert bar.text.plain == run.sentence
    assert (bar.show_place.isHidden(), bar.details.isHidden()) == (True, True)


def test_the_window_has_the_body_the_input_and_the_code(theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    failure = Failure(
        ("writer",), 2, "ProviderError", ERROR, Target("writer", "model"), "in", '{"error":1}', "last",
        (CodeLine("f", 3, "  x = 1"),),
    )  # fmt: skip
    went: list[bool] = []
    bar = FailureBar(theme)
    qtbot.addWidget(bar)
    dialog = FailureDialog(
        theme, failure, "Writer failed.", "Writer, superstep 2", lambda: went.append(True), str.upper, bar
    )  # fmt: skip
    assert dialog.parts == [
        ("Provider's answer", '{\n  "error": 1\n}'),
        ("Code", "F, line 3: x = 1"),
        ("Input", "in"),
        ("Last message to the model", "last"),
        ("Error", f"ProviderError\n{ERROR}"),
    ]
    assert dialog.text.toPlainText() == '{\n  "error": 1\n}'
    dialog.part.show_value("Input")
    dialog.part.edited.emit("Input")
    assert dialog.text.toPlainText() == "in"
    dialog._copy()
    copied = QApplication.clipboard().text()
    assert copied.startswith("Writer failed.\nWriter, superstep 2\n\nProvider's answer:\n{")
    dialog.show_button.click()
    assert went == [True]


def test_what_is_not_there_has_no_part() -> None:
    failure = Failure((), 0, "ConvergenceError", "no end", Target("", "max_supersteps"))
    assert [name for name, _ in parts_of(failure, str)] == ["Error"]


def test_who_waits_for_another_try_is_said_with_a_way_to_try_now(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[tuple[InvocationView, float]] = []
    asked: list[bool] = []
    monkeypatch.setattr(FakeRun, "waits", property(lambda _: list(waits)))
    monkeypatch.setattr(FakeRun, "try_now", lambda _: (asked.append(True), waits.clear()))
    bar = RetryBar(theme)
    qtbot.addWidget(bar)
    waits.append((InvocationView("i2", "writer", 2, 0.0), 0.4))
    bar.show_waits(workspace)
    assert bar.isHidden(), "over before anybody could press the button"
    waits[:] = [(waits[0][0], 11.2)]
    bar.show_waits(workspace)
    assert (bar.isHidden(), bar.text.text) == (False, "Writer waits for its provider: the next try is in 12 s")
    waits.append((InvocationView("i3", "editor", 2, 0.0), 30.0))
    bar.show_waits(workspace)
    assert bar.text.text == "Writer and 1 more wait for their provider: the next try is in 12 s"
    qtbot.mouseClick(bar.try_now, Qt.MouseButton.LeftButton)
    assert (asked, bar.isHidden()) == ([True], True)
