"""Conditions, switches, fan-outs, notes, queued messages and checkpoints in the inspector."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot
from studio.agents.messages import AgentReply, AgentResponse, assistant, user
from studio.bridge.run_views import MessageView, QueuedView
from studio.bridge.workspace import Workspace
from studio.debugger.states import RunState
from studio.document.conditions import Condition, Rule
from studio.document.edits import SetFields
from studio.document.model import DirectEdge, FanOutEdge, SwitchCase, SwitchEdge
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.checkpoint_page import CheckpointPage
from studio.ui.inspector.condition_editor import ConditionEditor
from studio.ui.inspector.edge_pages import DirectPage, FanOutPage, SwitchPage
from studio.ui.inspector.message_page import MessagePage, trail
from studio.ui.inspector.rule_rows import RuleGroup, RuleRow, flat, grouped, parsed, written
from studio.ui.inspector.small_parts import MessageRow
from studio.ui.theme import Theme
from tests.ui.panels.fake_run import TECH, FakeRun, paused

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def edge(workspace: Workspace) -> DirectEdge:
    found = workspace.document.workflow.edge("publisher_editor")
    assert isinstance(found, DirectEdge)
    return found


def direct(panel: InspectorPanel, workspace: Workspace) -> DirectPage:
    workspace.selection.select(("publisher_editor",))
    assert isinstance(panel.page, DirectPage)
    return panel.page


def test_a_rule_edit_changes_the_document(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    page = direct(panel, workspace)
    row = page.findChild(RuleRow)
    assert isinstance(row, RuleRow)
    row.value.selectAll()
    qtbot.keyClicks(row.value, "final")
    condition = edge(workspace).condition
    assert condition is not None
    assert condition.rule == Rule(op="contains", path="text", value="final")
    assert workspace.document.undo_stack.count() == 1
    assert page.fields.editor._chip.text == "contains “final”"
    workspace.document.undo_stack.undo()
    assert row.value.text() == "draft"


def test_rules_are_joined_and_negated(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    page = direct(panel, workspace)
    page.fields.editor.rules.add_rule()
    rows = page.fields.editor.rules.findChildren(RuleRow)
    assert len(rows) == 2
    rows[1].op.setCurrentIndex(3)
    rows[1].op.activated.emit(3)
    qtbot.keyClicks(rows[1].value, "8")
    page.fields.editor.rules.mode.edited.emit("or")
    page.fields.editor.rules.mode.show_value("or")
    page.fields.editor.rules.edited.emit()
    condition = edge(workspace).condition
    assert condition is not None
    assert condition.rule == Rule(
        op="or",
        rules=(
            Rule(op="contains", path="text", value="draft"),
            Rule(op="not", rules=(Rule(op="equals", path="text", value=8),)),
        ),
    )


def test_kinds_of_condition(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    page = direct(panel, workspace)
    editor = page.fields.editor
    editor.kind._choose(2)
    editor.expression.selectAll()
    qtbot.keyClicks(editor.expression, "len(text) > 3")
    condition = edge(workspace).condition
    assert condition is not None
    assert (condition.kind, condition.expression) == ("expression", "len(text) > 3")
    assert condition.name == "when_publisher_editor"
    assert condition.rule is not None, "the rules are kept for when one changes one's mind"
    editor.kind._choose(0)
    assert edge(workspace).condition is None


def test_values_are_read_as_json_where_that_matters() -> None:
    assert parsed("8", ">=") == 8
    assert parsed("true", "equals") is True
    assert parsed('"8"', "equals") == "8"
    assert parsed("8", "contains") == "8"
    assert written("8", "equals") == '"8"'
    assert written("draft", "equals") == "draft"


def test_a_group_of_one_is_the_rule_itself() -> None:
    rule = Rule(op="contains", value="a")
    assert flat(grouped(rule)) == rule
    assert flat(grouped(None)) is None


def test_nested_groups_survive_showing(theme: Theme, qtbot: QtBot) -> None:
    rule = Rule(
        op="and",
        rules=(
            Rule(op="contains", value="a"),
            Rule(op="or", rules=(Rule(op="contains", value="b"), Rule(op="not", rules=(Rule(op="equals", value=1),)))),
        ),
    )
    group = RuleGroup(theme, ["text"], ["text"])
    qtbot.addWidget(group)
    group.show_rule(rule)
    assert group.rule == rule


def test_every_comparison_round_trips(theme: Theme, qtbot: QtBot) -> None:
    row = RuleRow(theme, ["text", "value.score"], ["text"])
    qtbot.addWidget(row)
    for rule in (
        Rule(op="compares", path="value.score", compare=">=", value=8),
        Rule(op="compares", path="value.score", compare="<", value=0.5),
        Rule(op="matches", value="^a"),
        Rule(op="type_is", path="type", value="text"),
        Rule(op="equals", path="value", value=None),
        Rule(op="contains", value="x", ignore_case=True),
    ):
        row.show_rule(rule)
        again = row.rule
        assert again.model_copy(update={"value": again.value or None}) == rule.model_copy(
            update={"value": rule.value or None}
        )


def test_condition_editor_shows_without_telling(theme: Theme, qtbot: QtBot) -> None:
    editor = ConditionEditor(theme, ["text"], ["text"])
    qtbot.addWidget(editor)
    told: list[object] = []
    editor.edited.connect(told.append)
    editor.show_value(Condition(rule=Rule(value="a")))
    editor.show_value(Condition(kind="python", body="return True"))
    editor.show_value(None)
    assert told == []


def test_switch_cases_move(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    switch = workspace.document.workflow.edge("review")
    assert isinstance(switch, SwitchEdge)
    second = SwitchCase(id="review_2", target="editor", condition=Condition(rule=Rule(value="ask")))
    workspace.document.execute(SetFields("edges", "review", {"cases": (*switch.cases, second)}), "Add case")
    panel = show(InspectorPanel)
    workspace.selection.select(("review",))
    page = panel.page
    assert isinstance(page, SwitchPage)
    page.move_case("review_2", -1)
    moved = workspace.document.workflow.edge("review")
    assert isinstance(moved, SwitchEdge)
    assert [c.id for c in moved.cases] == ["review_2", "review_1"]
    assert isinstance(panel.page, SwitchPage)
    assert list(panel.page.cases) == ["review_2", "review_1"]
    page = panel.page
    workspace.selection.select(("review_1",))
    assert panel.page is page
    qtbot.waitUntil(lambda: page.body.verticalScrollBar().value() > 0)


def test_the_case_that_is_selected_comes_into_view(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    switch = workspace.document.workflow.edge("review")
    assert isinstance(switch, SwitchEdge)
    rules = tuple(Rule(value=str(number)) for number in range(6))
    cases = [
        SwitchCase(id=f"c{number}", target="publisher", condition=Condition(rule=Rule(op="or", rules=rules)))
        for number in range(3)
    ]
    workspace.document.execute(SetFields("edges", "review", {"cases": (*switch.cases, *cases)}), "Add cases")
    panel = show(InspectorPanel)
    panel.resize(332, 500)
    workspace.selection.select(("c2",))
    page = panel.page
    assert isinstance(page, SwitchPage)
    section, bar = page._sections["c2"], page.body.verticalScrollBar()
    qtbot.waitUntil(lambda: bar.value() > 0)
    assert bar.value() <= section.y() < bar.value() + page.body.viewport().height()
    workspace.selection.select(("c0",))
    qtbot.waitUntil(lambda: bar.value() <= page._sections["c0"].y() < section.y())


def test_a_case_is_edited_by_its_own_id(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("review_1",))
    page = panel.page
    assert isinstance(page, SwitchPage)
    row = page.cases["review_1"].findChild(RuleRow)
    assert isinstance(row, RuleRow)
    row.value.selectAll()
    qtbot.keyClicks(row.value, "9")
    switch = workspace.document.workflow.edge("review")
    assert isinstance(switch, SwitchEdge)
    assert switch.cases[0].condition is not None
    assert switch.cases[0].condition.rule is not None
    assert switch.cases[0].condition.rule.value == 9


def test_fan_out_selection(show: Show, workspace: Workspace) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("fan",))
    page = panel.page
    assert isinstance(page, FanOutPage)
    assert page.targets == {}
    page._choose.box.click()
    assert isinstance(panel.page, FanOutPage)
    assert list(panel.page.targets) == ["market", "tech", "policy"]
    panel.page.targets["tech"].editor.edited.emit(Condition(rule=Rule(value="tech")))
    fan = workspace.document.workflow.edge("fan")
    assert isinstance(fan, FanOutEdge)
    assert fan.selection is not None
    assert list(fan.selection) == ["tech"]


def test_a_queued_message_is_kept_or_dropped(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(InspectorPanel)
    workspace.selection.look_at_message("q2")
    page = panel.page
    assert isinstance(page, MessagePage)
    assert page.text.value == TECH
    assert not page.keep.isEnabled()
    qtbot.keyClicks(page.text, "New: ")
    assert page.keep.isEnabled()
    page.keep.click()
    page.drop_button.click()
    assert run.calls == [("edit_queued", "q2", f"New: {TECH}"), ("drop_queued", "q2")]


def test_what_an_edit_changes_of_a_message_is_shown_at_once(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    said = AgentResponse("tech", AgentReply((assistant("Sodium."),)), (user("Go on."), assistant("Sodium.")))
    view = next(q for q in run.queued if q.message == "q2")
    view.text, view.data = "Sodium.", said
    panel = show(InspectorPanel)
    workspace.selection.look_at_message("q2")
    page = panel.page
    assert isinstance(page, MessagePage)
    view.text, view.data, view.edited = "Iron. " * 40, said.with_text("Iron. " * 40), True
    run.tell(queued=True)
    assert page._size.plain == "60 tokens · 2 messages"
    shown = page._conversation.body.itemAt(0).widget()
    assert page._conversation.body.count() == 1
    rows = [row.toolTip() for row in shown.findChildren(MessageRow)]
    assert rows == ["Go on.", "Iron. " * 40]
    assert "Sodium" not in page._raw.value


def test_the_way_of_a_message_names_the_input_once(workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    run.branches[0].input_text = "Grid storage"
    run.messages[:] = [
        MessageView("m0", "internal:planner", None, 0, "text", "Grid storage", None, "delivered",
                    [("start", "planner", True, "")], purpose="input"),
        MessageView("q2", "planner", None, 1, "response", "Three topics", None),
    ]  # fmt: skip
    steps = trail(workspace, QueuedView("q2", "planner", None, ("e",), "response", "Three topics", None))
    assert [(name, text, where) for _, name, text, where in steps] == [
        ("Input", "Grid storage", "entry"),
        ("Planner", "Three topics", "1"),
    ]
    asked = QueuedView("m0", "internal:planner", "planner", (), "text", "Grid storage", None, purpose="input")
    assert [step[1] for step in trail(workspace, asked)] == ["Input"]


def test_a_message_cannot_be_edited_while_the_run_runs(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    run.state = RunState.RUNNING
    panel = show(InspectorPanel)
    workspace.selection.look_at_message("q2")
    page = panel.page
    assert isinstance(page, MessagePage)
    assert page.text.isReadOnly()
    assert not page.drop_button.isEnabled()


def test_a_delivered_message_leaves_the_inspector(show: Show, workspace: Workspace, run: FakeRun) -> None:
    paused(run)
    panel = show(InspectorPanel)
    workspace.selection.look_at_message("q2")
    run.queued.clear()
    run.tell(queued=True)
    assert not isinstance(panel.page, MessagePage)


def test_fork_takes_edited_messages_along(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    panel = show(InspectorPanel)
    workspace.selection.look_at_checkpoint("m3")
    page = panel.page
    assert isinstance(page, CheckpointPage)
    qtbot.keyClicks(page._boxes["q1"], "Cheaper. ")
    page.fork_button.click()
    assert run.calls[0][:2] == ("fork", "m3")
    assert list(run.calls[0][2]) == ["q1"]
    assert run.calls[0][2]["q1"].startswith("Cheaper. ")


def test_restore_asks_only_when_a_run_is_stopped(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    paused(run)
    run.state = RunState.RUNNING
    panel = show(InspectorPanel)
    workspace.selection.look_at_checkpoint("m2")
    page = panel.page
    assert isinstance(page, CheckpointPage)
    page.restore_button.click()
    box = panel.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert run.calls == []
    qtbot.keyClick(box, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: run.calls == [("restore", "m2")])


def test_a_note_is_edited(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    workspace.selection.select(("note",))
    assert panel.page is not None
    assert panel.page.form is not None
    editor = panel.page.form.field("text").editor  # type: ignore[union-attr]
    qtbot.keyClicks(editor, "See: ")
    assert workspace.document.workflow.notes[0].text == "See: How it works"


def test_kinds_of_a_condition_are_steps_apart_from_typing(show: Show, workspace: Workspace, qtbot: QtBot) -> None:
    panel = show(InspectorPanel)
    editor = direct(panel, workspace).fields.editor
    count = workspace.document.undo_stack.count
    editor.kind.edited.emit("expression")
    assert count() == 1
    editor.expression.selectAll()
    qtbot.keyClicks(editor.expression, "text")
    assert count() == 2
    editor.kind.edited.emit("always")
    assert count() == 3
    workspace.document.undo_stack.undo()
    condition = edge(workspace).condition
    assert condition is not None
    assert condition.expression == "text"
    editor.kind.edited.emit("rules")
    editor.rules.add_rule()
    assert count() == 4


def test_always_takes_no_room_of_the_other_kinds(theme: Theme, qtbot: QtBot) -> None:
    editor = ConditionEditor(theme, ["text"], ["text"])
    qtbot.addWidget(editor)
    editor.resize(280, 400)
    editor.show_value(None)
    editor.show()
    always = editor.minimumSizeHint().height()
    editor.show_value(Condition(kind="python", body="return True"))
    assert editor.minimumSizeHint().height() >= always + 40
    assert not editor.expression.isVisible()
    editor.show_value(None)
    assert editor.minimumSizeHint().height() == always


def test_tab_goes_through_rules_as_they_are_read(theme: Theme, qtbot: QtBot) -> None:
    editor = ConditionEditor(theme, ["text"], [])
    qtbot.addWidget(editor)
    editor.show_value(Condition(rule=Rule(op="and", rules=(Rule(value="a"), Rule(value="b")))))
    editor.rules.add_group()
    editor.rules.add_rule()
    stops = editor.rules.tab_stops()
    assert len(stops) == 1 + 5 + 5 + (1 + 5 + 5 + 2) + 5 + 2
    chain = [stops[0]]
    while chain[-1] is not stops[-1]:
        following = chain[-1].nextInFocusChain()
        while following not in stops:
            following = following.nextInFocusChain()
        chain.append(following)
        assert len(chain) <= len(stops)
    assert chain == stops


def test_a_rule_goes_on_as_an_expression(theme: Theme, qtbot: QtBot) -> None:
    editor = ConditionEditor(theme, ["text"], [])
    qtbot.addWidget(editor)
    editor.show_value(Condition(rule=Rule(value="a")))
    with qtbot.waitSignal(editor.edited) as told:
        editor.kind.edited.emit("expression")
    assert told.args[0].expression == editor.expression.text() == '"a" in text'
    editor.kind.edited.emit("rules")
    assert editor.rules.rule.rules == (Rule(value="a"),)


def test_case_can_be_left_aside(theme: Theme, qtbot: QtBot) -> None:
    row = RuleRow(theme, ("text",), ("text",))
    qtbot.addWidget(row)
    row.show()
    row.show_rule(Rule(op="contains", value="Yes"))
    assert row.case.isChecked()
    row.case.click()
    assert row.rule == Rule(op="contains", value="Yes", ignore_case=True)
    row.show_rule(Rule(op="compares", path="value.score", compare=">=", value=8))
    assert row.case.isHidden()
    assert row.rule == Rule(op="compares", path="value.score", compare=">=", value=8)
    row.show_rule(Rule(op="not", rules=(Rule(op="matches", value="a+", ignore_case=True),)))
    assert not row.case.isHidden()
    assert not row.case.isChecked()
    assert row.rule == Rule(op="not", rules=(Rule(op="matches", value="a+", ignore_case=True),))
