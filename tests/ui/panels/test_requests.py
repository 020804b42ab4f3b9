"""Requests: forms from schemas, errors on leaving a field, approvals as drafts, answers sent together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from studio.agents.messages import ApprovalRequest, ApprovalResponse, ToolCall, ToolResult
from studio.bridge.request_views import last_approved
from studio.bridge.run_turns import views_of
from studio.bridge.run_views import BranchView, RequestView
from studio.bridge.workspace import Workspace
from studio.debugger.answers import answer_value
from studio.debugger.states import RunState
from studio.document.model import ToolDecl, Workflow
from studio.engine.events import RequestAnswered, RequestRaised
from studio.engine.values import Record
from studio.ui.requests import RequestsPanel
from studio.ui.requests.arguments import arguments_of
from studio.ui.requests.card import ApprovalCard, QuestionCard
from studio.ui.requests.form import ObjectValue, make_value, title_of, with_defaults
from studio.ui.requests.list_value import ListValue
from studio.ui.requests.values import (
    MISSING,
    ChoicesValue,
    ChoiceValue,
    FlagValue,
    JsonValue,
    NumberValue,
    TextValue,
    Wrong,
)
from studio.ui.theme import Theme
from studio.ui.widgets.labels import Prose
from tests.ui.panels.fake_run import FakeRun

Show = Callable[..., Any]

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["decision", "pages_at_most"],
    "properties": {
        "decision": {"enum": ["Cover it", "Leave it out", "Own chapter"]},
        "pages_at_most": {"type": "integer", "minimum": 1, "maximum": 4},
        "due": {"type": "string", "format": "date"},
        "chapters": {"type": "array", "items": {"enum": ["Market", "Technology"]}},
        "note": {"type": "string", "maxLength": 500},
    },
}


def question(request: str = "r1", kind: str = "text", **more: Any) -> RequestView:
    return RequestView(request, "planner", "question", "Cover storage above eight hours?", kind, **more)


def approval() -> RequestView:
    call = ToolCall("c1", "submit_plan", '{"topics": ["Market", "Policy"], "depth": "two pages"}')
    return RequestView("r2", "planner", "approval", "Run submit_plan?", "bool", data=ApprovalRequest("r2", call))


def test_nobody_waits(show: Show) -> None:
    panel = show(RequestsPanel)
    assert panel._stack.currentIndex() == 0
    assert not panel._footer.isVisible()


def test_a_branch_that_waits_but_is_not_shown_is_named(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RequestsPanel)
    empty = panel._nobody
    assert empty.text.label.text() == "Nobody is waiting for you."
    assert not empty.button.isVisible()
    run.branches.append(BranchView("m", 3, "main", "completed", 0.0))
    run.branches.append(BranchView("f", 3, "Fork A", "waiting", 1.0))
    run.tell(everything=True)
    assert empty.text.label.text() == "Fork A of run 3 waits for your answer."
    empty.button.click()
    panel.go_to_open()  # by the keyboard; the form gets the focus once it is there
    assert run.calls == [("show_branch", "f")] * 2
    run.branch = "m"
    run.tell(checkpoints=True)
    assert empty.text.label.text() == "Nobody is waiting for you."
    assert not empty.button.isVisible()
    run.branch = "f"
    run.requests.append(question())
    run.tell(requests=True)
    assert panel._stack.currentIndex() == 1
    card = panel.cards[question().request]
    assert isinstance(card, QuestionCard)
    qtbot.waitUntil(lambda: card.field.focusProxy().hasFocus())
    panel.set_workspace(None)


def test_a_text_is_sent(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RequestsPanel)
    run.requests.append(question())
    run.tell(requests=True)
    card = panel.cards["r1"]
    assert isinstance(card, QuestionCard)
    assert not panel.send.isEnabled()
    qtbot.keyClicks(card.field.editor, "Yes, in one chapter")
    assert panel.send.isEnabled()
    panel.send.click()
    assert run.calls == [("answer", {"r1": "Yes, in one chapter"})]
    panel.set_workspace(None)


def test_the_focus_of_a_question_is_in_its_form(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    """By the key that goes to the open request, and by a click beside the field: nothing that is typed is lost."""
    panel = show(RequestsPanel)
    run.requests.append(question())
    run.tell(requests=True)
    panel.activateWindow()
    card = panel.cards["r1"]
    panel.focus_first()
    qtbot.waitUntil(card.field.editor.hasFocus)
    panel.setFocus()
    assert not card.field.editor.hasFocus()
    qtbot.mouseClick(card, Qt.MouseButton.LeftButton, pos=QPoint(20, 12))
    qtbot.waitUntil(card.field.editor.hasFocus)
    assert card.field.editor.accessibleName() == "Answer"


def test_drafts_survive_updates_and_send_together(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RequestsPanel)
    run.requests.append(question(choices=("Yes", "No")))
    run.tell(requests=True)
    card = panel.cards["r1"]
    card.field.radios[1].click()
    run.requests.append(approval())
    run.tell(requests=True)
    assert panel.cards["r1"] is card
    second = panel.cards["r2"]
    assert isinstance(second, ApprovalCard)
    qtbot.keyClick(second, Qt.Key.Key_Y)
    assert second.approve.isChecked()
    assert panel._ready.text() == "2 of 2 ready"
    qtbot.keyClick(panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    panel.send_answers() if not run.calls else None
    assert run.calls[0] == ("answer", {"r1": "No", "r2": True})
    run.requests.clear()
    run.tell(requests=True)
    assert panel.cards == {}


def test_an_approval_can_be_taken_back(theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    card = ApprovalCard(theme, workspace, approval())
    qtbot.addWidget(card)
    assert card.draft() is MISSING
    card.refuse.click()
    assert card.draft() is False
    card.choose(False)
    assert card.draft() is MISSING
    assert not card.refuse.isChecked()


def test_arguments_that_are_no_json_are_shown() -> None:
    assert arguments_of('{"a": 1}') == {"a": 1}
    assert arguments_of("{broken") == {"arguments": "{broken"}


def test_the_form_of_a_declared_type(theme: Theme, qtbot: QtBot) -> None:
    form = make_value(theme, SCHEMA)
    qtbot.addWidget(form)
    assert isinstance(form, ObjectValue)
    assert [type(f).__name__ for f in form.fields.values()] == [
        "ChoiceValue", "NumberValue", "DateValue", "ChoicesValue", "TextValue",
    ]  # fmt: skip
    assert form.value() is MISSING
    choice, number = form.fields["decision"], form.fields["pages_at_most"]
    assert isinstance(choice, ChoiceValue)
    assert isinstance(number, NumberValue)
    choice.radios[0].click()
    qtbot.keyClicks(number.editor, "12")
    with pytest.raises(Wrong, match="whole number from 1 to 4"):
        form.value()
    assert form.error("pages_at_most") == "", "not while one types"
    number.left.emit()
    assert form.error("pages_at_most") == "Enter a whole number from 1 to 4."
    number.editor.selectAll()
    qtbot.keyClicks(number.editor, "3")
    assert form.error("pages_at_most") == ""
    assert form.value() == {"decision": "Cover it", "pages_at_most": 3, "chapters": []} or form.value() == {
        "decision": "Cover it",
        "pages_at_most": 3,
    }
    chapters = form.fields["chapters"]
    assert isinstance(chapters, ChoicesValue)
    chapters.boxes[1].click()
    assert form.value() == {"decision": "Cover it", "pages_at_most": 3, "chapters": ["Technology"]}


def test_missing_fields_are_said_when_sending(theme: Theme, qtbot: QtBot) -> None:
    form = make_value(theme, SCHEMA)
    qtbot.addWidget(form)
    assert isinstance(form, ObjectValue)
    form.show_errors()
    assert form.error("decision") == "This is needed."
    assert form.error("note") == ""


def test_many_choices_are_a_combo_box(theme: Theme, qtbot: QtBot) -> None:
    field = make_value(theme, {"enum": [1, 2, 3, 4, 5]})
    qtbot.addWidget(field)
    assert isinstance(field, ChoiceValue)
    assert field.radios == []
    assert field.value() is MISSING
    assert field.combo is not None
    field.combo.setCurrentIndex(3)
    assert field.value() == 4


@pytest.mark.parametrize(
    ("schema", "kind"),
    [
        ({"type": "boolean"}, FlagValue),
        ({"type": "number"}, NumberValue),
        ({"type": "string"}, TextValue),
        ({"type": "object"}, JsonValue),
        ({"type": "array", "items": {"type": "object"}}, JsonValue),
        ({"type": "array", "items": {"type": "string"}}, ListValue),
        ({}, JsonValue),
    ],
)
def test_fields_by_schema(theme: Theme, qtbot: QtBot, schema: dict[str, Any], kind: type) -> None:
    field = make_value(theme, schema, title="X")
    qtbot.addWidget(field)
    assert type(field) is kind


def test_a_list_is_written_one_entry_a_line(theme: Theme, qtbot: QtBot) -> None:
    field = make_value(theme, {"type": "array", "items": {"type": "string"}, "maxItems": 3})
    qtbot.addWidget(field)
    assert isinstance(field, ListValue)
    assert field.value() is MISSING
    qtbot.keyClicks(field.editor, "storage")
    qtbot.keyClick(field.editor, Qt.Key.Key_Return)
    qtbot.keyClick(field.editor, Qt.Key.Key_Return)
    qtbot.keyClicks(field.editor, " [T1] tender ")
    assert field.value() == ["storage", "[T1] tender"]
    field.editor.setPlainText("a\nb\nc\nd")
    with pytest.raises(Wrong, match="at most 3 lines"):
        field.value()
    field.editor.setPlainText('["two\\nlines"]')
    assert field.value() == ["two\nlines"]
    field.editor.setPlainText("[]")
    assert field.value() == []


def test_a_list_of_numbers_says_which_line_is_none_and_shows_what_was_begun(theme: Theme, qtbot: QtBot) -> None:
    schema = {"type": "array", "items": {"type": "integer"}, "minItems": 2}
    field = make_value(theme, with_defaults(schema, [4, 8]))
    qtbot.addWidget(field)
    assert isinstance(field, ListValue)
    assert (field.editor.value, field.value()) == ("4\n8", [4, 8])
    field.editor.setPlainText("4\neight")
    with pytest.raises(Wrong, match="“eight” is not a whole number"):
        field.value()
    field.editor.setPlainText("4")
    with pytest.raises(Wrong, match="at least 2 lines"):
        field.value()
    texts = {"type": "array", "items": {"type": "string"}}
    for begun in (["[1]", "b"], ["two\nlines"], []):
        again = make_value(theme, with_defaults(texts, begun))
        qtbot.addWidget(again)
        assert again.value() == begun


def test_json_must_be_of_its_kind(theme: Theme, qtbot: QtBot) -> None:
    field = JsonValue(theme, {"type": "object"})
    qtbot.addWidget(field)
    field.editor.setPlainText("[1]")
    with pytest.raises(Wrong, match="JSON object"):
        field.value()
    field.editor.setPlainText('{"a": 1}')
    assert field.value() == {"a": 1}


def test_nested_objects(theme: Theme, qtbot: QtBot) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "object", "properties": {"name": {"type": "string"}}}}}
    form = make_value(theme, schema)
    qtbot.addWidget(form)
    assert isinstance(form, ObjectValue)
    inner = form.fields["who"]
    assert isinstance(inner, ObjectValue)
    name = inner.fields["name"]
    assert isinstance(name, TextValue)
    qtbot.keyClicks(name.editor, "Ada")
    assert form.value() == {"who": {"name": "Ada"}}


def test_titles() -> None:
    assert title_of("pages_at_most", {}) == "Pages at most"
    assert title_of("x", {"title": "Pages"}) == "Pages"


def test_yes_or_no_has_no_default(theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    card = QuestionCard(theme, workspace, question(kind="bool"))
    qtbot.addWidget(card)
    assert card.draft() is MISSING
    assert isinstance(card.field, ChoiceValue)
    card.field.radios[0].click()
    assert card.draft() is True


def test_what_was_begun_is_there_again(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    run.requests[:] = [question("q1"), question("q2", "Plan", schema=SCHEMA), approval()]
    asking = run.requests[2].request
    panel = show(RequestsPanel, 320, 600)
    text = panel.cards["q1"]
    assert isinstance(text, QuestionCard)
    qtbot.keyClicks(text.field.focusProxy(), "half")
    panel.cards[asking].choose(False)
    assert run.answer_drafts == {"q1": "half", asking: False}
    run.answer_drafts["q2"] = {"decision": "Leave it out", "pages_at_most": 3, "note": "later"}
    panel.show_workspace()
    assert panel.answers() == {
        "q1": "half",
        "q2": {"decision": "Leave it out", "pages_at_most": 3, "chapters": [], "note": "later"},
        asking: False,
    }


def test_a_request_out_of_a_sub_workflow_says_its_path(show: Show, run: FakeRun) -> None:
    run.requests[:] = [question("p1", path=("planner", "checker"))]
    panel = show(RequestsPanel, 320, 600)
    assert panel.cards["p1"].node_name == "Planner › checker"


def test_arguments_are_changed_and_approved_with_the_change(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    card = ApprovalCard(theme, workspace, approval())
    qtbot.addWidget(card)
    changed = {"topics": ["Market"], "depth": "one page"}
    card.change_arguments(changed)
    assert (card.draft(), card.approve.text()) == ({"arguments": changed}, "Call with these")
    card.choose(False)
    assert card.draft() is False
    card.change_arguments({"topics": ["Market", "Policy"], "depth": "two pages"})
    assert (card.arguments, card.draft(), card.approve.text()) == (None, False, "Approve")
    run.answer_drafts[approval().request] = {"arguments": changed}
    again = ApprovalCard(theme, workspace, approval())
    qtbot.addWidget(again)
    assert again.draft() == {"arguments": changed}


def test_what_is_new_since_the_last_approval_is_marked(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    view = approval()
    assert isinstance(view.data, ApprovalRequest)
    call = view.data.call
    before = replace(call, call_id="c0", arguments='{"topics": ["Market"], "depth": "two pages"}')
    for said in (ApprovalResponse("a0", True, before), ApprovalResponse("a9", False, replace(call, arguments="{}"))):
        run.events.append(RequestAnswered(0.0, said.id, view.node, said))
    card = ApprovalCard(theme, workspace, view)
    qtbot.addWidget(card)
    told = [prose.plain for prose in card.findChildren(Prose)]
    assert "two pages" in told, "what is as it was is not marked"
    assert any(text.endswith("(new since your last approval)") for text in told if text.startswith("1"))
    asked: list[tuple[str, str]] = []
    workspace.selection.command_requested.connect(lambda *words: asked.append(words))
    card.why.click()
    assert asked == [("why_asked", view.request)]


def test_only_what_a_person_let_run_is_the_last_approval() -> None:
    call = ToolCall("c", "t", '{"a": 1}')
    made = replace(call, call_id="c2", arguments='{"a": 2}')
    changed = ApprovalResponse("x", False, call, instead=made)
    events = [
        RequestAnswered(0.0, "x", "n", ApprovalResponse("x", True, call)),
        RequestAnswered(0.0, "y", "n", changed),
        RequestAnswered(0.0, "z", "n", ApprovalResponse("z", False, replace(call, arguments='{"a": 3}'))),
        RequestAnswered(0.0, "o", "other", ApprovalResponse("o", True, replace(call, arguments='{"a": 4}'))),
    ]
    assert last_approved(events, "n", "t") == {"a": 2}
    assert last_approved(events[:1], "n", "t") == {"a": 1}
    assert last_approved(events, "n", "another") is None


def test_a_call_that_a_person_runs_shows_its_arguments(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    call = ToolCall("c", "ask_editor", '{"question": "Cover it?"}')
    card = QuestionCard(theme, workspace, RequestView("r", "planner", "call", "Give", "text", data=call, superstep=6))
    qtbot.addWidget(card)
    assert "Cover it?" in [prose.plain for prose in card.findChildren(Prose)]
    assert card.subtitle.plain == "Call that you run · superstep 6"


def test_the_result_of_a_call_that_a_person_runs_has_a_form(
    theme: Theme, workspace: Workspace, run: FakeRun, qtbot: QtBot
) -> None:
    document = Workflow(tools=(ToolDecl(name="ask_editor", approval="caller", result_schema=SCHEMA),))
    views, call = views_of(document), ToolCall("c", "ask_editor", "{}")
    views.fold(RequestRaised(0.0, "r", "planner", call, "content"))
    card = QuestionCard(theme, workspace, views.requests[0])
    qtbot.addWidget(card)
    assert card.subtitle.plain.startswith("Call that you run")
    form = card.field
    assert isinstance(form, ObjectValue)
    form.fields["decision"].radios[0].click()
    qtbot.keyClicks(form.fields["pages_at_most"].editor, "2")
    given = {"decision": "Cover it", "pages_at_most": 2, "chapters": []}
    assert card.draft() == given
    assert answer_value(call, "content", given, document) == ToolResult("c", given)


def test_an_answer_of_type_list_has_a_line_for_each_entry(theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    views = views_of(Workflow())
    data = Record("Question", {"text": "Which?", "answer_type": "list[number]", "choices": (), "data": ""})
    views.fold(RequestRaised(0.0, "r", "planner", data, "list[float | int]"))
    card = QuestionCard(theme, workspace, views.requests[0])
    qtbot.addWidget(card)
    assert isinstance(card.field, ListValue)
    card.field.editor.setPlainText("2\n3,5")
    assert card.draft() == [2, 3.5]


def test_after_a_stop_the_form_says_so_and_asks_again(show: Show, run: FakeRun, qtbot: QtBot) -> None:
    panel = show(RequestsPanel)
    run.requests.append(question())
    run.state = RunState.WAITING
    run.tell(requests=True)
    qtbot.keyClicks(panel.cards["r1"].field.editor, "Yes")
    assert panel.cancel.text() == "Cancel…"
    panel.cancel.click()
    (question_asked,) = panel.findChildren(QMessageBox)
    next(b for b in question_asked.buttons() if b.text() == "End the run").click()
    qtbot.waitUntil(lambda: run.calls == [("stop",)])
    run.calls.clear()
    run.state = RunState.CANCELLED
    run.state_changed.emit()
    assert panel.cancel.isHidden()
    assert panel._intro.plain.startswith("The run ended before your answer.")
    assert panel.send.text() == "Ask again"
    panel.send.click()
    assert run.calls == [("retry",)]
    run.state = RunState.WAITING
    run.state_changed.emit()
    assert panel.send.text() == "Send answers"
    panel.send.click()
    assert run.calls[1:] == [("answer", {"r1": "Yes"})]


def test_after_a_stop_with_nothing_to_go_on_from_it_says_why(show: Show, run: FakeRun) -> None:
    panel = show(RequestsPanel)
    run.allowed["retry"] = "No checkpoint was saved."
    run.requests.append(question())
    run.state = RunState.CANCELLED
    run.tell(requests=True)
    assert not panel.send.isEnabled()
    assert panel.send.toolTip() == "No checkpoint was saved."
