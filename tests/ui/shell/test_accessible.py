"""Everything that takes the focus has a name for screen readers, in every panel, dialog and inspector page; no page is
wider than its panel."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QApplication,
    QComboBox,
    QDialog,
    QLabel,
    QLineEdit,
    QScrollArea,
    QSplitter,
    QStackedWidget,
    QTabBar,
    QWidget,
)
from pytestqt.qtbot import QtBot
from studio.document import commands
from studio.document.conditions import Condition, Rule
from studio.document.edits import Insert
from studio.document.model import Note
from studio.document.problems import Problem
from studio.settings.places import resource
from studio.ui.find.rename_dialog import RenameDialog
from studio.ui.main_window import MainWindow
from studio.ui.settings_dialog import SettingsDialog
from studio.ui.theme.tokens import high_contrast, tokens
from studio.ui.window.workflow_page import WorkflowPage

MakeWindow = Callable[..., MainWindow]
_CONTAINERS = (QScrollArea, QSplitter, QStackedWidget)


def nameless(root: QWidget) -> list[str]:
    """The visible things in a widget that take the focus and say nothing."""
    found = []
    for widget in root.findChildren(QWidget):
        if not widget.isVisible() or widget.focusPolicy() == Qt.FocusPolicy.NoFocus or isinstance(widget, _CONTAINERS):
            continue
        if isinstance(widget.parent(), QComboBox | QAbstractScrollArea) or isinstance(widget, QTabBar):
            continue  # the editor of a combo box and the viewport of a list speak for these; tabs say their texts
        said = widget.accessibleName()
        if isinstance(widget, QAbstractButton):
            said = said or widget.text() or widget.toolTip()
        if isinstance(widget, QLabel):
            said = said or widget.text()
        if isinstance(widget, QLineEdit):
            said = said or widget.placeholderText()
        if not said.strip():
            around = [type(w).__name__ for w in _parents(widget)][:4]
            found.append(f"{type(widget).__name__} {widget.objectName()} in {' < '.join(around)}")
    return found


def _parents(widget: QWidget) -> Iterator[QWidget]:
    parent = widget.parentWidget()
    while parent is not None:
        yield parent
        parent = parent.parentWidget()


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> Iterator[MainWindow]:
    made = make_window()
    made.resize(1700, 1000)
    made.show()
    qtbot.waitExposed(made)
    template = next(resource("templates").glob("research-brief*"))
    made.files.new_from_template(template)
    yield made
    for widget in QApplication.topLevelWidgets():
        if isinstance(widget, QDialog):
            widget.done(0)


def page_of(window: MainWindow) -> WorkflowPage:
    assert window.page is not None
    return window.page


def test_every_panel_of_the_docks(window: MainWindow) -> None:
    sides = window.sides
    keys = [key for dock in (sides.left, sides.right, sides.bottom) for key in dock._keys]
    assert {"palette", "inspector", "find", "versions", "history"} <= set(keys)
    for key in keys:
        shown = sides.show_panel(key)
        QApplication.processEvents()
        assert nameless(shown) == [], key


def test_the_window_around_them(window: MainWindow) -> None:
    assert nameless(window.tool_bar) == []
    assert nameless(window.status) == []
    assert page_of(window).canvas.accessibleName()
    assert window.sides.outline.accessibleName() or nameless(window.sides.outline) == []


def test_every_inspector_page(window: MainWindow) -> None:
    page = page_of(window)
    document, selection = page.workspace.document, page.workspace.selection
    for kind in ("function", "human_input", "template", "sub_workflow", "join", "switch", "fan_out"):
        document.execute(commands.new_node(document.workflow, kind)[0], "Add")
    document.execute(Insert("notes", Note(id="note_x", text="x")), "Add")
    document.execute(commands.new_frame(document.workflow, ("writer",))[0], "Frame")
    document.execute(commands.set_fields(document.workflow, "switch", {"name": "Verdict " * 30}), "Rename")
    rules = tuple(Rule(value="a very long text that is looked for") for _ in range(3))
    anything = Condition(rule=Rule(op="or", rules=rules))
    connected = commands.connect(document.workflow, "switch", "writer")
    assert not isinstance(connected, Problem)
    document.execute(connected, "Connect")
    case = document.workflow.edge("switch").cases[0]  # type: ignore[union-attr]
    document.execute(commands.set_condition(document.workflow, case.id, anything), "Condition")
    workflow = document.workflow
    items = [i.id for part in (workflow.nodes, workflow.edges, workflow.notes, workflow.groups) for i in part]
    chosen: list[tuple[str, ...]] = [(), *((i,) for i in items), tuple(items), ("planner", "writer")]
    shown = window.sides.show_panel("inspector")
    width = shown.width()
    for ids in chosen:
        selection.select(ids)
        QApplication.processEvents()
        assert nameless(shown) == [], ids
        for area in shown.findChildren(QScrollArea):
            assert not area.isVisible() or area.widget().minimumSizeHint().width() <= area.viewport().width(), ids
    assert shown.width() == width


@pytest.mark.parametrize("section", ["appearance", "session", "canvas", "shortcuts", "run", "providers"])
def test_settings(window: MainWindow, section: str) -> None:
    window.pages.show_settings(section)
    dialog = window.findChild(SettingsDialog)
    assert isinstance(dialog, SettingsDialog)
    assert nameless(dialog) == []


def test_rename(window: MainWindow) -> None:
    window.actions_["edit.rename_all"].trigger()
    dialog = window.findChild(RenameDialog)
    assert isinstance(dialog, RenameDialog)
    assert nameless(dialog) == []


def luminance(color: str) -> float:
    parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(a: str, b: str) -> float:
    high, low = sorted((luminance(a), luminance(b)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_high_contrast_reaches_seven_to_one(scheme: str) -> None:
    strong = high_contrast(tokens(scheme))
    for ground in (strong.window, strong.surface, strong.canvas):
        assert contrast(strong.text, ground) >= 7
        assert contrast(strong.muted, ground) >= 7
        assert contrast(strong.border, ground) >= 4.5
        for name in ("run_t", "done_t", "fail_t", "wait_t", "accent"):
            assert contrast(getattr(strong, name), ground) >= 4.5, name
