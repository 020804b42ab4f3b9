"""Asks for one text or JSON value: a reply to pin, the result of a tool, a message to inject."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import TextBox


class ValueDialog(QDialog):
    """``done`` gets the value when the button is pressed, and the choice if there are ``choices``.

    ``as_json``: a text that is JSON is taken as that value, any other stays a text. ``wrong`` says why a value is not
    taken; the dialog then stays with what was typed.
    """

    def __init__(
        self,
        theme: Theme,
        title: str,
        hint: str,
        verb: str,
        done: Callable[[Any, str], None],
        *,
        value: Any = "",
        as_json: bool = False,
        choices: Sequence[tuple[str, str]] = (),
        wrong: Callable[[Any], str] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._done, self._as_json, self._wrong = done, as_json, wrong
        self.setObjectName("value_dialog")
        self.setWindowTitle(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(440, 300)
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(8)
        self._add_words(theme, column, title, hint)
        self.choice = SegmentedControl(theme, choices)
        self.choice.setVisible(bool(choices))
        if choices:
            self.choice.show_value(choices[0][0])
            column.addWidget(self.choice)
        self.box = TextBox(theme, lines=6)
        self.box.setAccessibleName(title)
        self.box.show_value(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1))
        column.addWidget(self.box, 1)
        self.problem = Label(theme, "", "small", "fail_t")
        self.problem.setWordWrap(True)
        self.problem.hide()
        self.box.edited.connect(self.problem.hide)
        column.addWidget(self.problem)
        column.addLayout(self._make_buttons(theme, verb))
        self.box.setFocus()

    @staticmethod
    def _add_words(theme: Theme, column: QVBoxLayout, title: str, hint: str) -> None:
        for words in (Label(theme, title, "title"), Prose(theme, hint, "small", "text2", 15)):
            policy = words.sizePolicy()  # a new one would forget that the height follows from the width
            policy.setVerticalPolicy(QSizePolicy.Policy.Fixed)
            words.setSizePolicy(policy)
            column.addWidget(words)

    def _make_buttons(self, theme: Theme, verb: str) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(6)
        row.addStretch(1)
        cancel = Button(theme, tr("Cancel"))
        cancel.clicked.connect(self.reject)
        self.take = Button(theme, verb, "check", "primary")
        self.take.clicked.connect(self._on_take_clicked)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):  # Return alone is a new line of the text
            QShortcut(QKeySequence(keys), self).activated.connect(self._on_take_clicked)
        row.addWidget(cancel)
        row.addWidget(self.take)
        return row

    @property
    def value(self) -> Any:
        """What is typed."""
        text = self.box.value
        if not self._as_json:
            return text
        try:
            return json.loads(text)
        except ValueError:
            return text

    def _on_take_clicked(self) -> None:
        problem = self._wrong(self.value) if self._wrong is not None else ""
        if problem:
            self.problem.setText(problem)
            self.problem.show()
            return
        self._done(self.value, str(self.choice.value or ""))
        self.accept()


def not_an_object(value: Any) -> str:
    """Why a value of the dialog is no JSON object; empty if it is one."""
    if isinstance(value, dict):
        return ""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError as error:
            return tr("This is not JSON yet: {reason}.").format(reason=str(error))
    return tr("A JSON object is wanted: names in quotes, each with a value, between braces.")
