"""What a person is asked before a run goes on from a checkpoint: what differs is shown, never silently used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from PySide6.QtWidgets import QMessageBox, QWidget
from studio.bridge.workspace import Workspace
from studio.debugger.comparison import NOT_KEPT, Comparison
from studio.debugger.drift import compare
from studio.debugger.effects import Effect
from studio.debugger.states import RunState
from studio.document.model import Workflow
from studio.ui.theme import Theme
from studio.ui.timeline import TimelinePanel
from studio.ui.widgets.restoring import ask_fork, ask_restore, ask_resume
from tests.ui.panels.brief import brief
from tests.ui.panels.fake_run import FakeRun, paused
from tests.ui.panels.test_timeline_mapping import CHECKPOINT

Show = Callable[..., Any]
Ask = Callable[..., QMessageBox | None]
CHANGED = "The drawing has changed since this run:\n1 prompt differs: Tech research."


def _other(prompt: str = "Other.") -> Workflow:
    nodes = tuple(n.model_copy(update={"instructions": prompt}) if n.id == "tech" else n for n in brief().nodes)
    return brief().model_copy(update={"nodes": nodes})


@pytest.fixture
def panel(show: Show, run: FakeRun) -> TimelinePanel:
    paused(run)
    run.here = "m2"
    made: TimelinePanel = show(TimelinePanel, 700, 300)
    run.comparisons["m3"] = Comparison(CHECKPOINT, brief(), compare(brief(), brief(), same_graph=True))
    return made


def _changed(run: FakeRun) -> Workflow:
    run.comparisons["m3"] = Comparison(CHECKPOINT, _other(), compare(_other(), brief(), same_graph=True))
    return _other()


def _question(panel: QWidget) -> QMessageBox | None:
    return next((box for box in panel.window().findChildren(QMessageBox) if box.isVisible()), None)


def _press(box: QMessageBox | None, text: str) -> None:
    assert box is not None
    next(button for button in box.buttons() if button.text() == text).click()


def _texts(box: QMessageBox | None) -> list[str]:
    assert box is not None
    return sorted(button.text() for button in box.buttons())


@pytest.mark.parametrize("ask", [ask_fork, ask_restore])
def test_nothing_is_asked_while_the_drawing_is_the_same(
    panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme, ask: Ask
) -> None:
    ask(theme, panel, workspace, "m3")
    assert _question(panel) is None
    assert [c[:2] for c in run.calls] == [("fork" if ask is ask_fork else "restore", "m3")]


@pytest.mark.parametrize(("ask", "verb"), [(ask_fork, "Fork"), (ask_restore, "Restore")])
def test_a_changed_prompt_is_shown_before_anything_goes_on(
    panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme, ask: Ask, verb: str
) -> None:
    _changed(run)
    ask(theme, panel, workspace, "m3")
    box = _question(panel)
    assert box is not None
    assert CHANGED in box.informativeText()
    assert run.calls == []
    assert _texts(box) == sorted([verb, "Open the old drawing", "Cancel"])
    _press(box, "Cancel")
    assert run.calls == []
    ask(theme, panel, workspace, "m3")
    _press(_question(panel), verb)
    assert [c[:2] for c in run.calls] == [(verb.lower(), "m3")]


def test_the_old_drawing_is_one_click_away(panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme) -> None:
    old = _changed(run)
    offered: list[tuple[Workflow, str]] = []
    workspace.drawing_offered.connect(lambda drawing, checkpoint: offered.append((drawing, checkpoint)))
    ask_fork(theme, panel, workspace, "m3")
    _press(_question(panel), "Open the old drawing")
    assert offered == [(old, "m3")]
    assert run.calls == []


def test_what_differs_and_what_reaches_outside_are_one_question(
    panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme, monkeypatch: pytest.MonkeyPatch
) -> None:
    _changed(run)
    monkeypatch.setattr(run, "effects", lambda _checkpoint: (Effect("publish", "publish"),))
    ask_fork(theme, panel, workspace, "m3")
    box = _question(panel)
    assert box is not None
    assert CHANGED in box.informativeText()
    assert "1 step with outside effects would run again: publish." in box.informativeText()
    assert _texts(box) == sorted(["Use recorded results", "Run them again", "Open the old drawing", "Cancel"])
    _press(box, "Cancel")


def test_a_drawing_that_was_not_kept_is_said(panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme) -> None:
    run.comparisons["m3"] = Comparison(CHECKPOINT)
    ask_fork(theme, panel, workspace, "m3")
    box = _question(panel)
    assert box is not None
    assert NOT_KEPT in box.informativeText()
    assert _texts(box) == ["Cancel", "Fork"]
    _press(box, "Cancel")


def test_restoring_says_that_it_stops_a_run(panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme) -> None:
    run.state = RunState.RUNNING
    ask_restore(theme, panel, workspace, "m3")
    box = _question(panel)
    assert box is not None
    assert "The run in progress is stopped." in box.informativeText()
    assert "changed" not in box.informativeText()
    _press(box, "Restore")
    assert [c[:2] for c in run.calls] == [("restore", "m3")]


@pytest.mark.parametrize(("answer", "call"), [(False, "resume"), (True, "show_branch")])
def test_an_interrupted_branch_says_what_changed_before_it_goes_on(
    panel: QWidget, run: FakeRun, workspace: Workspace, theme: Theme, answer: bool, call: str
) -> None:
    last = [c.checkpoint for c in run.checkpoints if c.branch == "main"][-1]
    run.comparisons[last] = Comparison(CHECKPOINT, brief(), compare(brief(), brief(), same_graph=True))
    ask_resume(theme, panel, workspace, "main", answer=answer)
    assert run.calls == [(call, "main")]
    run.calls.clear()
    run.comparisons[last] = Comparison(CHECKPOINT, _other(), compare(_other(), brief(), same_graph=True))
    ask_resume(theme, panel, workspace, "main", answer=answer)
    box = _question(panel)
    assert box is not None
    assert CHANGED in box.informativeText()
    assert "goes on as a fork of main" in box.informativeText()
    assert run.calls == []
    _press(box, "Show it" if answer else "Go on")
    assert run.calls == [(call, "main")]


def test_a_branch_that_can_go_on_is_shown_after_what_changed_was_said(
    panel: TimelinePanel, run: FakeRun, workspace: Workspace
) -> None:
    last = [c.checkpoint for c in run.checkpoints if c.branch == "main"][-1]
    branch = next(b for b in run.branches if b.branch == "main")
    run.comparisons[last] = Comparison(CHECKPOINT, _other(), compare(_other(), brief(), same_graph=True))
    for state, asks in (("waiting", True), ("interrupted", True), ("completed", False), ("failed", False)):
        branch.state = state
        run.calls.clear()
        panel.show_branch("main")
        box = _question(panel)
        assert (box is not None) is asks, state
        if box is not None:
            assert run.calls == []
            _press(box, "Show it")
        assert run.calls == [("show_branch", "main")], state
