"""A shown canvas, 1000 × 700, without motion, on a document with a fake run."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.ui.canvas import CanvasView
from studio.ui.theme import Theme
from tests.ui.canvas.fake_run import FakeRun

Make = Callable[[Workflow], CanvasView]


@pytest.fixture
def make_workspace(qapp: object) -> Iterator[Callable[[Workflow], Workspace]]:
    made: list[Workspace] = []

    def make(workflow: Workflow) -> Workspace:
        workspace = Workspace(DocumentModel(workflow), FakeRun())
        made.append(workspace)
        return workspace

    yield make
    for workspace in made:
        workspace.deleteLater()


@pytest.fixture
def make_canvas(qtbot: QtBot, theme: Theme, make_workspace: Callable[[Workflow], Workspace]) -> Iterator[Make]:
    """Makes canvases; zoom is 100 % and the origin of the scene is at (100, 100)."""
    made: list[CanvasView] = []  # the collector must not find one while its scene works

    def make(workflow: Workflow) -> CanvasView:
        view = CanvasView(theme)
        made.append(view)
        qtbot.addWidget(view)
        view.motion = False
        view.resize(1000, 700)
        view.show()
        view.set_workspace(make_workspace(workflow))
        view.set_zoom(1.0)
        place(view)
        view.setFocus()
        return view

    yield make
    for view in made:
        view.set_workspace(None)


def place(view: CanvasView) -> None:
    """Puts the origin of the scene at (100, 100) of the viewport."""
    from PySide6.QtCore import QPointF

    view._put(QPointF(0, 0), QPointF(100, 100))
