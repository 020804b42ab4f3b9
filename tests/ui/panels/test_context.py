"""The context panel: columns and warnings of a run, facts, comparing, muting, fixing, the export."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu
from pytestqt.qtbot import QtBot
from studio.agents.messages import AgentReply, AgentResponse, Message, assistant, user
from studio.bridge.run_views import RunUpdate
from studio.bridge.workspace import Workspace
from studio.debugger.context.inspection import Inspection
from studio.debugger.context.items import Item
from studio.document.commands import set_fields
from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.engine import events as ev
from studio.ui.context import ContextPanel
from studio.ui.context.call_dialog import CallDialog
from studio.ui.context.facts import FactTable
from studio.ui.context.rows import in_context, with_names
from studio.ui.theme import Theme
from tests.ui.panels.fake_run import FakeRun

QUESTION, DRAFT = (
    user("Two-page brief on grid storage"),
    assistant("Three topics: market, technology, policy.", "planner"),
)


def happened() -> list[ev.Event]:
    """The planner answers; a researcher with the same session gets the whole conversation."""
    reply = AgentReply((DRAFT,))
    response = AgentResponse("planner", reply, (QUESTION, DRAFT))
    seen: tuple[Message, ...] = (QUESTION, DRAFT, QUESTION, DRAFT)
    found = assistant("Prices fell by a fifth.", "market")
    return [
        ev.RunStarted(0, "input", QUESTION),
        ev.SuperstepStarted(0, 1),
        ev.NodeStarted(0, 1, "planner", "p", (), QUESTION),
        ev.ModelCallStarted(0, "planner", "p", "m1", (QUESTION,)),
        ev.ModelCallFinished(1, "planner", "p", "m1", reply=reply),
        ev.MessageQueued(1, 1, "msg", "planner", None, response, "p", "response"),
        ev.NodeFinished(1, 1, "planner", "p"),
        ev.SuperstepStarted(1, 2),
        ev.MessageRouted(1, 2, "msg", "e", "planner", "market", delivered=True),
        ev.NodeStarted(1, 2, "market", "m", ("planner",), response),
        ev.ModelCallStarted(1, "market", "m", "m1", seen),
        ev.ModelCallFinished(2, "market", "m", "m1", reply=AgentReply((found,))),
        ev.OutputYielded(2, 2, "market", "m", AgentReply((found,))),
        ev.NodeFinished(2, 2, "market", "m"),
        ev.StatusChanged(2, "IDLE"),
    ]


@pytest.fixture
def panel(show: Callable[[type[ContextPanel]], ContextPanel], run: FakeRun, qtbot: QtBot) -> ContextPanel:
    """The panel after that run."""
    for event in happened():
        run._views.fold(event)
    made = show(ContextPanel)
    run.updated.emit(RunUpdate(events=15))
    qtbot.waitUntil(lambda: made.model is not None and bool(made.model.findings))
    return made


def shown(panel: ContextPanel, part: int) -> list[tuple[str, str, list[str]]]:
    return [(g.title, g.note, [i.text for i in g.items]) for g in panel.parts[part].column.groups]


def test_the_newest_invocation_with_its_warning(panel: ContextPanel) -> None:
    assert panel.box.currentText() == "Market research · superstep 2"
    assert shown(panel, 0) == [
        ("History", "from the session", [QUESTION.text, DRAFT.text]),
        ("Conversation passed on", "from Planner", [QUESTION.text]),
        ("Explicit input", "from Planner", [DRAFT.text]),
    ]
    assert panel.warnings.isVisible()
    assert panel.warnings.text.plain.startswith("W1 Duplicate in context. Market research sees 2 messages twice")
    assert panel.warning_count == 1
    model = panel.parts[0].model
    history = model.item(0)
    assert [history.child(at).data(257) for at in range(2)] == [True, True]
    assert panel.shown.text == "Prices fell by a fifth."


def test_another_invocation_reveals_its_node(panel: ContextPanel, workspace: Workspace) -> None:
    index = panel.box.findText("Planner · superstep 1")
    panel.box.activated.emit(index)
    assert shown(panel, 1) == [("Sent on edges", "", [DRAFT.text])]
    assert shown(panel, 2) == [("Conversation", "as it was given", [QUESTION.text])]
    assert not panel.warnings.isVisible()
    assert workspace.selection.items == ("planner",)
    assert panel.elsewhere.text() == "1 warning elsewhere"
    panel.elsewhere.click()
    assert workspace.selection.items == ("market",)
    assert panel.warnings.isVisible()
    assert not panel.elsewhere.isVisible()


def test_the_node_that_is_selected_on_the_canvas_is_followed(panel: ContextPanel, workspace: Workspace) -> None:
    workspace.selection.select(("planner",))
    assert panel.box.currentText() == "Planner · superstep 1"
    workspace.selection.select(("planner", "market"))
    workspace.selection.select(("publisher",))
    assert panel.box.currentText() == "Planner · superstep 1", "of a node that did not run there is nothing to show"
    workspace.selection.select(("market",))
    assert panel.box.currentText() == "Market research · superstep 2"
    panel.set_workspace(None)
    workspace.selection.select(("planner",))
    panel.set_workspace(workspace)


def test_the_history_that_a_turn_wrote(panel: ContextPanel, run: FakeRun, qtbot: QtBot) -> None:
    run._views.fold(ev.HistoryWritten(2, "market", "m", "session", (QUESTION, DRAFT)))
    run.updated.emit(RunUpdate(events=1))
    qtbot.waitUntil(lambda: len(shown(panel, 2)) == 2)
    assert shown(panel, 2)[1] == ("History written", "to the session", [QUESTION.text, DRAFT.text])


def test_who_has_a_fact(panel: ContextPanel) -> None:
    panel.search.setText("three topics: MARKET, technology, policy.")
    model = panel.facts.model
    assert [model.item(0, at).text() for at in range(4)] == ["Market research", "2", "History", "Sub-agent"]
    assert model.rowCount() == 1
    panel.search.setText("xyz")
    assert panel.facts.empty.isVisible()
    panel.search.clear()
    assert panel.columns.isVisible()
    tree = panel.parts[0].tree
    draft = panel.parts[0].model.item(0).child(1).index()
    tree.customContextMenuRequested.emit(tree.visualRect(draft).center())
    (menu,) = panel.parts[0].findChildren(QMenu)
    next(action for action in menu.actions() if action.text() == "Who has this fact?").trigger()
    assert (panel.search.text(), panel.facts.isVisible()) == (DRAFT.text, True)
    menu.close()


def test_a_node_of_a_sub_workflow_has_its_path_and_its_own_point_of_view(theme: Theme, qtbot: QtBot) -> None:
    inner = Workflow(start="judge", nodes=(AgentNode(id="judge", name="Judge"),))
    workflow = Workflow(start="check", nodes=(SubWorkflowNode(id="check", name="Check claims", embedded=inner),))
    inspection = Inspection(workflow)
    inspection.fold(ev.SuperstepStarted(0, 1))
    inspection.fold(ev.NodeStarted(0, 1, "judge", "j", (), QUESTION, inside=("check",)))
    inspection.fold(ev.ModelCallStarted(0, "judge", "j", "m1", (QUESTION,), inside=("check",)))
    (holder,) = inspection.who_has(QUESTION.text)
    assert holder.point_of_view == "Sub-agent"
    table = FactTable(theme)
    qtbot.addWidget(table)
    table.show_holders(workflow, [holder])
    assert (table.model.item(0, 0).text(), table.model.item(0, 3).text()) == ("Check claims › Judge", "Sub-agent")

    # who said something inside has a name, too
    said = assistant("Sound.", "judge")
    inspection.fold(ev.NodeStarted(0, 1, "filer", "f", ("judge",), said, inside=("check",)))
    filer = inspection.run.records["f"]
    column = with_names(in_context(workflow, filer, 0), workflow, filer)
    assert [(g.note, [i.author for i in g.items]) for g in column.groups] == [("from Judge", ["Judge"])]


def test_only_some_origins_and_two_beside_each_other(panel: ContextPanel) -> None:
    def switch(words: str) -> None:
        panel.filter_button.click()
        menu = next(m for m in panel.findChildren(QMenu) if m.isVisible())
        next(a for a in menu.actions() if a.text() == words).trigger()
        menu.close()

    switch("History")
    assert [g[0] for g in shown(panel, 0)] == ["Conversation passed on", "Explicit input"]
    switch("Role user")
    assert [g[2] for g in shown(panel, 0)] == [["Three topics: market, technology, policy."]]
    assert panel.parts[0].column.subtitle.endswith("· 3 items left out")
    switch("All origins and roles")
    assert len(shown(panel, 0)) == 3
    panel.compare_with("p")
    assert panel.parts[1].column.title == "Planner · superstep 1"
    assert not panel.parts[2].isVisible()
    marked = panel.parts[0].model.item(0).child(0).data(257), panel.parts[0].model.item(0).child(1).data(257)
    assert marked == (True, False)
    panel.compare_with("")
    assert panel.parts[2].isVisible()


def test_muting_is_kept_for_the_workflow(panel: ContextPanel, qtbot: QtBot, workspace: Workspace) -> None:
    panel.warnings.mute.click()
    qtbot.waitUntil(lambda: not panel.warnings.isVisible())
    panel.set_workspace(None)
    panel.set_workspace(workspace)
    assert panel.model is not None
    assert panel.model.muted == {("W1", "market")}
    panel.model.unmute_all()
    qtbot.waitUntil(panel.warnings.isVisible)


def test_the_fix_is_one_step_of_the_document(panel: ContextPanel, workspace: Workspace) -> None:
    assert panel.warnings.fix.text() == "Use last reply only"
    assert panel.warnings.other_fix.text() == "New session per turn"
    edit = set_fields(workspace.document.workflow, "market", {"session": "shared"})
    workspace.document.execute(edit, "Share a session")
    panel.refresh()
    assert panel.warnings.other_fix.text() == "Own session"
    panel.warnings.other_fix.click()
    market = workspace.document.workflow.node("market")
    assert isinstance(market, AgentNode)
    assert (market.session, panel.warnings.other_fix.text()) == (None, "New session per turn")
    panel.warnings.fix.click()
    node = workspace.document.workflow.node("market")
    assert isinstance(node, AgentNode)
    assert node.context == "last_agent"
    assert (panel.warnings.fix.text(), panel.warnings.other_fix.isVisible()) == ("New session per turn", False)
    workspace.document.undo_stack.undo()
    assert workspace.document.workflow.node("market") == node.model_copy(update={"context": "full"})


def test_an_item_can_be_read_whole_and_all_exported(panel: ContextPanel, tmp_path: Path, qtbot: QtBot) -> None:
    tree = panel.parts[0].tree
    index = panel.parts[0].model.index(0, 0, panel.parts[0].model.index(0, 0))
    read: list[Any] = []
    panel.parts[0].read_requested.disconnect()
    panel.parts[0].read_requested.connect(read.append)
    tree.activated.emit(index)
    assert isinstance(read[0], Item)
    assert read[0].text == QUESTION.text
    panel.export(tmp_path / "context.json")
    told = json.loads((tmp_path / "context.json").read_text(encoding="utf-8"))
    assert [w["rule"] for w in told["warnings"]] == ["W1"]
    assert len(told["records"]) == 2


def test_a_long_run_is_taken_in_pieces(
    show: Callable[[type[ContextPanel]], ContextPanel], run: FakeRun, qtbot: QtBot
) -> None:
    made = show(ContextPanel)
    for _ in range(200):
        for event in happened():
            run._views.fold(event)
    run.updated.emit(RunUpdate(everything=True))
    assert made.model is not None
    model = made.model
    qtbot.waitUntil(lambda: model.inspection.run.turn == 200 and bool(model.findings))


def test_a_new_run_starts_afresh(panel: ContextPanel, run: FakeRun, qtbot: QtBot) -> None:
    run._views.__init__()  # type: ignore[misc]
    run._show(run._views)
    run.updated.emit(RunUpdate(everything=True))
    qtbot.waitUntil(lambda: panel._stack.currentIndex() == 0)
    assert panel.warning_count == 0


def test_a_call_is_shown_and_copied_without_a_key(panel: ContextPanel, qtbot: QtBot) -> None:
    panel.prompt_button.click()
    dialog = panel.findChild(CallDialog)
    assert dialog is not None
    assert json.loads(dialog.text.toPlainText())["messages"][0] == {"role": "user", "content": QUESTION.text}
    dialog.curl_button.click()
    assert QGuiApplication.clipboard().text().startswith("curl ")
    dialog.part.edited.emit("response")
    dialog.part.show_value("response")
    dialog.show_call()
    assert json.loads(dialog.text.toPlainText())["choices"][0]["message"]["content"] == "Prices fell by a fifth."
    dialog.part.show_value("raw_request")
    dialog.show_call()
    head, _, body = dialog.text.toPlainText().partition("\n\n")
    assert head.startswith("POST ")
    assert head.endswith("Authorization: Bearer [secret]")
    assert json.loads(body)["messages"][0] == {"role": "user", "content": QUESTION.text}
    dialog.part.show_value("raw_response")
    dialog.show_call()
    assert dialog.text.toPlainText() == "It was not kept: nothing came over the wire."
    dialog.accept()
