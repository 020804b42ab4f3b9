"""The outline follows the workspace that is shown."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document.model import Workflow
from studio.ui.outline import OutlinePanel
from studio.ui.theme import Theme
from tests.ui.panels.fake_run import FakeRun


def test_an_empty_document_shows_no_rows_of_the_one_before(qtbot: QtBot, theme: Theme, workspace: Workspace) -> None:
    panel = OutlinePanel(theme)
    qtbot.addWidget(panel)
    panel.set_workspace(workspace)
    assert panel.index_of("planner").isValid()
    panel.set_workspace(Workspace(DocumentModel(Workflow(id="w", name="Empty")), FakeRun()))
    assert panel.model.rowCount() == 0
    assert not panel.index_of("planner").isValid()
    panel.set_workspace(workspace)
    assert panel.index_of("planner").isValid()
    panel.set_workspace(None)
    assert panel.model.rowCount() == 0
