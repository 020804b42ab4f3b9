"""Messages and questions. They are opened, never executed: the loop goes on and the answer comes by a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from studio.files import FileProblem
from studio.ui.text import tr
from studio.ui.theme import Theme


@dataclass(frozen=True, slots=True)
class Choice:
    """A button: a verb, what it does, and whether it is the safe one that Enter presses or the one that Esc presses."""

    text: str
    run: Callable[[], None]
    default: bool = False
    cancels: bool = False


def show_problem(theme: Theme, parent: QWidget, title: str, detail: str, choices: Sequence[Choice] = ()) -> QMessageBox:
    """One clear message with the way out; without choices it has only *Close*."""
    return _open(theme, parent, ("triangle-alert", "wait_t"), title, detail, choices)


def ask(theme: Theme, parent: QWidget, title: str, detail: str, choices: Sequence[Choice]) -> QMessageBox:
    """A question."""
    return _open(theme, parent, ("circle-question-mark", "run_t"), title, detail, choices)


def inform(theme: Theme, parent: QWidget, title: str, detail: str) -> QMessageBox:
    """Something to read."""
    return _open(theme, parent, ("own:logo", "text"), title, detail, ())


class _Message(QMessageBox):
    """Calls the choice whose button was pressed, after it has closed."""

    def __init__(self, parent: QWidget, title: str, detail: str, choices: Sequence[Choice]) -> None:
        super().__init__(parent)
        self.setObjectName("message")
        self.setWindowTitle(tr("Superstep Studio"))
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(title)
        self.setInformativeText(detail)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._runs: list[tuple[QPushButton, Callable[[], None]]] = []
        for choice in choices:
            self._offer(choice)
        self.finished.connect(self._on_finished)

    def _offer(self, choice: Choice) -> None:
        role = QMessageBox.ButtonRole.RejectRole if choice.cancels else QMessageBox.ButtonRole.AcceptRole
        button = self.addButton(choice.text, role)
        button.setIcon(QIcon())
        button.ensurePolished()
        button.setMinimumWidth(button.sizeHint().width())  # a box of this kind is as wide as its text asks, no more
        self._runs.append((button, choice.run))
        if choice.default:
            self.setDefaultButton(button)
        if choice.cancels:
            self.setEscapeButton(button)

    def _on_finished(self, _result: int) -> None:
        clicked = self.clickedButton()
        runs = [run for button, run in self._runs if button is clicked]
        self._runs.clear()
        for run in runs:
            run()


def _open(
    theme: Theme, parent: QWidget, icon: tuple[str, str], title: str, detail: str, choices: Sequence[Choice]
) -> QMessageBox:
    offered = tuple(choices) or (Choice(tr("Close"), _nothing, default=True, cancels=True),)
    box = _Message(parent, title, detail, offered)
    box.setIconPixmap(theme.pixmap(icon[0], 24, icon[1], parent.devicePixelRatioF()))
    box.open()
    return box


def _nothing() -> None:
    return


def problem_text(problem: FileProblem | OSError) -> str:
    """What is wrong, where, and the way out."""
    if isinstance(problem, OSError):
        reason = problem.strerror or str(problem)
        return reason if reason.endswith(".") else f"{reason}."
    where = f"{problem.message.removesuffix('.')} ({problem.place})." if problem.place else problem.message
    return "\n\n".join(text for text in (where, problem.way_out) if text)
