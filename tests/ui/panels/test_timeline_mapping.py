"""The page of a checkpoint of an older drawing, and the sheet that maps its nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QApplication
from studio.bridge.workspace import Workspace
from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage
from studio.debugger.comparison import Comparison
from studio.debugger.drift import compare
from studio.document.edits import ReplaceAll
from studio.document.model import Workflow
from studio.ui.dialogs.mapping_sheet import MappingSheet, open_mapping_sheet
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.checkpoint_page import CheckpointPage
from studio.ui.inspector.small_parts import Check
from studio.ui.widgets.labels import Chip, Prose
from tests.ui.panels.brief import brief
from tests.ui.panels.fake_run import FakeRun, paused

Show = Callable[..., Any]
CHECKPOINT = Checkpoint(
    "m3",
    "m2",
    "main",
    superstep=3,
    messages=(QueuedMessage("q1", "old_tech", None, "Iron-air"), QueuedMessage("q2", "market", None, "118")),
    requests=(PendingRequest("r", "gone", "Good?", "str"),),
    executors={"gone": {"n": 1}},
)


def _set(run: FakeRun, old: Workflow, new: Workflow, *, same_graph: bool) -> Comparison:
    drift = compare(old, new, same_graph=same_graph)
    found = run.comparisons["m3"] = Comparison(CHECKPOINT, old, drift)
    run.checkpoints[4].problem = "" if same_graph else "The graph has changed since."
    return found


def _with(workflow: Workflow, node: str, **fields: Any) -> Workflow:
    nodes = tuple(n.model_copy(update=fields) if n.id == node else n for n in workflow.nodes)
    return workflow.model_copy(update={"nodes": nodes})


def _page(panel: InspectorPanel, workspace: Workspace) -> CheckpointPage:
    workspace.selection.look_at_checkpoint("m3")
    assert isinstance(panel.page, CheckpointPage)
    return panel.page


def _sentences(page: CheckpointPage) -> list[str]:
    QApplication.processEvents()  # what is new in a layout becomes visible then
    return [c.findChild(Prose).plain for c in page.findChildren(Check) if c.isVisibleTo(page)]


def test_the_same_drawing(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    _set(run, brief(), brief(), same_graph=True)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    assert "Same nodes and edges as the open workflow." in _sentences(page)
    assert not page.map_button.isVisible()
    assert not page.old_button.isVisible()


def test_a_changed_prompt_is_named_and_restoring_still_possible(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    run.here = "m2"
    _set(run, _with(brief(), "tech", instructions="Other."), brief(), same_graph=True)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    assert "1 prompt differs: Tech research." in _sentences(page)
    assert page.restore_button.isEnabled()
    assert page.map_button.text() == "What differs…"
    offered: list[tuple[Workflow, str]] = []
    workspace.drawing_offered.connect(lambda drawing, checkpoint: offered.append((drawing, checkpoint)))
    page.old_button.click()
    assert offered == [(run.comparisons["m3"].old, "m3")]


def test_the_page_follows_the_comparison(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    assert not page.map_button.isVisible()
    _set(run, _with(brief(), "tech", instructions="Other."), brief(), same_graph=True)
    run.tell(checkpoints=True)
    assert "1 prompt differs: Tech research." in _sentences(page)
    assert page.map_button.isVisible()


@pytest.fixture
def sheet(show: Show, run: FakeRun, workspace: Workspace) -> Iterator[MappingSheet]:
    """Of a drawing in which Tech research had another id, and a node is gone."""
    paused(run)
    text = brief().model_dump_json().replace('"tech"', '"old_tech"')
    old = Workflow.model_validate_json(text)
    gone = brief().node("planner")
    assert gone is not None
    extra = gone.model_copy(update={"id": "gone", "name": "Gone", "instructions": "?" * 600})
    _set(run, old.model_copy(update={"nodes": (*old.nodes, extra)}), brief(), same_graph=False)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    assert not page.fork_button.isEnabled()
    assert page.map_button.text() == "Map nodes…"
    page.map_nodes()
    found = page.findChild(MappingSheet)
    assert isinstance(found, MappingSheet)
    yield found
    panel.close()


def test_the_sheet_proposes_and_names_what_is_lost(sheet: MappingSheet, run: FakeRun) -> None:
    chips = [c.text for c in sheet.findChildren(Chip)]
    assert chips[:2] == ["removed", "renamed"]
    assert sheet.mapping.nodes["old_tech"] == "tech"
    assert sheet.mapping.nodes["gone"] is None
    texts = " ".join(p.plain for p in sheet.findChildren(Prose))
    assert "1 open request is lost." in texts
    assert "What Gone remembered is lost." in texts
    assert sheet._messages == {}
    assert sheet.fork_button.isEnabled()
    assert sheet.go_on_button.isHidden()
    sheet.fork_button.click()
    [(name, checkpoint, mapping)] = run.calls
    assert (name, checkpoint) == ("fork_mapped", "m3")
    assert mapping.nodes["old_tech"] == "tech"


def test_a_message_without_a_node_must_be_dropped_or_sent_elsewhere(sheet: MappingSheet) -> None:
    sheet._nodes["old_tech"].setCurrentIndex(0)
    assert sheet.mapping.nodes["old_tech"] is None
    assert list(sheet._messages) == ["q1"]
    assert not sheet.fork_button.isEnabled()
    assert sheet.fork_button.toolTip() == "Choose what happens with each message."
    box = sheet._messages["q1"]
    box.setCurrentIndex(box.findData("writer"))
    assert sheet.fork_button.isEnabled()
    assert sheet.mapping.rerouted == {"q1": "writer"}
    box.setCurrentIndex(1)
    assert (sheet.mapping.rerouted, sheet.mapping.dropped) == ({}, frozenset({"q1"}))
    sheet._nodes["old_tech"].setCurrentIndex(sheet._nodes["old_tech"].findData("tech"))
    assert sheet.mapping.dropped == frozenset(), "the message has its node again"


def test_a_message_whose_receivers_are_gone_goes_only_to_nodes_that_take_part_in_a_run(
    show: Show, run: FakeRun, workspace: Workspace
) -> None:
    paused(run)
    start = brief().node("planner")
    assert start is not None
    island = start.model_copy(update={"id": "island", "name": "Island"})
    edges = tuple(e for e in brief().edges if e.kind != "fan_in")
    now = brief().model_copy(update={"nodes": (*brief().nodes, island), "edges": edges})
    workspace.document.execute(ReplaceAll(now), "No join")
    _set(run, brief(), now, same_graph=False)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    sheet = open_mapping_sheet(page.theme, workspace, "m3", page)
    assert sheet is not None
    assert list(sheet._messages) == ["q2"]
    box = sheet._messages["q2"]
    assert not sheet.fork_button.isEnabled()
    assert box.findData("planner") > 0
    assert box.findData("island") == -1
    panel.close()


def test_two_nodes_cannot_become_the_same(sheet: MappingSheet) -> None:
    box = sheet._nodes["gone"]
    box.setCurrentIndex(box.findData("tech"))
    assert not sheet.fork_button.isEnabled()
    assert sheet.fork_button.toolTip() == "Two nodes cannot become the same one."


def test_a_graph_that_fits_continues_with_the_new_drawing(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    _set(run, _with(brief(), "tech", instructions="Other."), brief(), same_graph=True)
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    sheet = open_mapping_sheet(page.theme, workspace, "m3", page)
    assert sheet is not None
    assert sheet.fork_button.isHidden()
    sheet.go_on_button.click()
    assert run.calls == [("fork", "m3", None)]


def test_news_of_a_checkpoint_take_no_button_away_under_a_click(show: Show, run: FakeRun, workspace: Workspace) -> None:
    paused(run)
    run.here = "m2"
    panel = show(InspectorPanel, 420, 800)
    page = _page(panel, workspace)
    before = page.restore_button, page.old_button
    _set(run, _with(brief(), "tech", instructions="Other."), brief(), same_graph=True)
    run.tell(checkpoints=True)
    assert "1 prompt differs: Tech research." in _sentences(page)
    assert (page.restore_button, page.old_button) == before
    assert page.old_button.isVisible()
    assert len([c for c in page.findChildren(Check) if c.isVisibleTo(page)]) == 2, "what was said before is gone"
