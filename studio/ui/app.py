"""The window program: ``main(paths)`` runs it to its end."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from studio.cli import headless_hint
from studio.ui.display import display_problem

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication

    from studio.ui.main_window import MainWindow

    _ToWindow = Callable[[MainWindow], None]

_log = logging.getLogger(__name__)


def main(paths: Sequence[str], ready: Callable[[MainWindow], None] | None = None, *, reopen: bool = True) -> int:
    """Shows the window with these files and returns the exit code: 0, or 2 without a display.

    ``ready`` is called once the window is on the screen. ``reopen``: whether without files the tabs of last time are
    opened.
    """
    reason = display_problem()
    if reason:
        sys.stderr.write(headless_hint(reason))
        return 2
    from studio.bridge import loop

    application = make_application()
    files = [Path(path) for path in paths]

    def show(window: MainWindow) -> None:
        window.show_first(files, reopen=reopen)

    try:
        loop.run(application, lambda: _session(application, show, ready))
    except asyncio.CancelledError:
        return 130
    return 0


def make_application() -> QApplication:
    """The one application of the process, with its fonts."""
    from PySide6.QtCore import Qt
    from PySide6.QtWidgets import QApplication

    from studio.ui.theme import fonts

    fonts.register()
    QApplication.setHighDpiScaleFactorRoundingPolicy(Qt.HighDpiScaleFactorRoundingPolicy.PassThrough)
    application = QApplication(sys.argv[:1])
    application.setApplicationName("superstep-studio")
    application.setApplicationDisplayName("Superstep Studio")
    application.setDesktopFileName("superstep-studio")
    application.setQuitOnLastWindowClosed(False)
    fonts.load()
    return application


async def _session(application: QApplication, show: _ToWindow, ready: _ToWindow | None) -> None:
    """One window from its first paint to the end of everything it started."""
    from studio.agents.hiding import Hider
    from studio.bridge.workspaces import Workspaces
    from studio.settings.preferences import read_preferences
    from studio.ui.clipboard import ClipboardGuard
    from studio.ui.faults import Faults
    from studio.ui.main_window import MainWindow
    from studio.ui.theme import Theme

    preferences, problems = read_preferences()
    theme = Theme(preferences.theme, preferences.font_scale)
    theme.set_contrast(preferences.more_contrast)
    theme.apply(application)
    workspaces = Workspaces()
    window = MainWindow(theme, preferences, workspaces)
    workspaces.say = window.say
    closed = asyncio.Event()
    window.closed.connect(closed.set)
    faults = Faults(window.say, lambda: workspaces.secrets.known)
    faults.begin(asyncio.get_running_loop())
    ClipboardGuard(application.clipboard(), Hider(lambda: workspaces.secrets.keys), window)
    show(window)
    try:
        await asyncio.sleep(0)
        for problem in problems:
            window.say(problem)
        workspaces.warm_up()
        if ready is not None:
            ready(window)
        await closed.wait()
    except asyncio.CancelledError:
        window.end_from_outside()
        raise
    finally:
        window.hide()
        await workspaces.close_all()
        window.deleteLater()
        await asyncio.sleep(0)
        faults.end()
