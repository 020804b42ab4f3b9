"""The settings window: shortcuts with clashes, the wheel, contrast; what is chosen works at once and is kept."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.settings.preferences import Preferences, read_preferences
from studio.ui.actions import ACTIONS
from studio.ui.main_window import MainWindow
from studio.ui.settings_dialog import SettingsDialog
from studio.ui.settings_dialog.general import CanvasPage, RunPage
from studio.ui.settings_dialog.key_table import Keymap
from studio.ui.settings_dialog.shortcuts import ShortcutsPage
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

MakeWindow = Callable[..., MainWindow]


@pytest.fixture
def window(make_window: MakeWindow, qtbot: QtBot) -> Iterator[MainWindow]:
    made = make_window()
    made.show()
    qtbot.waitExposed(made)
    made.files.new()
    yield made
    for dialog in made.findChildren(SettingsDialog):
        dialog.done(0)


def page_of(window: MainWindow, section: str) -> SettingsDialog:
    window.pages.show_settings(section)
    return next(d for d in window.findChildren(SettingsDialog) if d.isVisible())


@pytest.fixture
def page(window: MainWindow) -> ShortcutsPage:
    found = page_of(window, "shortcuts").findChild(ShortcutsPage)
    assert isinstance(found, ShortcutsPage)
    return found


def choose(page: ShortcutsPage, action: str) -> None:
    page.table.selectRow(page.rows.row_of(action))


def press(page: ShortcutsPage, keys: str) -> None:
    page.keys.setKeySequence(QKeySequence(keys))


def test_no_default_keys_clash() -> None:
    keymap = Keymap({})
    assert {a.id: keymap.clashes(a.id) for a in ACTIONS if keymap.clashes(a.id)} == {}


def test_a_key_is_set_at_once_and_kept(window: MainWindow, page: ShortcutsPage) -> None:
    choose(page, "view.minimap")
    press(page, "Ctrl+Shift+K")
    page.set.click()
    action = window.actions_["view.minimap"]
    assert [k.toString() for k in action.shortcuts()] == ["Ctrl+Shift+K"]
    assert read_preferences()[0].shortcuts == {"view.minimap": ("Ctrl+Shift+K",)}
    window.refresh()
    assert "Ctrl+Shift+K" in action.toolTip()
    choose(page, "run.run")
    press(page, "Ctrl+Shift+U")
    page.add.click()
    assert [k.toString() for k in window.actions_["run.run"].shortcuts()] == ["F5", "Ctrl+Shift+U"]
    page.reset_all.click()
    assert "Ctrl+Shift+M" in [k.toString() for k in action.shortcuts()]
    assert read_preferences()[0].shortcuts == {}


def test_pressing_a_key_in_the_field(page: ShortcutsPage, qtbot: QtBot) -> None:
    choose(page, "view.minimap")
    qtbot.keyClick(page.keys, Qt.Key.Key_J, Qt.KeyboardModifier.ControlModifier)
    assert page.keys.keySequence().toString() == "Ctrl+J"
    assert page.set.isEnabled()
    assert page.said.plain.startswith("Press a key"), "the key is free"


def test_clashes_are_shown_and_solved(window: MainWindow, page: ShortcutsPage) -> None:
    choose(page, "view.minimap")
    press(page, "Ctrl+F")
    assert page.said.plain == "Ctrl+F is the key of Find in workflow, too."
    assert page.take.isVisible()
    page.set.click()
    assert page.keymap.clashes("edit.find_text") == ("Minimap",)
    row = page.rows.index(page.rows.row_of("edit.find_text"), 2)
    assert row.data(Qt.ItemDataRole.ToolTipRole) == "Also: Minimap"
    page.filter.setText("clash")
    assert page.rows.rowCount() == 2
    page.filter.clear()
    choose(page, "view.minimap")
    press(page, "Ctrl+F")
    page.take.click()
    assert page.keymap.clashes("view.minimap") == ()
    assert window.actions_["edit.find_text"].shortcuts() == []
    choose(page, "view.minimap")
    press(page, "Space")
    page.set.click()
    assert page.keymap.clashes("view.minimap") == ("Space on the canvas",)


def test_the_list_can_be_copied(page: ShortcutsPage) -> None:
    page.copy.click()
    assert "View\tMinimap\tCtrl+Shift+M" in QGuiApplication.clipboard().text()


def test_kept_keys_count_from_the_start(make_window: MakeWindow) -> None:
    window = make_window(preferences=Preferences(theme="light", shortcuts={"run.run": ("F8",), "gone": ("F1",)}))
    assert [k.toString() for k in window.actions_["run.run"].shortcuts()] == ["F8"]
    assert window.tool_bar._run._keys == "F8"


def wheel(window: MainWindow, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    page = window.page
    assert page is not None
    viewport = page.canvas.viewport()
    at = QPointF(viewport.rect().center())
    event = QWheelEvent(
        at, QPointF(viewport.mapToGlobal(at.toPoint())), QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton,
        modifiers, Qt.ScrollPhase.NoScrollPhase, False,
    )  # fmt: skip
    QApplication.sendEvent(viewport, event)


def test_the_wheel_scrolls_or_zooms(window: MainWindow) -> None:
    page = window.page
    assert page is not None
    canvas = page.canvas
    canvas.set_zoom(1.0)
    before = canvas.verticalScrollBar().value()
    wheel(window)
    assert canvas.zoom == 1.0
    assert canvas.verticalScrollBar().value() < before
    settings = page_of(window, "canvas").findChild(CanvasPage)
    assert isinstance(settings, CanvasPage)
    choice = settings.findChild(SegmentedControl, "setting.wheel")
    assert isinstance(choice, SegmentedControl)
    choice.edited.emit("zoom")
    wheel(window)
    assert canvas.zoom > 1.0
    zoom = canvas.zoom
    wheel(window, Qt.KeyboardModifier.ControlModifier)
    assert canvas.zoom == zoom
    assert read_preferences()[0].wheel == "zoom"
    other = window.files.new()
    assert other.canvas.wheel_zooms, "documents that are opened later too"


def test_more_contrast(window: MainWindow) -> None:
    before = window.theme.tokens.muted
    dialog = page_of(window, "appearance")
    dialog.preferences_changed.emit(Preferences(theme="light", more_contrast=True))
    assert window.theme.tokens.muted == window.theme.tokens.text2 != before
    assert read_preferences()[0].more_contrast


def test_the_dialog_fits_on_a_small_screen(window: MainWindow) -> None:
    dialog = page_of(window, "run")
    window.theme.set_scale(1.5)
    assert dialog.minimumSizeHint().height() <= 640
    window.theme.set_scale(1.0)


def test_a_limit_of_calls(window: MainWindow) -> None:
    dialog = page_of(window, "run")
    field = dialog.findChild(LineField, "setting.call_seconds")
    page = dialog.findChild(RunPage)
    assert isinstance(field, LineField)
    assert isinstance(page, RunPage)
    field.setText("0")
    field.left.emit()
    assert page._limit_field.problem == "Enter a number from 1 to 86400."
    field.setText("5")
    field.left.emit()
    assert read_preferences()[0].call_seconds == 5
