"""One model call exactly: what was sent, what came back, how long it took; copied as JSON, cURL or Python."""

from __future__ import annotations

import json
from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QDialog, QHBoxLayout, QSizePolicy, QTextEdit, QVBoxLayout, QWidget

from studio.debugger.exact_calls import KEY, ExactCall
from studio.ui.paint.numbers import count_text, seconds_text
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button, ComboBox
from studio.ui.widgets.labels import Label, Prose
from studio.ui.widgets.segments import SegmentedControl

_LONGEST = 200_000
"""Characters that are shown; what is copied is whole."""


class CallDialog(QDialog):
    """Opened with :meth:`open`; goes when it is closed."""

    def __init__(self, theme: Theme, title: str, calls: Sequence[ExactCall], at: int, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Model calls of {name}").format(name=title))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.resize(860, 620)
        self._theme, self._calls = theme, calls
        column = QVBoxLayout(self)
        column.setContentsMargins(16, 14, 16, 14)
        column.setSpacing(8)
        self.box = ComboBox(theme, small=True)
        self.box.setAccessibleName(tr("Model call"))
        for number in range(1, len(calls) + 1):
            self.box.addItem(tr("model call {at} of {all}").format(at=number, all=len(calls)))
        self.box.setCurrentIndex(at)
        self.box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.part = SegmentedControl(theme, _parts())
        self.part.setAccessibleName(tr("What is shown"))
        self.part.show_value("request")
        row = QHBoxLayout()
        row.addWidget(self.box)
        row.addWidget(self.part)
        row.addStretch(1)
        column.addLayout(row)
        self.facts = Label(theme, "", "body", "muted")
        self.facts.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        column.addWidget(self.facts)
        self.trouble = Prose(theme, "", "body", "fail_t", 17)
        column.addWidget(self.trouble)
        self.text = QTextEdit()
        self.text.setAcceptRichText(False)
        self.text.setReadOnly(True)
        self.text.setProperty("code", "true")
        column.addWidget(self.text, 1)
        column.addLayout(self._make_buttons())
        self.box.currentIndexChanged.connect(lambda _at: self.show_call())
        self.part.edited.connect(lambda _value: self.show_call())
        self.show_call()

    @property
    def call(self) -> ExactCall:
        """The one that is shown."""
        return self._calls[max(0, self.box.currentIndex())]

    def _make_buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        self.copy_button = Button(self._theme, tr("Copy"), "copy", small=True)
        self.curl_button = Button(self._theme, tr("Copy as cURL"), small=True)
        self.python_button = Button(self._theme, tr("Copy as Python"), small=True)
        hint = tr("Without the key: it is read from the variable {name}.").format(name=KEY)
        self.curl_button.setToolTip(hint)
        self.python_button.setToolTip(hint)
        self.copy_button.clicked.connect(lambda: _copy(self._shown()))
        self.curl_button.clicked.connect(lambda: _copy(self.call.as_curl()))
        self.python_button.clicked.connect(lambda: _copy(self.call.as_python()))
        close = Button(self._theme, tr("Close"))
        close.clicked.connect(self.accept)
        for button in (self.copy_button, self.curl_button, self.python_button):
            row.addWidget(button)
        row.addStretch(1)
        row.addWidget(close)
        return row

    def show_call(self) -> None:
        """Shows the chosen call."""
        text = self._shown()
        self.text.setPlainText(text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n…")
        self.text.setAccessibleName(tr("Response") if "response" in str(self.part.value) else tr("Request"))
        self.facts.setText(" · ".join(_facts(self.call)))
        trouble = [tr("Try {number}: {reason}").format(number=r.attempt, reason=r.reason) for r in self.call.retries]
        if self.call.finished is not None and self.call.finished.error:
            trouble.append(self.call.finished.error)
        self.trouble.set_text("\n".join(trouble))
        self.trouble.setVisible(bool(trouble))

    def _shown(self) -> str:
        if self.part.value == "request":
            return json.dumps(self.call.request(), ensure_ascii=False, indent=2)
        if self.part.value == "raw_request":
            return self.call.raw_request()
        done = self.call.finished
        if self.part.value == "raw_response":
            missing = tr("No answer yet.") if done is None else tr("It was not kept: nothing came over the wire.")
            return done.raw if done is not None and done.raw else missing
        if done is not None and done.raw and done.error:
            return done.raw
        answer = self.call.response()
        if answer is None:
            return tr("No answer yet.") if done is None else tr("The call gave no answer.")
        return json.dumps(answer, ensure_ascii=False, indent=2)


def _parts() -> list[tuple[str, str]]:
    return [
        ("request", tr("Request")),
        ("response", tr("Response")),
        ("raw_request", tr("Raw request")),
        ("raw_response", tr("Raw response")),
    ]


def _facts(call: ExactCall) -> list[str]:
    found = [call.url or tr("address not known"), call.started.model]
    if call.seconds is not None:
        found.append(seconds_text(call.seconds))
    usage = call.finished.usage if call.finished is not None else None
    if usage is not None:
        counts = tr("{input} in, {output} out")
        found.append(counts.format(input=count_text(usage.input or 0), output=count_text(usage.output or 0)))
    if call.finished is not None and call.finished.finish_reason:
        found.append(call.finished.finish_reason)
    return [part for part in found if part]


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
