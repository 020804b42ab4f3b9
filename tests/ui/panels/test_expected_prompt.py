"""The effective prompt: what was sent, with instructions and context as they are set now."""

from __future__ import annotations

from collections.abc import Callable

from pytestqt.qtbot import QtBot
from studio.agents.messages import AgentReply, AgentResponse, Message, Text, user
from studio.bridge.run_views import InvocationView, MessageView, NodeView
from studio.bridge.workspace import Workspace
from studio.document.agent_options import ContextProvider
from studio.document.edits import SetFields
from studio.document.model import AgentNode
from studio.engine.events import ModelCallStarted
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.expected_prompt import CONTINUE, expected, first_call, incoming
from studio.ui.inspector.small_parts import MessageRow
from tests.ui.panels.fake_run import FakeRun

Show = Callable[[type[InspectorPanel]], InspectorPanel]


def says(text: str) -> Message:
    return Message("assistant", (Text(text),), author="Planner")


QUESTION, PLAN, HISTORY = user("Question"), says("Plan"), user("Earlier")
CAME = AgentResponse("planner", AgentReply((PLAN,)), (QUESTION, PLAN))


def texts(messages: tuple[Message, ...]) -> list[str]:
    return [m.text for m in messages]


def agent(**values: object) -> AgentNode:
    return AgentNode(id="writer", name="Writer", **{"instructions": "Write.", **values})  # type: ignore[arg-type]


def test_instructions_come_first_and_history_stays() -> None:
    found = expected(agent(), (HISTORY, QUESTION, PLAN), CAME)
    assert texts(found.messages) == ["Write.", "Earlier", "Question", "Plan"]
    assert found.messages[0].role == "system"
    assert not found.changed


def test_another_context_is_followed() -> None:
    last = expected(agent(context="last_agent"), (HISTORY, QUESTION, PLAN), CAME)
    assert texts(last.messages) == ["Write.", "Earlier", "Plan"]
    assert last.changed
    full = expected(agent(), (HISTORY, PLAN), CAME)
    assert texts(full.messages) == ["Write.", "Earlier", "Question", "Plan"]
    assert full.changed


def test_the_turn_at_the_end_comes_and_goes() -> None:
    with_turn = expected(agent(trailing_user_turn=True), (QUESTION, PLAN), CAME)
    assert texts(with_turn.messages) == ["Write.", "Question", "Plan", CONTINUE]
    without = expected(agent(), (QUESTION, PLAN, user(CONTINUE)), CAME)
    assert texts(without.messages) == ["Write.", "Question", "Plan"]


def test_what_cannot_be_known_is_said() -> None:
    custom = expected(agent(context="custom", context_filter="result = []"), (QUESTION, PLAN), CAME)
    assert texts(custom.messages) == ["Write.", "Question", "Plan"]
    assert "filter is code" in custom.note
    code = expected(agent(providers=(ContextProvider(kind="code", body="result = 'x'"),)), (QUESTION,), None)
    assert "provider runs code" in code.note
    other = expected(agent(context="last_agent"), (user("Something else"),), CAME)
    assert texts(other.messages) == ["Write.", "Something else"], "what does not fit is shown as it was"
    text = expected(agent(providers=(ContextProvider(kind="text", text="Be kind."),)), (QUESTION,), None)
    assert texts(text.messages) == ["Write.\nBe kind.", "Question"]


def recorded(run: FakeRun) -> None:
    run.nodes["writer"] = NodeView("writer", "done", 1)
    run.invocations["i1"] = InvocationView("i1", "writer", 2, 0.0, 1.0, "done")
    run.messages.append(MessageView("m1", "planner", None, 1, "response", "Plan", CAME, "delivered",
                                    [("e", "writer", True, "")]))  # fmt: skip
    tool = says("a tool was called")
    for event in (
        ModelCallStarted(0.0, "writer", "i0", "c0", (HISTORY,)),
        ModelCallStarted(0.1, "writer", "i1", "c1", (QUESTION, PLAN)),
        ModelCallStarted(0.2, "writer", "i1", "c2", (QUESTION, PLAN, tool)),
        ModelCallStarted(0.3, "writer", "i2", "c3", (HISTORY,), inside=("sub",)),
    ):
        run.events.append(event)


def test_the_first_call_of_the_last_turn_counts(workspace: Workspace, run: FakeRun) -> None:
    recorded(run)
    call = first_call(workspace, "writer")
    assert call is not None
    assert call.call == "c1"
    assert incoming(workspace, call) is CAME


def test_the_section_follows_the_document(show: Show, workspace: Workspace, run: FakeRun, qtbot: QtBot) -> None:
    recorded(run)
    panel = show(InspectorPanel)
    workspace.selection.select(("writer",))

    def rows() -> list[str]:
        return [r._text for r in panel.findChildren(MessageRow) if r.isVisible()]

    workspace.document.execute(SetFields("nodes", "writer", {"instructions": "Short.", "context": "full"}), "Change")
    qtbot.waitUntil(lambda: rows() == ["Short.", "Question", "Plan"])
    workspace.document.execute(SetFields("nodes", "writer", {"context": "last_agent"}), "Change")
    qtbot.waitUntil(lambda: rows() == ["Short.", "Plan"])
