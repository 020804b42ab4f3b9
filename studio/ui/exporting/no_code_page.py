"""Instead of code: why there is none, sentence by sentence, each with the way to its node."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QScrollArea, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import IconLabel, Label, Prose

Reason = tuple[str, str]
"""Id of an item ("" for the whole workflow), and a sentence."""


class NoCodePage(QScrollArea):
    """A title and the reasons."""

    chosen = Signal(str)
    """An item to be shown on the canvas."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.reasons: tuple[Reason, ...] = ()
        self.setObjectName("export_no_code")
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        content = QWidget()
        self._title = Label(theme, "", "title")
        self._title.setWordWrap(True)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(14)
        column = QVBoxLayout(content)
        column.setContentsMargins(24, 24, 24, 24)
        column.addWidget(self._title)
        column.addSpacing(12)
        column.addLayout(self._rows)
        column.addStretch(1)
        self.setWidget(content)

    @property
    def title(self) -> str:
        """What is said above the reasons."""
        return self._title.text()

    def show_reasons(self, title: str, reasons: Sequence[Reason]) -> None:
        """Replaces what is said."""
        self._title.setText(title)
        if tuple(reasons) == self.reasons:
            return
        self.reasons = tuple(reasons)
        while (item := self._rows.takeAt(0)) is not None:
            if (row := item.widget()) is not None:
                row.hide()
                row.deleteLater()
        for place, sentence in reasons:
            self._rows.addWidget(self._row(place, sentence))

    def _row(self, place: str, sentence: str) -> QWidget:
        holder = QWidget(self.widget())
        row = QHBoxLayout(holder)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        text = Prose(self._theme, sentence, "body", "text2")
        text.setMaximumWidth(640)
        row.addWidget(IconLabel(self._theme, "circle-x", 16, "fail_t"), 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(text, 1)
        if place:
            show = Button(self._theme, tr("Show on canvas"), kind="framed", small=True)
            show.clicked.connect(partial(self.chosen.emit, place))
            row.addWidget(show, 0, Qt.AlignmentFlag.AlignTop)
        row.addStretch(0)
        return holder
