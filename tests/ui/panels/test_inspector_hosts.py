"""The inspector of agents behind either host, of what is set around them, and of conversation runners."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractButton, QTextEdit
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.commands import new_node
from studio.document.edits import SetFields
from studio.document.model import AgentNode, RunnerNode
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.folds import Fold
from studio.ui.inspector.form import Form
from studio.ui.inspector.node_parts import PartCards
from studio.ui.widgets.code import CodeEditor
from studio.ui.widgets.field import CheckField, Field
from studio.ui.widgets.segments import SegmentedControl
from studio.ui.widgets.text_fields import LineField

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def form(panel: InspectorPanel) -> Form:
    assert panel.page is not None
    assert panel.page.form is not None
    return panel.page.form


def agent(workspace: Workspace, id: str = "writer") -> AgentNode:
    node = workspace.document.workflow.node(id)
    assert isinstance(node, AgentNode)
    return node


def fold(panel: InspectorPanel, title: str) -> Fold:
    return next(f for f in panel.findChildren(Fold) if f._header.text() == title)


def segments(holder: Form, name: str) -> SegmentedControl:
    field = holder.field(name)
    assert isinstance(field, Field)
    assert isinstance(field.editor, SegmentedControl)
    return field.editor


def line(holder: Form, name: str) -> LineField:
    field = holder.field(name)
    assert isinstance(field, Field)
    assert isinstance(field.editor, LineField)
    return field.editor


def opened(show: Show, workspace: Workspace, title: str, node: str = "writer") -> tuple[InspectorPanel, Fold]:
    panel = show(InspectorPanel)
    workspace.selection.select((node,))
    found = fold(panel, title)
    found.set_open(True)
    return panel, found


def press(panel: InspectorPanel, text: str) -> None:
    next(b for b in panel.findChildren(QAbstractButton) if b.text() == text and not b.isHidden()).click()


# -------------------------------------------------------------------------------------------------------- host


def test_switching_the_host_shows_the_options_of_that_host(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    host = segments(form(panel), "host")
    assert not form(panel).field("context").isHidden()
    assert form(panel).field("turn_token.forward_incoming_messages").isHidden()
    qtbot.keyClick(host, Qt.Key.Key_Right)
    assert agent(workspace).host == "turn_token"
    assert form(panel).field("context").isHidden()
    assert not form(panel).field("turn_token.forward_incoming_messages").isHidden()
    workspace.document.undo_stack.undo()
    assert agent(workspace).host == "python"
    assert host.value == "python"


def test_an_option_of_the_host_is_marked_and_reset(show: Show, workspace: Workspace) -> None:
    workspace.document.execute(SetFields("nodes", "writer", {"host": "turn_token"}), "Host")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    field = form(panel).field("turn_token.forward_incoming_messages")
    assert isinstance(field, CheckField)
    field.box.click()
    assert agent(workspace).turn_token.forward_incoming_messages is False
    assert field._mark.isVisible()
    field.reset.emit()
    assert agent(workspace).turn_token.forward_incoming_messages is True
    assert not field._mark.isVisible()


@pytest.mark.parametrize(("word", "value"), [("on", True), ("off", False), ("open", None)])
def test_updates_are_on_off_or_left_to_the_token(
    show: Show, workspace: Workspace, word: str, value: bool | None
) -> None:
    before = agent(workspace).turn_token.model_copy(update={"emit_agent_update_events": value is None})
    workspace.document.execute(SetFields("nodes", "writer", {"host": "turn_token", "turn_token": before}), "Host")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    segments(form(panel), "turn_token.emit_agent_update_events").edited.emit(word)
    assert agent(workspace).turn_token.emit_agent_update_events is value


def test_the_token_of_the_first_turn_is_asked_at_the_start_only(show: Show, workspace: Workspace) -> None:
    for node in ("planner", "writer"):
        workspace.document.execute(SetFields("nodes", node, {"host": "turn_token"}), "Host")
    panel = show(InspectorPanel)
    for node in ("planner", "writer"):
        workspace.selection.select((node,))
        is_start = workspace.document.workflow.start == node
        assert form(panel).field("turn_token.first_token").isHidden() is not is_start


def test_a_problem_of_an_option_stands_at_its_field(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    changed = agent(workspace).turn_token.model_copy(update={"intercept_user_input_requests": True})
    workspace.document.execute(SetFields("nodes", "writer", {"host": "turn_token", "turn_token": changed}), "Host")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    field = form(panel).field("turn_token.intercept_user_input_requests")
    assert isinstance(field, CheckField)
    qtbot.waitUntil(lambda: "such a turn never ends" in field._note._label.plain)


# ------------------------------------------------------------------------------------------- around an agent


def test_sections_are_filled_when_they_are_opened(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    assert "tool_loop.max_iterations" not in form(panel).names
    assert fold(panel, "Tool loop")._header.summary == "all default"
    fold(panel, "Tool loop").set_open(True)
    assert line(form(panel), "tool_loop.max_iterations").text() == "40"


def test_a_changed_section_is_open_and_says_so(show: Show, workspace: Workspace) -> None:
    loop = agent(workspace).tool_loop.model_copy(update={"max_iterations": 3, "enabled": False})
    workspace.document.execute(SetFields("nodes", "writer", {"tool_loop": loop}), "Loop")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    assert fold(panel, "Tool loop").is_open
    assert fold(panel, "Tool loop")._header.summary == "2 changed"


def test_a_limit_is_typed_and_undone_in_one_step(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel, _ = opened(show, workspace, "Tool loop")
    editor = line(form(panel), "tool_loop.max_function_calls")
    qtbot.keyClicks(editor, "12")
    assert agent(workspace).tool_loop.max_function_calls == 12
    assert workspace.document.undo_stack.count() == 1
    workspace.document.undo_stack.undo()
    assert agent(workspace).tool_loop.max_function_calls is None
    assert editor.text() == ""


def test_a_field_in_a_folded_section_can_be_focused(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    assert panel.page is not None
    assert panel.page.focus_field("tool_loop.max_iterations")
    assert fold(panel, "Tool loop").is_open


def test_a_strategy_shows_its_settings(show: Show, workspace: Workspace) -> None:
    panel, _ = opened(show, workspace, "Compaction")
    names = ("most", "keep_last", "prompt", "budget", "steps")

    def shown() -> set[str]:
        return {n for n in names if not form(panel).field(f"compaction.{n}").isHidden()}

    assert shown() == set()
    for strategy, wanted in (
        ("truncation", {"most"}),
        ("sliding_window", {"keep_last"}),
        ("token_budget", {"budget", "steps"}),
    ):
        changed = agent(workspace).compaction.model_copy(update={"strategy": strategy})
        workspace.document.execute(SetFields("nodes", "writer", {"compaction": changed}), "Strategy")
        assert shown() == wanted
    changed = agent(workspace).compaction.model_copy(update={"steps": ("summarizing", "truncation")})
    workspace.document.execute(SetFields("nodes", "writer", {"compaction": changed}), "Steps")
    assert shown() == {"budget", "steps", "prompt", "most"}


def cards(panel: InspectorPanel, where: str) -> PartCards:
    return next(c for c in panel.findChildren(PartCards) if c.where == where)


def test_context_providers_are_added_moved_and_removed(show: Show, workspace: Workspace) -> None:
    panel, section = opened(show, workspace, "Context and memory")
    assert section._header.summary == "session: default"
    from studio.document.agent_options import ContextProvider

    found = cards(panel, "providers")
    found.add(ContextProvider(kind="history"))
    found.add(ContextProvider(kind="text", text="Be kind."))
    assert [p.kind for p in agent(workspace).providers] == ["history", "text"]
    assert section._header.summary == "history in the session, fixed text"
    assert found.cards[1].is_open
    assert found.cards[1].form.names == {"name", "text", "adds"}
    found.move_item(1, -1)
    assert [p.kind for p in agent(workspace).providers] == ["text", "history"]
    assert found.cards[0].form.names == {"name", "text", "adds"}
    found.remove(0)
    assert [p.kind for p in agent(workspace).providers] == ["history"]
    workspace.document.undo_stack.undo()
    assert [p.kind for p in agent(workspace).providers] == ["text", "history"]


def test_a_history_outside_has_a_path(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    from studio.document.agent_options import ContextProvider

    provider = ContextProvider(kind="history")
    workspace.document.execute(SetFields("nodes", "writer", {"providers": (provider,)}), "History")
    panel, _ = opened(show, workspace, "Context and memory")
    card = cards(panel, "providers").cards[0]
    card.set_open(True)
    assert card.form.field("path").isHidden()
    segments(card.form, "store").edited.emit("sqlite")
    assert not card.form.field("path").isHidden()
    qtbot.keyClicks(line(card.form, "path"), "a.db")
    assert agent(workspace).providers[0].path == "a.db"
    assert card._header.text() == "History in a database"


def test_middleware_is_written_in_place_or_taken_from_a_module(show: Show, workspace: Workspace) -> None:
    from studio.document.agent_options import MiddlewareDecl

    panel, section = opened(show, workspace, "Middleware")
    found = cards(panel, "middleware")
    found.add(MiddlewareDecl(kind="chat", body="await call_next()"))
    card = found.cards[0]
    field = card.form.field("body")
    assert isinstance(field, Field)
    assert isinstance(field.editor, CodeEditor)
    assert field.editor.value == "await call_next()"
    assert card.form.field("call").isHidden()
    assert section._header.summary == "1 piece"
    assert card._header.text() == "Around model calls"
    card.target.write("call", "guards:log")
    card.target.write("body", "")
    assert card.form.field("body").isHidden()
    assert not card.form.field("call").isHidden()


# ----------------------------------------------------------------------------------------------------- runners


@pytest.fixture
def runner(workspace: Workspace) -> str:
    edit, id = new_node(workspace.document.workflow, "runner")
    workspace.document.execute(edit, "Add")
    return id


def test_agents_of_a_runner_are_added_linked_and_limited(
    show: Show, workspace: Workspace, runner: str, qtbot: QtBot
) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select((runner,))
    found = cards(panel, "agents")
    press(panel, "Add agent")
    press(panel, "Add agent")

    def node() -> RunnerNode:
        made = workspace.document.workflow.node(runner)
        assert isinstance(made, RunnerNode)
        return made

    assert [(a.id, a.name) for a in node().agents] == [("agent", "Agent"), ("agent_2", "Agent 2")]
    first = found.cards[0]
    first.set_open(True)
    peers = first.form.field("handoffs")
    assert isinstance(peers, Field)
    assert peers.editor._offer() == [("agent_2", "Agent 2")]  # type: ignore[attr-defined]
    assert node().agents[0].handoffs == ("agent_2",), "the first agent can hand over to a new one"
    peers.editor.edited.emit(())  # type: ignore[attr-defined]
    assert node().agents[0].handoffs == ()
    peers.editor.edited.emit(("agent_2",))  # type: ignore[attr-defined]
    assert first._header.summary == "starts · → Agent 2"
    found.cards[1].set_open(True)
    editor = line(found.cards[1].form, "name")
    editor.selectAll()
    qtbot.keyClicks(editor, "Billing")
    assert first._header.summary == "starts · → Billing"
    fold(panel, "Limits of a turn").set_open(True)
    segments(form(panel), "settings.tool_error").edited.emit("report")
    assert node().settings.tool_error == "report"
    found.remove(1)
    assert [(a.id, a.handoffs) for a in node().agents] == [("agent", ())]


def test_a_text_inside_a_list_or_an_option_is_brought_into_view(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    from studio.document.agent_options import Compaction, ContextProvider

    provider = ContextProvider(kind="text", text="Mind the gap.")
    compaction = Compaction(strategy="summarizing", prompt="Sum up the gap.")
    workspace.document.execute(SetFields("nodes", "writer", {"providers": (provider,), "compaction": compaction}), "x")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    page = panel.page
    assert page is not None
    for section in ("Context and memory", "Compaction"):
        fold(panel, section).set_open(False)
    for field, text in (("providers", "Mind the gap."), ("compaction", "Sum up the gap.")):
        page.show_text("writer", field, text, text.index("gap"), text.index("gap") + 3, focus=True)
        editor = next(e for e in page.findChildren(QTextEdit) if e.toPlainText() == text)
        assert editor.isVisible()
        assert editor.textCursor().selectedText() == "gap"


def test_a_problem_of_an_item_stands_in_its_card(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    from studio.document.agent_options import MiddlewareDecl

    pieces = (MiddlewareDecl(body="await call_next()"), MiddlewareDecl(body="x ="))
    workspace.document.execute(SetFields("nodes", "writer", {"middleware": pieces}), "x")
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    good, bad = cards(panel, "middleware").cards
    qtbot.waitUntil(lambda: "cannot be read: invalid syntax, line 1" in bad.note.plain)
    assert good.note.plain == ""
    page = panel.page
    assert page is not None
    bad.set_open(False)
    page.focus_field("middleware.1")
    assert bad.is_open
    bad.target.write("body", "await call_next()")
    qtbot.waitUntil(lambda: bad.note.isHidden())
