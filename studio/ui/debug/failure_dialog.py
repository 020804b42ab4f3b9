"""A failed run in full: what, where, the input that led to it, the code, and what a provider said word for word."""

from __future__ import annotations

import json
from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QTextEdit, QVBoxLayout, QWidget

from studio.debugger.failures import CodeLine, Failure
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.segments import SegmentedControl


class FailureDialog(QDialog):
    """Opened with :meth:`open`; goes when it is closed. ``show_place`` goes to where it can be mended."""

    def __init__(
        self, theme: Theme, failure: Failure, sentence: str, where: str, show_place: Callable[[], None],
        piece_words: Callable[[str], str], parent: QWidget,
    ) -> None:  # fmt: skip
        super().__init__(parent)
        self.setWindowTitle(tr("Why the run failed"))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(720, 520)
        self._theme, self._show_place = theme, show_place
        self._words = f"{sentence}\n{where}"
        self.parts = parts_of(failure, piece_words)
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        column.addWidget(Label(theme, tr("Why the run failed"), "title"))
        column.addWidget(Prose(theme, sentence, "body", "fail_t", 17))
        column.addWidget(Prose(theme, where, "small", "text2", 16))
        self.part = SegmentedControl(theme, [(name, name) for name, _ in self.parts])
        self.part.setAccessibleName(tr("What is shown"))
        self.part.setVisible(len(self.parts) > 1)
        self.part.edited.connect(lambda _value: self._show())
        line = QHBoxLayout()
        line.addWidget(self.part)
        line.addStretch(1)
        column.addLayout(line)
        self.text = QTextEdit()
        self.text.setAcceptRichText(False)
        self.text.setReadOnly(True)
        self.text.setProperty("code", "true")
        column.addWidget(self.text, 1)
        column.addLayout(self._make_buttons(failure))
        self.part.show_value(self.parts[0][0])
        self._show()

    def _make_buttons(self, failure: Failure) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        copy = Button(self._theme, tr("Copy all"), "copy", small=True)
        copy.clicked.connect(self._copy)
        row.addWidget(copy)
        row.addStretch(1)
        self.show_button = Button(self._theme, tr("Show where"), "crosshair")
        self.show_button.setVisible(bool(failure.target.place or failure.target.field))
        self.show_button.clicked.connect(self._on_show_button_clicked)
        close = Button(self._theme, tr("Close"), kind="primary")
        close.clicked.connect(self.accept)
        row.addWidget(self.show_button)
        row.addWidget(close)
        return row

    def _show(self) -> None:
        name = str(self.part.value or self.parts[0][0])
        self.text.setPlainText(dict(self.parts)[name])
        self.text.setAccessibleName(name)

    def _copy(self) -> None:
        texts = [self._words, *(f"{name}:\n{text}" for name, text in self.parts)]
        QGuiApplication.clipboard().setText("\n\n".join(texts))

    def _on_show_button_clicked(self) -> None:
        self.accept()
        self._show_place()


def parts_of(failure: Failure, piece_words: Callable[[str], str]) -> list[tuple[str, str]]:
    """What there is to read, by its name: the provider's words and code first, they say most.

    ``piece_words``: what people call a piece of code.
    """

    def line(at: CodeLine) -> str:
        piece = piece_words(at.unit)
        return tr("{piece}, line {line}: {text}").format(piece=piece, line=at.line, text=at.text.strip())

    found = [
        (tr("Provider's answer"), _pretty(failure.raw)),
        (tr("Code"), "\n".join(map(line, failure.code))),
        (tr("Input"), failure.given),
        (tr("Last message to the model"), failure.prompt if failure.prompt != failure.given else ""),
        (tr("Error"), f"{failure.error}\n{failure.message}"),
    ]
    return [(name, text) for name, text in found if text]


def _pretty(raw: str) -> str:
    """A body that is JSON laid out; any other as it is."""
    try:
        return json.dumps(json.loads(raw), ensure_ascii=False, indent=2) if raw else ""
    except ValueError:
        return raw
