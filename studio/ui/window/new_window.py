"""A second window is a second process: what one does never makes the other wait, and a crash takes one of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QProcess

from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow
    from studio.ui.window.workflow_page import WorkflowPage

_ROOT = Path(__file__).resolve().parents[3]
"""Where the package is; the new process finds it there, however this one was started."""
_START = """\
import sys
root, *files = sys.argv[1:]
sys.path.insert(0, root)
sys.argv = ["superstep-studio", *files]
from studio.ui.app import main
sys.exit(main(files, reopen=False))
"""


def command(files: Sequence[Path] = ()) -> list[str]:
    """The program and its arguments: a window with these files, or with none and without the tabs of last time.

    ``-P``: what lies in the working directory is not imported.
    """
    return [sys.executable, "-P", "-c", _START, str(_ROOT), *(str(file.resolve()) for file in files)]


def open_window(window: MainWindow, files: Sequence[Path] = ()) -> None:
    """Opens one and says so, for it takes a moment."""
    program, *arguments = command(files)
    started, _pid = QProcess.startDetached(program, arguments)
    window.say(tr("A new window opens.") if started else tr("A new window could not be started."))


def open_page_in_window(window: MainWindow, page: WorkflowPage) -> None:
    """Opens the file of a page in another window, too; a change saved in one is noticed by the other."""
    path = page.workspace.document.path
    if path is None:
        window.say(tr("Save the workflow first: the other window opens its file."))
        return
    open_window(window, (path,))
