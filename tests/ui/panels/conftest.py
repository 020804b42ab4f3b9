"""A workspace with a run that stands still, and panels that are shown and cleaned up."""

from __future__ import annotations

from collections.abc import Callable
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
def workspace(run: FakeRun) -> Workspace:
    """The research brief."""
    return Workspace(DocumentModel(brief()), run)


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
