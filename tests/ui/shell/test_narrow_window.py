"""The smallest window: everything has its place, nothing covers anything."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.ui.main_window import MainWindow
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
