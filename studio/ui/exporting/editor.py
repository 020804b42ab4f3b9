"""Opening a file in an editor: the one from the preferences, or what the system opens such files with."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from PySide6.QtCore import QProcess, QUrl
from PySide6.QtGui import QDesktopServices

from studio.ui.text import tr


def command_line(command: str, file: Path, line: int) -> list[str]:
    """Program and arguments: ``{file}`` and ``{line}`` are filled; without ``{file}`` the file is the last argument.

    Raises ``ValueError`` for a quotation mark without its partner.
    """
    parts = shlex.split(command, posix=sys.platform != "win32")
    filled = [part.replace("{line}", str(max(1, line))).replace("{file}", str(file)) for part in parts]
    return filled if any("{file}" in part for part in parts) else [*filled, str(file)]


def open_in_editor(command: str, file: Path, line: int = 1) -> str:
    """Opens it; why that is not possible as a sentence, "" if it was started."""
    if not command.strip():
        opened = QDesktopServices.openUrl(QUrl.fromLocalFile(str(file)))
        return (
            ""
            if opened
            else tr("The system has no program for {name}. Name one in the settings.").format(name=file.name)
        )
    try:
        program, *arguments = command_line(command, file, line)
    except ValueError as problem:
        return tr("The editor in the settings cannot be understood: {problem}.").format(problem=problem)
    started = QProcess.startDetached(program, arguments, str(file.parent))
    began = started[0] if isinstance(started, tuple) else started
    return "" if began else tr("{program} cannot be started. The settings name another editor.").format(program=program)
