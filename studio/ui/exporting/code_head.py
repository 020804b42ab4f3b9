"""The line above the code: which file, how long, code or changes, and what can be done with it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.ui.text import tip, tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Chip, Elided
from studio.ui.widgets.segments import SegmentedControl


class CodeHead(QWidget):
    """``copied``: the file is wanted in the clipboard."""

    copied = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.path = Elided(theme, "", "code-small", "text")
        self.lines = Chip(theme, "", square=True, height=18)
        self.shows = SegmentedControl(theme, (("code", tr("Code")), ("changes", tr("Changes"))), small=True)
        self.shows.setAccessibleName(tr("What is shown of the file"))
        self.shows.show_value("code")
        self.shows.hide()
        self.search = Button(theme, "", "search", "plain", small=True)
        self.search.setAccessibleName(tr("Find in this file"))
        self.search.setToolTip(tr("Find in this file (Ctrl+F)"))
        self.edit = Button(theme, tr("Open in editor"), "external-link", small=True)
        copy = Button(theme, tr("Copy"), "copy", small=True)
        copy.clicked.connect(self.copied)
        row = QHBoxLayout(self)
        row.setContentsMargins(14, 5, 10, 5)
        row.setSpacing(8)
        row.addWidget(self.path)
        row.addWidget(self.lines)
        row.addStretch(1)
        for widget in (self.shows, self.search, self.edit, copy):
            row.addWidget(widget)

    def show_in_folder(self, file: Path | None) -> None:
        """Where the file was written; None: it was not."""
        self.edit.setEnabled(file is not None)
        there = tip(str(file)) if file is not None else tr("Possible when the project has been written.")
        self.edit.setToolTip(there)
