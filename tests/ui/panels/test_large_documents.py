"""The inspector of a large drawing: the canvas goes first, and everything selected at once stays cheap."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from pytestqt.qtbot import QtBot
from studio.bridge.document_model import DocumentModel
from studio.bridge.workspace import Workspace
from studio.document.edits import Remove
from studio.document.model import AgentNode, Place, Workflow
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.builder import ChoiceBox
from studio.ui.inspector.choose import page_for
from studio.ui.inspector.page import MOST, InspectorPage
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from studio.ui.widgets.section import Section
from tests.ui.panels.fake_run import FakeRun

COUNT = 600
Make = Callable[[int], tuple[InspectorPanel, Workspace]]


@pytest.fixture
def make(qtbot: QtBot, theme: Theme) -> Make:
    kept: list[Workspace] = []

    def made(count: int) -> tuple[InspectorPanel, Workspace]:
        nodes = tuple(AgentNode(id=f"n{i}", name=f"Agent {i}", tools=("gone",)) for i in range(count))
        places = {node.id: Place(x=0, y=i) for i, node in enumerate(nodes)}
        workspace = Workspace(DocumentModel(Workflow(id="w", start="n0", nodes=nodes, places=places)), FakeRun())
        kept.append(workspace)
        panel = InspectorPanel(theme)
        qtbot.addWidget(panel)
        panel.set_workspace(workspace)
        panel.resize(320, 600)
        panel.show()
        qtbot.waitUntil(lambda: bool(workspace.problems.problems))
        return panel, workspace

    return made


def title(panel: InspectorPanel) -> str:
    assert panel.page is not None
    return panel.page.header.title.text


def _words(page: InspectorPage | None) -> list[str]:
    """The sections and fields of a page, in their order."""
    assert page is not None
    assert page.form is not None
    page.refresh()
    titles = [section._header.text() for section in page.body.findChildren(Section)]
    return [*titles, *sorted(page.form.names), str(page.form.summary("host", "context"))]


def test_the_page_follows_after_the_canvas(make: Make, qtbot: QtBot) -> None:
    panel, workspace = make(COUNT)
    before = panel.page
    workspace.selection.select(("n5",))
    assert panel.page is before, "the click is over before the page is made"
    qtbot.waitUntil(lambda: panel.page is not before)
    assert title(panel) == "Agent 5"
    assert _words(panel.page) == _words(page_for(panel.theme, workspace, ("node", "n5", "agent")))
    workspace.selection.select(("n6",))
    workspace.selection.field_requested.emit("n6", "name")
    assert title(panel) == "Agent 6", "what is asked for at once is there at once"


def test_a_node_that_goes_meanwhile_leaves_no_error(make: Make, qtbot: QtBot) -> None:
    panel, workspace = make(COUNT)
    workspace.selection.select(("n5",))
    qtbot.waitUntil(lambda: panel.page is not None and title(panel) == "Agent 5")
    workspace.document.execute(Remove("nodes", "n5"), "Delete")
    workspace.problems.changed.emit()
    workspace.run.state_changed.emit()
    qtbot.waitUntil(lambda: title(panel) != "Agent 5")
    workspace.selection.select(("n7",))
    panel._on_later_timeout()
    for _ in range(3):
        panel._making._step()
    assert panel._making.busy
    workspace.document.execute(Remove("nodes", "n7"), "Delete")
    qtbot.waitUntil(lambda: not panel.waiting)
    assert title(panel) != "Agent 7", "the page that was being made is forgotten"


def test_a_small_drawing_is_followed_at_once(make: Make) -> None:
    panel, workspace = make(3)
    workspace.selection.select(("n2",))
    assert title(panel) == "Agent 2"


def test_of_many_problems_some_are_shown_and_the_rest_counted(make: Make) -> None:
    panel, workspace = make(40)
    workspace.selection.select(f"n{i}" for i in range(40))
    assert panel.page is not None
    strip = panel.page.problems
    texts = [prose.plain for prose in strip.findChildren(Prose)]
    total = len(strip._shown)
    assert total > MOST
    assert texts[-1] == f"And {total - MOST} more: they are all in the panel Problems."
    assert len(texts) == MOST + 1


def test_thousands_of_choices_can_be_chosen_from(make: Make) -> None:
    panel, workspace = make(2000)
    box = next(b for b in panel.findChildren(ChoiceBox) if b.count() == 2000)
    assert (box.currentText(), box.currentData()) == ("Agent 0", "n0")
    box.activated.emit(box.findText("Agent 1999"))
    assert workspace.document.workflow.start == "n1999"
