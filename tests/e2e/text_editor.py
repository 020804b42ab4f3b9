"""A plain text editor in a process of its own, for the clipboard between programs: ``python -m tests.e2e.text_editor
FILE``. What is in it stands in ``FILE`` at all times; the first line says whether it has the focus."""

from __future__ import annotations

import sys
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QPlainTextEdit


def main() -> int:
    """Runs until it is ended."""
    application = QApplication(sys.argv)
    file = Path(sys.argv[1])
    editor = QPlainTextEdit()
    editor.setWindowTitle("notes")
    editor.resize(500, 300)
    editor.show()

    def keep() -> None:
        part = file.with_suffix(".part")
        part.write_text(f"{'focus' if editor.hasFocus() else 'away'}\n{editor.toPlainText()}", encoding="utf-8")
        part.replace(file)

    timer = QTimer(editor)
    timer.timeout.connect(keep)
    timer.start(50)
    return application.exec()


if __name__ == "__main__":
    sys.exit(main())
