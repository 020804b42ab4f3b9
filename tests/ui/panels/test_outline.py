"""The outline follows the workspace that is shown."""

from __future__ import annotations

from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document import commands
from studio.document.model import Workflow
from studio.ui.outline import OutlinePanel
from studio.ui.outline.delegate import ROW_ROLE
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


def test_the_next_row_takes_the_place_of_a_deleted_one(qtbot: QtBot, theme: Theme, workspace: Workspace) -> None:
    panel = OutlinePanel(theme)
    qtbot.addWidget(panel)
    panel.set_workspace(workspace)
    panel.show()
    panel.activateWindow()
    panel.tree.setFocus()
    qtbot.waitUntil(panel.tree.hasFocus)
    for at, step in ((1, panel.tree.indexBelow), (-1, panel.tree.indexAbove)):
        index = panel.model.index(at % panel.model.rowCount(), 0)
        panel.tree.setCurrentIndex(index)
        item, beside = index.data(ROW_ROLE).id, step(index).data(ROW_ROLE).id
        workspace.document.execute(commands.delete_items(workspace.document.workflow, (item,)), "Delete")
        panel.refresh()
        assert not panel.index_of(item).isValid()
        assert panel.tree.currentIndex().data(ROW_ROLE).id == beside
