"""Messages and questions. They are opened, never executed: the loop goes on and the answer comes by a call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton, QWidget

from studio.ui.text import tr


@dataclass(frozen=True, slots=True)
class Choice:
    """A button: a verb, what it does, and whether it is the safe one that Enter presses or the one that Esc presses."""

    text: str
    run: Callable[[], None]
    default: bool = False
    cancels: bool = False


def show_problem(parent: QWidget, title: str, detail: str, choices: Sequence[Choice] = ()) -> QMessageBox:
    """One clear message with the way out; without choices it has only *Close*."""
    offered = tuple(choices) or (Choice(tr("Close"), _nothing, default=True, cancels=True),)
    return _open(parent, QMessageBox.Icon.Warning, title, detail, offered)


def ask(parent: QWidget, title: str, detail: str, choices: Sequence[Choice]) -> QMessageBox:
    """A question."""
    return _open(parent, QMessageBox.Icon.Question, title, detail, choices)


def inform(parent: QWidget, title: str, detail: str) -> QMessageBox:
    """Something to read."""
    close = (Choice(tr("Close"), _nothing, default=True, cancels=True),)
    return _open(parent, QMessageBox.Icon.NoIcon, title, detail, close)


def _open(parent: QWidget, icon: QMessageBox.Icon, title: str, detail: str, choices: Sequence[Choice]) -> QMessageBox:
    box = QMessageBox(parent)
    box.setObjectName("message")
    box.setIcon(icon)
    box.setWindowTitle(tr("Superstep Studio"))
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setText(title)
    box.setInformativeText(detail)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    box.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    actions: dict[QPushButton, Callable[[], None]] = {}
    for choice in choices:
        role = QMessageBox.ButtonRole.RejectRole if choice.cancels else QMessageBox.ButtonRole.AcceptRole
        button = box.addButton(choice.text, role)
        actions[button] = choice.run
        if choice.default:
            box.setDefaultButton(button)
        if choice.cancels:
            box.setEscapeButton(button)

    def answered() -> None:
        clicked = box.clickedButton()
        run = next((r for b, r in actions.items() if b is clicked), None)
        if run is not None:
            run()

    box.finished.connect(answered)
    box.open()
    return box


def _nothing() -> None:
    return
