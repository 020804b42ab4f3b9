"""Options say what they do; texts open in a window; fields, state keys and names are completed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QListWidget
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.agent_options import ToolLoop, TurnTokenSettings
from studio.document.conditions import Condition
from studio.document.edits import SetFields, SetWorkflow
from studio.document.model import (
    KNOWN_NODES,
    AgentNode,
    DirectEdge,
    FanInEdge,
    FanOutEdge,
    FunctionNode,
    HumanInputNode,
    JoinNode,
    ModuleDecl,
    StateDecl,
    SubWorkflowNode,
    TemplateNode,
    ToolDecl,
    TypeDecl,
    Workflow,
)
from studio.export import export_project
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.expand import ExpandButton, ExpandedText
from studio.ui.inspector.offers import code_offers, expression_offers, template_offers
from studio.ui.inspector.option_facts import FACTS, facts_of
from studio.ui.widgets.completion import Completion
from studio.ui.widgets.field import Field
from studio.ui.widgets.text_fields import LineField, TextBox
from tests.ui.panels.brief import brief

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def field(panel: InspectorPanel, name: str) -> Field:
    assert panel.page is not None
    assert panel.page.form is not None
    found = panel.page.form.field(name)
    assert isinstance(found, Field)
    return found


def box(panel: InspectorPanel, name: str) -> TextBox:
    editor = field(panel, name).editor
    assert isinstance(editor, TextBox)
    return editor


# ---- facts


def test_facts_are_about_fields_that_there_are() -> None:
    for kind, facts in FACTS.items():
        model = Workflow if kind == "workflow" else KNOWN_NODES[kind]
        for name in facts:
            head, _, rest = name.partition(".")
            field = model.model_fields[head]
            assert not rest or rest in type(field.get_default(call_default_factory=True)).model_fields, (kind, name)
        for name, fact in facts.items():
            assert fact.effect.endswith("."), (kind, name)
            assert not fact.default.endswith("."), (kind, name)


def test_an_option_says_what_it_does(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    temperature = field(panel, "temperature")
    words = temperature.editor.accessibleDescription()
    assert words.startswith("At run time: it is sent with every model call")
    assert "Default: left to the provider." in words
    assert words.endswith("Exported: yes.")
    assert temperature._label.toolTip() == words == temperature.editor.whatsThis()
    assert temperature._left_out.isHidden()


def test_what_exported_code_leaves_out_is_said(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    label = field(panel, "profile").findChildren(QLabel)
    assert any(one.text() == "not exported" and not one.isHidden() for one in label)
    assert "reads its provider and key from the environment" in field(panel, "profile").editor.accessibleDescription()


def test_texts_have_a_reset_where_they_are_marked(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    instructions = field(panel, "instructions")
    assert not instructions._arrow.isHidden()
    instructions.reset.emit()
    node = workspace.document.workflow.node("writer")
    assert isinstance(node, AgentNode)
    assert node.instructions == ""


def exported(workflow: Workflow) -> Mapping[str, str]:
    return {name: text for name, text in export_project(workflow).items() if name.endswith((".py", ".toml", ".env"))}


CHANGED: Mapping[str, Any] = {
    "instructions": "other", "model": "m", "temperature": 0.3, "max_tokens": 99, "tools": ("look",),
    "context": "last_agent", "trailing_user_turn": True, "session": "s",
    "output_schema": {"type": "object", "properties": {"k": {"type": "string"}}},
    "accepts": "any", "sends": "any", "yields": "text", "question": "Q", "answer_type": "Score",
    "choices": ("x", "y"), "send": "input_and_answer", "text": "T {text}", "merge": "messages", "separator": " - ",
    "direct_output": True, "propagate_requests": False, "start": "function", "max_supersteps": 7,
    "outputs": ("agent",), "sample_input": "hello",
}  # fmt: skip
TOGETHER: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("agent", "context_filter"): {"context": "custom", "context_filter": "result = messages"},
    ("function", "body"): {"body": "result = data + 'x'"},
    ("function", "call"): {"body": "", "call": "mod:run"},
    ("join", "body"): {"merge": "code", "body": "result = data"},
    ("agent", "host"): {"host": "turn_token"},
    ("agent", "tool_choice"): {"tools": ("look",), "tool_choice": "required"},
    ("agent", "store_per_call"): {"store_per_call": True},
    **{
        ("agent", f"tool_loop.{name}"): {"tools": ("look",), "tool_loop": ToolLoop(**{name: value})}
        for name, value in {"enabled": False, "max_iterations": 3, "max_function_calls": 3, "max_duration_seconds": 9.0,
                            "max_consecutive_errors": 1, "terminate_on_unknown_calls": True,
                            "allow_concurrent_invocation": False, "include_detailed_errors": True}.items()
    },
    **{
        ("agent", f"turn_token.{name}"): {"host": "turn_token", "turn_token": TurnTokenSettings(**{name: value})}
        for name, value in {"emit_agent_update_events": True, "emit_agent_response_events": True,
                            "intercept_user_input_requests": True, "intercept_unterminated_function_calls": True,
                            "reassign_other_agents_as_users": False, "forward_incoming_messages": False}.items()
    },
}  # fmt: skip
_BESIDE = {"tool_loop": {"tools": ("look",)}, "turn_token": {"host": "turn_token"}}
"""What has to be set before the options of a group count."""


def every_kind() -> Workflow:
    inner = Workflow(id="i", name="i", start="ia", nodes=(AgentNode(id="ia", name="IA", instructions="u"),))
    return Workflow(
        id="w",
        name="W",
        start="first",
        nodes=(
            AgentNode(id="first", name="First", instructions="x"),
            FunctionNode(id="function", name="F", body="result = data"),
            HumanInputNode(id="human_input", name="H"),
            TemplateNode(id="template", name="T"),
            AgentNode(id="b", name="B", instructions="y"),
            AgentNode(id="c", name="C", instructions="z"),
            JoinNode(id="join", name="J"),
            AgentNode(id="agent", name="A", instructions="q"),
            SubWorkflowNode(id="sub_workflow", name="S", embedded=inner),
        ),
        edges=(
            DirectEdge(id="e1", source="first", target="function"),
            DirectEdge(id="e2", source="function", target="human_input"),
            DirectEdge(id="e3", source="human_input", target="template"),
            FanOutEdge(id="fo", name="FO", source="template", targets=("b", "c")),
            FanInEdge(id="fi", sources=("b", "c"), target="join"),
            DirectEdge(id="e4", source="join", target="agent"),
            DirectEdge(id="e5", source="agent", target="sub_workflow"),
        ),
        tools=(ToolDecl(name="look", call="mod:look"),),
        modules=(ModuleDecl(name="mod", source="def look():\n    return 1\n\ndef run(data):\n    return data\n"),),
        types=(TypeDecl(name="Score", json_schema={"type": "object", "properties": {"score": {"type": "integer"}}}),),
    )


def test_what_is_said_to_be_exported_changes_the_code() -> None:
    base = every_kind()
    before = {"": exported(base)}
    for group, values in _BESIDE.items():
        before[group] = exported(SetFields("nodes", "agent", values).apply(base).workflow)
    seen = 0
    for kind, facts in FACTS.items():
        for name, fact in facts.items():
            values = TOGETHER.get((kind, name)) or ({name: CHANGED[name]} if name in CHANGED else None)
            if fact.not_exported or values is None:
                continue
            edit = SetWorkflow(values) if kind == "workflow" else SetFields("nodes", kind, values)
            group = name.partition(".")[0]
            assert exported(edit.apply(base).workflow) != before.get(group, before[""]), (kind, name)
            seen += 1
    assert seen >= 45


# ---- a window of its own


def test_a_text_opens_in_a_window(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))
    button = field(panel, "instructions").findChild(ExpandButton)
    assert isinstance(button, ExpandButton)
    assert button.accessibleName() == "Open Instructions in a window"
    button.click()
    dialog = panel.findChild(ExpandedText)
    assert isinstance(dialog, ExpandedText)
    qtbot.waitExposed(dialog)
    assert dialog.editor.value == box(panel, "instructions").value
    qtbot.keyClicks(dialog.editor, "Now. ")
    node = workspace.document.workflow.node("writer")
    assert isinstance(node, AgentNode)
    assert node.instructions.startswith("Now. Write a two-page brief")
    assert workspace.document.undo_stack.count() == 1
    workspace.document.undo_stack.undo()
    assert dialog.editor.value.startswith("Write a two-page brief")
    assert dialog.editor.height() > 300, "it fills the window"
    workspace.selection.select(("planner",))
    qtbot.waitUntil(lambda: not panel.findChildren(ExpandedText))


# ---- completion


def with_state() -> Workflow:
    return brief().model_copy(update={"state": (StateDecl(key="rounds"), StateDecl(key="draft"))})


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("Brief: {", ("text", "value", "value.score", "value.needs", "state.rounds", "state.draft")),
        ("Brief: {st", ("state.rounds", "state.draft")),
        ("{value.s", ("value.score",)),
        ("{text} and ", None),
    ],
)
def test_fields_of_templates(before: str, words: tuple[str, ...] | None) -> None:
    workflow = with_state()
    edge = DirectEdge(id="x", source="writer", target="frame")
    workflow = workflow.model_copy(update={"edges": (*workflow.edges, edge)})
    offer = template_offers(lambda: workflow, "frame")(before)
    assert (offer.words if offer is not None else None) == words


@pytest.mark.parametrize(
    ("before", "words"),
    [
        ("x = ctx.get_state('", ("rounds", "draft")),
        ('ctx.set_state("ro', ("rounds",)),
        ("ctx.get_", ("get_sent_messages", "get_source_executor_id", "get_state", "get_yielded_outputs")),
        ("res", ("result",)),
        ("x = da", ("data",)),
        ("other.get_", None),
        ("'da", ()),
        ("d", None),
    ],
)
def test_code(before: str, words: tuple[str, ...] | None) -> None:
    offer = code_offers(with_state, ("data", "ctx"))(before)
    found = offer.words if offer is not None else None
    assert found == words or (not found and not words)


@pytest.mark.parametrize(
    ("line", "before", "words"),
    [
        ("review_1", "va", ("value", "value.score", "value.needs")),
        ("review_1", "value.score > 3 and sta", ("state.rounds", "state.draft")),
        ("publisher_editor", "sta", ()),
        ("review_1", "'te", ()),
        ("review_1", "t", ("text", "type")),
    ],
)
def test_expressions(line: str, before: str, words: tuple[str, ...]) -> None:
    offer = expression_offers(with_state, line)(before)
    assert (offer.words if offer is not None else ()) == words


def completion(editor: TextBox | LineField) -> Completion:
    assert editor.completion is not None
    return editor.completion


def test_a_field_is_completed_with_keys(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    workspace.document.execute(SetWorkflow({"state": with_state().state}), "State")
    panel = show(InspectorPanel)
    workspace.selection.select(("frame",))
    editor = box(panel, "text")
    editor.setFocus()
    editor.selectAll()
    qtbot.waitUntil(editor.hasFocus)
    qtbot.keyClicks(editor, "Hello {st")
    assert completion(editor).shown == ("state.rounds", "state.draft")
    listed = panel.window().findChild(QListWidget, "completion")
    assert isinstance(listed, QListWidget)
    assert listed.isVisible()
    qtbot.keyClick(editor, Qt.Key.Key_Down)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    node = workspace.document.workflow.node("frame")
    assert isinstance(node, TemplateNode)
    assert node.text == "Hello {state.draft}"
    assert completion(editor).shown == ()
    qtbot.keyClicks(editor, " {te")
    qtbot.keyClick(editor, Qt.Key.Key_Escape)
    assert completion(editor).shown == ()
    qtbot.keyClick(editor, Qt.Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    assert completion(editor).shown == ("text",)
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    node = workspace.document.workflow.node("frame")
    assert isinstance(node, TemplateNode)
    assert node.text == "Hello {state.draft} {text}"


def test_an_expression_is_completed(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    condition = Condition(kind="expression", expression="")
    edge = workspace.document.workflow.edge("review")
    cases = tuple(c.model_copy(update={"condition": condition}) for c in edge.cases)  # type: ignore[union-attr]
    workspace.document.execute(SetFields("edges", "review", {"cases": cases}), "Change")
    panel = show(InspectorPanel)
    workspace.selection.select(("review_1",))
    editor = next(e for e in panel.findChildren(LineField) if e.accessibleName() == "Expression")
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus)
    qtbot.keyClicks(editor, "value.sc")
    assert completion(editor).shown == ("value.score",)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == "value.score"
    found = workspace.document.workflow.edge("review").cases[0].condition  # type: ignore[union-attr]
    assert found is not None
    assert found.expression == "value.score"


def test_the_list_goes_with_the_focus(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("publisher",))
    editor = box(panel, "body")
    editor.setFocus()
    qtbot.waitUntil(editor.hasFocus)
    qtbot.keyClicks(editor, "ctx.")
    assert "get_state" in completion(editor).shown
    name = panel.page.form.field("name").editor  # type: ignore[union-attr]
    name.setFocus()
    assert completion(editor).shown == ()


def test_unknown_options_have_no_facts() -> None:
    assert facts_of("agent", "name") is None
    assert facts_of("nothing", "name") is None
