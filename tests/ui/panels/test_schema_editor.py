"""Reply schemas, types and state keys are edited as fields; each change is one step."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot
from studio.bridge.workspace import Workspace
from studio.document.edits import SetFields
from studio.document.model import AgentNode
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.form import Refused
from studio.ui.inspector.schema_editor import SchemaEditor
from studio.ui.inspector.state_cards import StateCards, TypeCards, json_value, value_text
from studio.ui.theme import Theme
from studio.ui.widgets.text_fields import LineField

Show = Callable[[type[InspectorPanel]], InspectorPanel]


@pytest.fixture
def panel(show: Show, workspace: Workspace) -> InspectorPanel:
    made = show(InspectorPanel)
    workspace.selection.select(("writer",))
    return made


def editor(panel: InspectorPanel) -> SchemaEditor:
    [found] = [e for e in panel.findChildren(SchemaEditor) if e.accessibleName() == "Fields of the reply"]
    return found


def schema(workspace: Workspace) -> object:
    node = workspace.document.workflow.node("writer")
    assert isinstance(node, AgentNode)
    return node.output_schema


def test_fields_of_a_reply(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    shown = editor(panel)
    assert [(r.name.text(), r.type.currentText(), r.required.isChecked()) for r in shown.list.rows] == [
        ("score", "whole number", False),
        ("needs", "text", False),
    ]
    row = shown.list.rows[1]
    row.name.end(False)
    qtbot.keyClicks(row.name, "_now")
    row.required.click()
    assert schema(workspace) == {
        "type": "object",
        "properties": {"score": {"type": "integer"}, "needs_now": {"type": "string"}},
        "required": ["needs_now"],
    }
    assert shown.list.rows[1] is row, "the row stays while one types"
    workspace.document.undo_stack.undo()
    assert not row.required.isChecked()


def test_tab_goes_through_the_fields_where_they_stand(panel: InspectorPanel, qtbot: QtBot) -> None:
    shown = editor(panel)
    shown.list.add()
    panel.activateWindow()
    shown.mode.setFocus()
    qtbot.waitUntil(shown.mode.hasFocus)
    passed: list[QWidget | None] = []
    while not (passed and passed[-1] is shown.list.rows[2].name):
        QTest.keyClick(panel.focusWidget(), Qt.Key.Key_Tab)
        passed.append(panel.focusWidget())
        assert passed[-1] is not None
        assert shown.isAncestorOf(passed[-1]), "what follows the reply in the form comes after its last field"
    names = [row.name for row in shown.list.rows]
    assert [w for w in passed if w in names] == names


def test_add_choose_and_remove(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    shown = editor(panel)
    shown.list.add()
    row = shown.list.rows[2]
    row.type.setCurrentIndex(row.type.findData("choice"))
    row.type.activated.emit(row.type.currentIndex())
    assert row.options.isVisible()
    qtbot.keyClicks(row.options, "a, b,")
    assert schema(workspace)["properties"]["field"] == {"type": "string", "enum": ["a", "b"]}  # type: ignore[index]
    assert row.options.text() == "a, b,", "what is typed stays as it is typed"
    row.remove_requested.emit(row)
    assert list(schema(workspace)["properties"]) == ["score", "needs"]  # type: ignore[index]
    for left in list(shown.list.rows):
        left.remove_requested.emit(left)
    assert schema(workspace) is None, "no field is a plain text"


def test_fields_inside_fields(panel: InspectorPanel, workspace: Workspace) -> None:
    row = editor(panel).list.rows[1]
    row.type.setCurrentIndex(row.type.findData("object"))
    row.type.activated.emit(row.type.currentIndex())
    assert row.inner is not None
    row.inner.add()
    assert schema(workspace)["properties"]["needs"] == {  # type: ignore[index]
        "type": "object",
        "properties": {"field": {"type": "string"}},
        "required": ["field"],
    }


def test_json_and_what_only_json_can_say(panel: InspectorPanel, workspace: Workspace, qtbot: QtBot) -> None:
    shown = editor(panel)
    shown.mode.edited.emit("json")
    shown.mode.show_value("json")
    shown._show_mode()
    before = workspace.document.undo_stack.count()
    shown.json.setPlainText('{"type": "object", "prop')
    assert workspace.document.undo_stack.count() == before
    assert "not the JSON" in shown._said.plain
    shown.json.setPlainText('{"type": "object", "properties": {"a": {"type": "string"}}, "minProperties": 1}')
    assert schema(workspace)["minProperties"] == 1  # type: ignore[index]
    assert "more than a list of fields" in shown._said.plain
    shown.mode.show_value("fields")
    shown.mode.edited.emit("fields")
    assert shown.mode.value == "json", "a list would lose something"


def test_the_mark_and_the_reset(panel: InspectorPanel, workspace: Workspace) -> None:
    assert panel.page is not None
    assert panel.page.form is not None
    field = panel.page.form.field("output_schema")
    field.reset.emit()
    assert schema(workspace) is None
    assert editor(panel).list.rows == []
    workspace.document.execute(SetFields("nodes", "writer", {"output_schema": {"type": "object"}}), "Change")
    assert editor(panel).list.rows == []


def test_types_and_state_have_cards(theme: Theme, workspace: Workspace, qtbot: QtBot) -> None:
    types, state = TypeCards(theme, workspace), StateCards(theme, workspace)
    for cards in (types, state):
        qtbot.addWidget(cards)
        cards.show()
        cards.refresh()
    types.add()
    state.add()
    state.add()
    workflow = workspace.document.workflow
    assert [t.name for t in workflow.types] == ["Record"]
    assert [s.key for s in workflow.state] == ["key", "key_2"]
    first = state.cards[0].form.field("initial").editor  # type: ignore[union-attr]
    assert isinstance(first, LineField)
    qtbot.keyClicks(first, "12")
    assert workspace.document.workflow.state[0].initial == 12
    name = state.cards[0].form.field("key").editor  # type: ignore[union-attr]
    assert isinstance(name, LineField)
    name.selectAll()
    qtbot.keyClicks(name, "rounds")
    state.refresh()
    assert state.cards[0]._header.text() == "rounds"
    assert state.cards[0].summary() == "text = 12"
    types.cards[0].findChild(SchemaEditor).list.add()  # type: ignore[union-attr]
    assert list(workspace.document.workflow.types[0].json_schema["properties"]) == ["text", "field"]  # type: ignore[arg-type]
    state.remove(0)
    assert [s.key for s in workspace.document.workflow.state] == ["key_2"]
    assert workspace.document.undo_stack.undoText() == "Remove state key rounds"


@pytest.mark.parametrize(("text", "value"), [("", None), ("12", 12), ("a b", "a b"), ('"12"', "12"), ("[1]", [1])])
def test_first_values(text: str, value: object) -> None:
    assert json_value(text) == value
    assert json_value(value_text(value)) == value


def test_unfinished_json_is_refused() -> None:
    with pytest.raises(Refused):
        json_value("[1")


def test_the_cursor_reaches_everything(panel: InspectorPanel, qtbot: QtBot) -> None:
    shown = editor(panel)
    assert panel.page is not None
    assert panel.page.focus_field("output_schema")
    assert shown.mode.hasFocus()
    names = [w.accessibleName() for w in (shown.mode, shown.json, *(r.name for r in shown.list.rows))]
    assert all(names)
    assert all(r.type.focusPolicy() != Qt.FocusPolicy.NoFocus for r in shown.list.rows)
