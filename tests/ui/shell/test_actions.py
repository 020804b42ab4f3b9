"""The action list: complete, without clashes, and what is drawn from it."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable

import pytest
from PySide6.QtCore import QEvent, QPoint
from PySide6.QtGui import QHelpEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot
from studio.ui.actions import ACTIONS, MENUS, Situation
from studio.ui.main_window import MainWindow
from studio.ui.toolbar.action_set import tooltip
from studio.ui.window.functions import functions
from tests.ui.shell.still_run import StillRun


def test_ids_are_unique_and_menus_known() -> None:
    assert [i for i, n in Counter(a.id for a in ACTIONS).items() if n > 1] == []
    assert {a.menu for a in ACTIONS} <= set(MENUS)


def test_no_key_is_given_twice() -> None:
    keys = Counter(QKeySequence(k).toString() for a in ACTIONS for k in a.keys)
    assert [k for k, n in keys.items() if n > 1] == []
    assert all(QKeySequence(k).toString() for a in ACTIONS for k in (*a.keys, *a.mac))


def test_default_keys_leave_text_and_layouts_alone() -> None:
    for action in ACTIONS:
        for key in action.keys:
            assert "Ctrl+Alt" not in key, action.id
            assert "Alt+Shift" not in key, action.id
            single = "+" not in key.removeprefix("Shift+") and len(key.removeprefix("Shift+")) == 1
            assert not single or action.context == "canvas", action.id


def test_texts_are_sentence_case_without_shouting() -> None:
    for action in ACTIONS:
        words = action.text.replace("Superstep Studio", "").split()[1:]
        assert all(word[0].islower() or word[0] in "…100" for word in words if word[0].isalnum()), action.text
        assert "!" not in action.text + action.hint


def test_every_action_has_a_function_and_every_function_an_action(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    assert set(functions(window)) == {a.id for a in ACTIONS}


def test_menus_have_no_empty_entry(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    titles = [a.text().replace("&", "") for a in window.menuBar().actions()]
    assert titles == list(MENUS)
    for menu in window.menuBar().findChildren(QMenu):
        shown = [a for a in menu.actions() if not a.isSeparator()]
        assert all(a.text() for a in shown), menu.title()
        assert not (menu.actions() and menu.actions()[-1].isSeparator()), menu.title()


def test_without_a_workflow_only_general_actions_apply(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    window.pages.show_welcome()
    for action in ("file.save", "run.run", "edit.undo", "insert.agent"):
        assert not window.actions_[action].isEnabled(), action
    for action in ("file.new", "file.open", "app.settings", "app.palette", "theme.dark"):
        assert window.actions_[action].isEnabled(), action


def test_a_disabled_action_says_why(make_window: Callable[..., MainWindow]) -> None:
    window = make_window()
    page = window.files.new()
    run = page.workspace.run
    assert isinstance(run, StillRun)
    run.refused["run"] = "The workflow has no start node."
    window.refresh()
    assert not window.actions_["run.run"].isEnabled()
    assert window.actions_["run.run"].toolTip().endswith("The workflow has no start node.")
    window.actions_["checkpoint.before_error"].trigger()
    assert window.status.currentMessage() == "Nothing failed in the shown run."


def test_tooltips_have_the_key() -> None:
    shown = tooltip("Save as…", "Ctrl+Shift+S", "")
    assert shown.startswith("Save as (")
    if sys.platform != "darwin":
        assert shown == "Save as (Ctrl+Shift+S)"


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ("Change name of " + "a" * 300, "Undo change name of " + "a" * 44 + "…"),
        ("Move Writer", "Undo move Writer"),
        ("Rename A to B", "Undo rename A to B"),
        ("JSON edit", "Undo JSON edit"),
    ],
)
def test_undo_names_the_step(step: str, text: str) -> None:
    undo = next(a for a in ACTIONS if a.id == "edit.undo")
    assert undo.text_now is not None
    assert undo.text_now(Situation(undo=step)) == text


def test_run_is_called_continue_while_paused() -> None:
    run = next(a for a in ACTIONS if a.id == "run.run")
    assert run.text_now is not None
    assert [run.text_now(Situation(paused=p)) for p in (False, True)] == ["Run", "Continue"]


def test_a_menu_says_why_an_entry_does_not_apply(make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = make_window()
    menu = window.findChild(QMenu, "menu.Run")
    assert menu is not None
    pause = window.actions_["run.pause"]
    window.actions_.update(Situation(page="workflow", run={"pause": "Nothing runs."}))
    menu.popup(QPoint(0, 0))
    at = menu.actionGeometry(pause).center()
    QApplication.sendEvent(menu, QHelpEvent(QEvent.Type.ToolTip, at, menu.mapToGlobal(at)))
    assert QToolTip.text() == pause.toolTip()
    assert "Nothing runs." in QToolTip.text()
    menu.close()
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_a_held_failure_gives_retry_its_name() -> None:
    retry = next(a for a in ACTIONS if a.id == "run.retry")
    assert retry.text_now is not None
    assert retry.text_now(Situation(failure_held=True)) == "Run the failed node again"
    assert retry.text_now(Situation()) == retry.text
