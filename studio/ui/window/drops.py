"""Files dropped on the window: workflows are opened, code and YAML imported, a text becomes the next input."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData

from studio.ui.dialogs.file_dialogs import SUFFIX
from studio.ui.dialogs.messages import show_problem
from studio.ui.text import tr

if TYPE_CHECKING:
    from studio.ui.main_window import MainWindow

_TEXTS = (".txt", ".md")
_FOREIGN = (".py", ".yaml", ".yml")
LONGEST_INPUT = 1_000_000
"""Bytes of a text file that is taken as input."""


def files_of(data: QMimeData) -> list[Path]:
    """The local files that are dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def take(window: MainWindow, files: list[Path]) -> None:
    """Does with each file what it is for."""
    for file in files:
        if file.suffix.lower() in _TEXTS and window.page is not None:
            _as_input(window, file)
        elif _is_foreign(file):
            window.pages.show_import(file)
        else:
            window.files.open(file)


def _is_foreign(file: Path) -> bool:
    """Whether the importer should look at it: code, YAML, or JSON that does not say at its beginning it is ours."""
    if file.suffix.lower() != ".json" or file.name.lower().endswith(SUFFIX):
        return file.suffix.lower() in _FOREIGN
    try:
        with file.open("rb") as stream:
            return b"superstep-workflow" not in stream.read(4_000)
    except OSError:
        return False


def _as_input(window: MainWindow, file: Path) -> None:
    try:
        text = file.read_bytes()[:LONGEST_INPUT].decode("utf-8", errors="replace")
    except OSError as error:
        show_problem(window.theme, window, tr("{name} could not be read.").format(name=file.name), f"{error.strerror}.")
        return
    window.tool_bar.input.setText(" ".join(text.split()))
    window.focus_input()
