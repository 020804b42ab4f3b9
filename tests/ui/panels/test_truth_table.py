"""Conditions are asked about recorded messages while they are edited."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from pytestqt.qtbot import QtBot
from studio.agents.messages import AgentReply, AgentResponse, Message, Text
from studio.bridge.run_views import MessageView
from studio.bridge.workspace import Workspace
from studio.document.conditions import Condition, Rule
from studio.document.edits import SetFields
from studio.document.model import SwitchCase, SwitchEdge
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.edge_pages import DirectPage, SwitchPage
from studio.ui.inspector.truth_table import MOST, TruthTable
from tests.ui.panels.fake_run import FakeRun

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def answers(qtbot: QtBot, table: TruthTable) -> list[tuple[bool | None, ...]]:
    """All answers, when every message was asked."""
    qtbot.waitUntil(lambda: not table.working)
    return [row.answers for row in table.rows]


def reply(run: FakeRun, number: int, text: str, source: str = "publisher", data: object = None) -> None:
    run.messages.append(MessageView(f"x{number}", source, None, number, "text", text, data or text))


def scored(text: str, score: int) -> AgentResponse:
    message = Message("assistant", (Text(text),))
    return AgentResponse("writer", AgentReply((message,), value={"score": score}), (message,))


@pytest.fixture
def direct(show: Show, workspace: Workspace, run: FakeRun) -> Iterator[DirectPage]:
    for number, text in enumerate(("a draft", "final", "another draft"), 1):
        reply(run, number, text)
    reply(run, 4, "draft of another node", "writer")
    panel = show(InspectorPanel)
    workspace.selection.select(("publisher_editor",))
    assert isinstance(panel.page, DirectPage)
    yield panel.page
    panel.set_workspace(None)


def test_messages_of_the_source_are_asked(direct: DirectPage, qtbot: QtBot) -> None:
    table = direct.fields.table
    answers(qtbot, table)
    assert [(r.superstep, r.answers, r.reason) for r in table.rows] == [
        (3, (True,), "text contains “draft”"),
        (2, (False,), "text does not contain “draft”"),
        (1, (True,), "text contains “draft”"),
    ]
    assert table.isVisible()
    assert table.section._header.summary == "2 of 3 pass"


def test_the_table_follows_typing(direct: DirectPage, workspace: Workspace, qtbot: QtBot) -> None:
    row = direct.fields.editor.rules._rows[0]
    row.value.selectAll()  # type: ignore[union-attr]
    qtbot.keyClicks(row.value, "final")  # type: ignore[union-attr]
    assert answers(qtbot, direct.fields.table) == [(False,), (True,), (False,)]
    workspace.document.undo_stack.undo()
    assert answers(qtbot, direct.fields.table) == [(True,), (False,), (True,)]


def test_python_is_not_asked_here(direct: DirectPage, workspace: Workspace, qtbot: QtBot) -> None:
    condition = Condition(kind="python", body="return True")
    workspace.document.execute(SetFields("edges", "publisher_editor", {"condition": condition}), "Change")
    assert answers(qtbot, direct.fields.table) == [(None,)] * 3
    assert direct.fields.table.rows[0].reason == "Python: only a run can ask it"


def test_without_a_condition_or_messages_there_is_no_table(direct: DirectPage, workspace: Workspace) -> None:
    workspace.document.execute(SetFields("edges", "publisher_editor", {"condition": None}), "Change")
    assert not direct.fields.table.isVisible()


def test_new_messages_come_and_only_the_newest_are_shown(direct: DirectPage, run: FakeRun, qtbot: QtBot) -> None:
    for number in range(4, 30):
        reply(run, number, f"draft {number}")
    run.tell(everything=True)
    table = direct.fields.table
    assert len(answers(qtbot, table)) == MOST
    assert table.rows[0].text == "draft 29"
    assert table._more.plain == "The newest 12 of 29."


def test_a_switch_says_which_case_takes_a_message(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    second = SwitchCase(id="review_2", target="editor", condition=Condition(rule=Rule(value="urgent")))
    review = workspace.document.workflow.edge("review")
    assert isinstance(review, SwitchEdge)
    cases = (*review.cases, second)
    workspace.document.execute(SetFields("edges", "review", {"cases": cases}), "Add a case")
    reply(run, 1, "good", "writer", scored("good", 9))
    reply(run, 2, "urgent", "writer", scored("urgent", 9))
    reply(run, 3, "urgent", "writer", scored("urgent", 3))
    reply(run, 4, "bad", "writer", scored("bad", 3))
    panel = show(InspectorPanel)
    workspace.selection.select(("review",))
    assert isinstance(panel.page, SwitchPage)
    answers(qtbot, panel.page.table)
    assert [(r.answers, r.taken, r.reason) for r in panel.page.table.rows] == [
        ((False, False, True), 2, "→ Planner"),
        ((False, True, True), 1, "→ Editor"),
        ((True, True, True), 0, "→ Publisher"),
        ((True, False, True), 0, "→ Publisher"),
    ]
    python = SwitchCase(id="review_0", target="editor", condition=Condition(kind="python", body="return 1"))
    workspace.document.execute(SetFields("edges", "review", {"cases": (python, *cases)}), "Add a case")
    assert isinstance(panel.page, SwitchPage)
    answers(qtbot, panel.page.table)
    assert panel.page.table.rows[0].taken is None, "what a predicate says decides, and nobody has asked it"
