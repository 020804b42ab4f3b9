"""Keys in a text field act on the text only, in the whole window with all its shortcuts."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.model import Place, Workflow
from studio.ui.main_window import MainWindow
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.text_fields import LineField, TextBox

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
