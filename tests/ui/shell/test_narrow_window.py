"""The smallest window: everything has its place, nothing covers anything."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtGui import QScreen
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.document.model import Workflow
from studio.files import write_workflow
from studio.ui.main_window import MainWindow
from studio.ui.toolbar.action_button import ActionButton
from studio.ui.window.layouts import LEAST_SIZE


def test_the_bottom_panels_leave_the_right_side_alone(make_window: Callable[..., MainWindow], qtbot: QtBot) -> None:
    window = make_window()
    window.show_first([])
    window.showNormal()
    qtbot.waitExposed(window)
    window.files.new()
    window.resize(LEAST_SIZE)
    sides = window.sides
    for side in ("left", "bottom", "right"):
        sides.layouts.open(side)
    qtbot.waitUntil(lambda: window.width() == LEAST_SIZE.width())
    QApplication.processEvents()
    assert sides.bottom.geometry().right() < sides.right.geometry().left()


def test_an_export_in_another_tab_takes_no_height_from_the_panels(
    make_window: Callable[..., MainWindow], qtbot: QtBot
) -> None:
    window = make_window()
    window.show_first([])
    window.showNormal()
    qtbot.waitExposed(window)
    page = window.files.new()
    layouts = window.sides.layouts
    layouts.switch("debug")
    layouts.reset()
    window.resize(1600, 960)
    qtbot.waitUntil(lambda: window.height() == 960)
    QApplication.processEvents()
    before = layouts.bottom.height(), layouts.checkpoints.height()
    assert before[0] > 200
    window.pages.show_export(page)
    assert window.page_kind == "export"
    QApplication.processEvents()
    assert max(shown.minimumSizeHint().height() for shown in window.tabs.pages()) < 400
    window.tabs.show_page(page)
    QApplication.processEvents()
    assert (layouts.bottom.height(), layouts.checkpoints.height()) == before


def test_a_small_screen_gets_a_small_window_with_short_buttons(
    make_window: Callable[..., MainWindow], monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, tmp_path: Path
) -> None:
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: QSize(800, 500))
    file = tmp_path / "x.workflow.json"
    write_workflow(Workflow(id="w", name="X"), file)
    window = make_window()
    window.show_first([file])
    layouts = window.sides.layouts
    assert not layouts.is_shown("left")
    assert not layouts.is_shown("bottom")
    assert window.minimumWidth() <= 800
    assert window.minimumHeight() <= 500
    window.showNormal()
    window.resize(800, 480)
    step = window.tool_bar.findChild(ActionButton, "tool.run.step")
    run = window.tool_bar.findChild(ActionButton, "tool.run.run")
    qtbot.waitUntil(lambda: step.width() == step.height())
    assert run.width() > 2 * run.height()
    window.resize(1300, 480)
    qtbot.waitUntil(lambda: step.width() > 2 * step.height())
