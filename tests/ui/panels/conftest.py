"""A workspace with a run that stands still, and panels that are shown and cleaned up."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.ui.theme import Theme
from studio.ui.widgets.panel import Panel
from tests.ui.panels.brief import brief
from tests.ui.panels.fake_run import FakeRun

P = TypeVar("P", bound=Panel)
Show = Callable[[type[P]], P]


@pytest.fixture
def run(qapp: QApplication) -> FakeRun:
    """The run of the workspace."""
    return FakeRun()


@pytest.fixture
def workspace(run: FakeRun) -> Iterator[Workspace]:
    """The research brief. Deleted as the program does it: a garbage collector that finds an undo stack together with
    its commands deletes the commands first, and the stack then once more."""
    made = Workspace(DocumentModel(brief()), run)
    yield made
    made.deleteLater()


@pytest.fixture
def show(qtbot: QtBot, theme: Theme, workspace: Workspace) -> Callable[[type[P]], P]:
    """Makes a panel, shows it with the workspace."""

    def make(kind: type[P], width: int = 900, height: int = 500) -> P:
        panel = kind(theme)
        qtbot.addWidget(panel)
        panel.resize(width, height)
        panel.set_workspace(workspace)
        panel.show()
        qtbot.waitExposed(panel)
        return panel

    return make
