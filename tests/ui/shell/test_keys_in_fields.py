"""Keys in a text field act on the text only, in the whole window with all its shortcuts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QInputMethodEvent
from PySide6.QtWidgets import QApplication, QLineEdit, QTextEdit, QWidget
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.model import Place, Workflow
from studio.ui.main_window import MainWindow
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.text_fields import LineField, TextBox
from tests.ui.shell.still_run import StillRun

MakeWindow = Callable[..., MainWindow]
Key, Mod = Qt.Key, Qt.KeyboardModifier


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> MainWindow:
    """A window with a function node that is selected."""
    made = make_window()
    made.show_first([])
    page = made.files.new()
    document = page.workspace.document
    for kind in ("agent", "function"):
        edit, node = commands.new_node(document.workflow, kind, None, Place(x=0, y=0))
        document.execute(edit, f"Add {kind}")
    qtbot.waitExposed(made)
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow)
    page.workspace.selection.select((node,))
    return made


def fields(window: MainWindow) -> dict[str, QWidget]:
    """Text fields of the inspector and the tool bar that can be seen."""
    found: dict[str, QWidget] = {"input": window.tool_bar.input}
    for kind in (LineField, TextBox, CodeEditor):
        for field in window.sides.inspector.findChildren(kind):
            if field.isVisible():
                found[f"{kind.__name__} {len(found)}"] = field
    return found


def workflow(window: MainWindow) -> Workflow:
    assert window.page is not None
    return window.page.workspace.document.workflow


def test_keys_act_on_the_text_only(window: MainWindow, qtbot: QtBot) -> None:
    assert window.page is not None
    page = window.page
    nodes = [n.id for n in workflow(window).nodes]
    places, selected = workflow(window).places, page.workspace.selection.items
    found = fields(window)
    assert len(found) >= 4
    for name, field in found.items():
        field.setFocus()
        qtbot.keyClicks(field, "abc d")
        for key in (Key.Key_Left, Key.Key_Backspace, Key.Key_Delete, Key.Key_Up, Key.Key_Down, Key.Key_Right):
            qtbot.keyClick(field, key)
        if name != "input":
            qtbot.keyClick(field, Key.Key_Return)
        qtbot.keyClicks(field, "nicfhgl.")
        qtbot.keyClick(field, Key.Key_Z, Mod.ControlModifier)
        for key in (Key.Key_Delete, Key.Key_A, Key.Key_X, Key.Key_V):
            qtbot.keyClick(field, key, Mod.ControlModifier)
        assert [n.id for n in workflow(window).nodes] == nodes, name
        assert workflow(window).places == places, name
        assert page.workspace.selection.items == selected, name


def composing(field: QWidget, candidate: str, commit: str = "") -> None:
    """What an input method sends while a candidate is chosen, and when it is taken."""
    event = QInputMethodEvent(candidate, [])
    event.setCommitString(commit)
    QApplication.sendEvent(field, event)


def popup_field(window: MainWindow) -> QWidget:
    assert window.page is not None
    window.page.canvas.open_search_in_middle()
    return window.page.canvas.prompts.popup.field


def palette_field(window: MainWindow) -> QWidget:
    window.palettes.show_commands()
    field = window.findChild(QLineEdit, "command_palette_field")
    assert isinstance(field, QLineEdit)
    return field


def name_field(window: MainWindow) -> QWidget:
    return next(f for f in window.sides.inspector.findChildren(LineField) if f.isVisible())


FIELDS: dict[str, Callable[[MainWindow], QWidget]] = {
    "input of a run": lambda window: window.tool_bar.input,
    "search on the canvas": popup_field,
    "command palette": palette_field,
    "name in the inspector": name_field,
}


@pytest.mark.parametrize("where", FIELDS)
def test_enter_that_confirms_a_candidate_commits_nothing_else(window: MainWindow, qtbot: QtBot, where: str) -> None:
    assert window.page is not None
    page = window.page
    run = page.workspace.run
    assert isinstance(run, StillRun)
    field = FIELDS[where](window)
    assert isinstance(field, QLineEdit)
    field.setFocus()
    field.clear()
    before, steps = workflow(window), page.workspace.document.undo_stack.count()
    composing(field, "にほ")
    for key in (Key.Key_Down, Key.Key_Return, Key.Key_Enter, Key.Key_Tab, Key.Key_Escape):
        qtbot.keyClick(field, key)
        assert field.hasFocus(), key
        assert field.text() == "", key
    assert workflow(window) == before
    assert page.workspace.document.undo_stack.count() == steps
    assert run.calls == []
    composing(field, "", "日本")
    assert field.text() == "日本"
    assert run.calls == []
    if where == "input of a run":
        qtbot.keyClick(field, Key.Key_Return)
        assert run.calls == [("run", "日本")], "the next Enter is for the field again"
    if where == "name in the inspector":
        assert [n.name for n in workflow(window).nodes][-1] == "日本"
        assert page.workspace.document.undo_stack.count() == steps + 1
    page.canvas.prompts.close()


def test_a_box_takes_no_line_break_from_a_candidate(window: MainWindow, qtbot: QtBot) -> None:
    box = next(f for f in window.sides.inspector.findChildren(QTextEdit) if f.isVisible() and not f.isReadOnly())
    box.setFocus()
    before = box.toPlainText()
    composing(box, "かん")
    qtbot.keyClick(box, Key.Key_Return)
    composing(box, "", "漢")
    assert box.toPlainText().replace("漢", "", 1) == before
