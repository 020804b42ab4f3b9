"""Fixtures of the UI tests: the theme, windows, and checks that nothing is left behind."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QTimer
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.settings.preferences import Preferences
from studio.ui.theme import Theme, fonts

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow
    from studio.ui.window.file_flows import OpensWorkspaces

fonts.register()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if "/tests/ui/" in item.path.as_posix():
            item.add_marker(pytest.mark.qt_log_level_fail("WARNING"))
            item.add_marker(pytest.mark.qt_log_ignore("This plugin does not support", "propagateSizeHints"))


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    """The light theme, with the bundled fonts; not applied to the application."""
    fonts.load()
    made = Theme("light")
    yield made
    made.deleteLater()


@pytest.fixture
def make_window(qtbot: QtBot, theme: Theme) -> Iterator[Callable[..., MainWindow]]:
    """Makes main windows; documents in them get runs that stand still unless ``workspaces`` says otherwise."""
    from studio.ui.main_window import MainWindow
    from tests.ui.shell.still_run import StillWorkspaces

    made: list[MainWindow] = []

    def make(*, preferences: Preferences | None = None, workspaces: OpensWorkspaces | None = None) -> MainWindow:
        window = MainWindow(theme, preferences or Preferences(theme="light"), workspaces or StillWorkspaces())
        made.append(window)
        return window

    yield make
    for window in made:
        for page in window.files.pages():
            if page.workspace.autosave is not None:
                page.workspace.autosave.close()
        window.hide()
        window.deleteLater()
    _delete_now()


@pytest.fixture(autouse=True)
def leaves_nothing(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Fails a test that leaves a window, a running timer or a thread behind."""
    timers: weakref.WeakSet[QTimer] = weakref.WeakSet()
    start = QTimer.start

    def noted(timer: QTimer, *arguments: int) -> None:
        timers.add(timer)
        start(timer, *arguments)

    monkeypatch.setattr(QTimer, "start", noted)
    threads = set(threading.enumerate())
    yield
    if QApplication.instance() is None:
        return
    _delete_now()
    kept = [w for w in QApplication.topLevelWidgets() if w.isVisible()]
    assert not kept, f"windows were left open: {kept}"
    running = [t for t in timers if _alive(t) and t.isActive()]
    assert not running, f"timers were left running: {[(t.objectName(), t.parent(), t.interval()) for t in running]}"
    left = {t for t in threading.enumerate() if t not in threads and t.is_alive() and not t.name.startswith("asyncio_")}
    assert not left, f"threads were left running: {left}"


def _alive(timer: QTimer) -> bool:
    from shiboken6 import isValid

    return bool(isValid(timer))


def _delete_now() -> None:
    """Lets Qt carry out ``deleteLater``."""
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
