"""The bar above the code: whether it is proven, and the way to prove it."""

from __future__ import annotations

import time

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from studio.bridge.proof_model import ProofModel, State
from studio.ui.text import tr
from studio.ui.theme import Theme
from studio.ui.widgets.buttons import Button
from studio.ui.widgets.labels import Elided, Label

_LOOK: dict[State, tuple[str, str, str]] = {
    "none": ("circle", "muted", "sunken"),
    "running": ("loader", "run_t", "run_s"),
    "proven": ("circle-check", "done_t", "done_s"),
    "failed": ("circle-x", "fail_t", "fail_s"),
    "stale": ("circle-alert", "wait_t", "wait_s"),
}
"""State -> icon, colour of the words, colour of the bar."""


class ProofBar(QWidget):
    """``started`` asks for a proof; while one runs the button cancels it."""

    started = Signal()
    cancelled = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._state: State = "none"
        self.setObjectName("export_proof")
        self.title = Label(theme, "", "title")
        self.text = Elided(theme, "", "body", "text2")
        self.when = Label(theme, "", "small", "muted")
        self.button = Button(theme, tr("Check"), "play", kind="framed", small=True)
        self.button.clicked.connect(self._on_button_clicked)
        row = QHBoxLayout(self)
        row.setContentsMargins(38, 8, 10, 8)
        row.setSpacing(10)
        row.addWidget(self.title)
        row.addWidget(self.text, 1)
        row.addWidget(self.when)
        row.addWidget(self.button)
        theme.changed.connect(self.update)

    def show_proof(self, model: ProofModel) -> None:
        """Says how it stands."""
        before, self._state = self._state, model.state
        title, text = self._words(model)
        self.title.setText(title)
        self.title.set_tone(_LOOK[self._state][1] if self._state != "none" else "text")
        self.text.set_text(text)
        ended = model.proof is not None and self._state in ("proven", "failed")
        if ended and before == "running" and model.proof is not None:
            self.when.setText(f"{time.strftime('%H:%M')} · {model.proof.seconds:.1f} s")
        self.when.setVisible(ended)
        again = tr("Check again") if model.proof is not None else tr("Check")
        self.button.setText(tr("Cancel") if self._state == "running" else again)
        self.button.set_icon_name("x" if self._state == "running" else "refresh-cw" if model.proof else "play")
        self.button.setAccessibleName(self.button.text())
        self.button.updateGeometry()
        self.update()

    def refuse(self, reason: str) -> None:
        """Says why no check was started."""
        self.title.setText(tr("Not checked"))
        self.title.set_tone("wait_t")
        self.text.set_text(reason)

    def _words(self, model: ProofModel) -> tuple[str, str]:
        failed = model.proof.failed if model.proof is not None else None
        match self._state:
            case "running":
                return tr("Checking"), tr("The code is built and run in a process of its own.")
            case "proven":
                number = model.proof.events if model.proof is not None else 0
                words = tr("{number} of {number} events equal to the canvas, with the same replies.")
                if model.replies_of:
                    words = tr("{number} of {number} events equal to the canvas, with the replies of {run}.")
                text = words.format(number=number, run=model.replies_of)
                return tr("Verified: builds, runs, same result"), text
            case "stale":
                return tr("Changed since the check"), tr("The check was about other code.")
            case "failed":
                if model.problem:
                    return tr("The check did not come to an end"), model.problem
                if failed is not None:
                    return tr("Not the same as the canvas"), failed.detail
                missing = next((s.detail for s in model.steps.values() if s.state == "not_run" and s.detail), "")
                return tr("Not checked"), missing
        return tr("Not checked yet"), tr("The check builds the code, runs it and compares it with the canvas.")

    def paintEvent(self, _event: QPaintEvent) -> None:
        icon, tone, ground = _LOOK[self._state]
        painter = QPainter(self)
        painter.fillRect(self.rect(), self._theme.color(ground))
        painter.fillRect(0, self.height() - 1, self.width(), 1, self._theme.color("line"))
        pixmap = self._theme.pixmap(icon, 16, tone, self.devicePixelRatioF())
        painter.drawPixmap(QPoint(12, (self.height() - 16) // 2), pixmap)

    def _on_button_clicked(self) -> None:
        (self.cancelled if self._state == "running" else self.started).emit()
