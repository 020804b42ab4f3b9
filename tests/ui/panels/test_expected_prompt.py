"""The effective prompt: what was sent, with instructions and context as they are set now."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pytestqt.qtbot import QtBot
from studio.agents.context_providers import ATTRIBUTION
from studio.agents.messages import AgentReply, AgentResponse, Message, Text, user
from studio.bridge.run_views import InvocationView, MessageView, NodeView
from studio.bridge.workspace import Workspace
from studio.document.agent_options import Compaction, ContextProvider
from studio.document.edits import SetFields
from studio.document.model import AgentNode
from studio.engine.events import ModelCallStarted
from studio.ui.inspector import InspectorPanel
from studio.ui.inspector.expected_prompt import CONTINUE, expected, first_call, incoming, told_instructions
from studio.ui.inspector.last_run import LastRun
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
    by_code = expected(agent(providers=(ContextProvider(kind="code", body="result = 'x'"),)), (QUESTION,), None)
    assert "What the code of code_1 adds to the instructions is only known in a run." in by_code.note
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


def by(source: str, text: str, role: Any = "user") -> Message:
    """A message that a provider added."""
    mark = {"source_id": source, "source_type": "CodeProvider"}
    return Message(role, (Text(text),), extra={ATTRIBUTION: mark})


def code(name: str = "facts", body: str = "result = 'x'", adds: Any = "instructions") -> ContextProvider:
    return ContextProvider(kind="code", name=name, body=body, adds=adds)


def test_nothing_changed_since_is_shown_exactly_as_it_was_sent() -> None:
    node = agent(providers=(code(),))
    sent = (by("facts", "A fact"), QUESTION, PLAN)
    found = expected(node, sent, CAME, node, "Write.\nSay it with facts.")
    assert texts(found.messages) == ["Write.\nSay it with facts.", "A fact", "Question", "Plan"]
    assert not found.changed
    assert found.note == "What code adds is taken from the last run."


def test_what_unchanged_code_added_stays_beside_other_instructions() -> None:
    then = agent(providers=(code(), ContextProvider(kind="text", text="Be kind.")))
    sent = (by("facts", "A fact"), QUESTION, PLAN)
    now = then.model_copy(update={"instructions": "Write short."})
    found = expected(now, sent, CAME, then, "Write.\nSay it with facts.\nBe kind.")
    assert texts(found.messages) == ["Write short.\nSay it with facts.\nBe kind.", "A fact", "Question", "Plan"]
    assert found.changed
    assert found.note == "What the code of facts adds is taken from the last run."


def test_what_other_code_adds_is_not_claimed() -> None:
    then = agent(providers=(code(),))
    sent = (by("facts", "A fact"), QUESTION, PLAN)
    changed = agent(providers=(code(body="result = 'y'"),))
    found = expected(changed, sent, CAME, then, "Write.\nSay it with facts.")
    assert texts(found.messages) == ["Write.", "Question", "Plan"]
    assert found.note == "What the code of facts adds now is only known in a run."
    gone = expected(agent(), sent, CAME, then, "Write.\nSay it with facts.")
    assert texts(gone.messages) == ["Write.", "Question", "Plan"]
    assert gone.note == ""


def test_providers_come_in_their_order() -> None:
    then = agent(providers=(code("a", adds="user"), code("b", "result = 'b'", adds="user")))
    sent = (by("a", "From a"), by("b", "From b"), QUESTION)
    fixed = ContextProvider(kind="text", text="Fixed", adds="user")
    now = agent(providers=(then.providers[1], fixed, then.providers[0]))
    found = expected(now, sent, None, then, "Write.")
    assert texts(found.messages) == ["Write.", "From b", "Fixed", "From a", "Question"]


def test_compaction_is_followed() -> None:
    sent = tuple(user(f"Message {n}") for n in range(6))
    then = agent()
    window = agent(compaction=Compaction(strategy="sliding_window", keep_last=2))
    found = expected(window, sent, None, then, "Write.")
    assert texts(found.messages) == ["Write.", "Message 4", "Message 5"]
    assert found.changed
    short = agent(compaction=Compaction(strategy="truncation", most=3, target=1))
    assert texts(expected(short, sent, None, then, "Write.").messages) == ["Write.", "Message 5"]


def test_what_compaction_did_in_the_run_stays() -> None:
    sent = (user("Message 4"), user("Message 5"))
    node = agent(compaction=Compaction(strategy="sliding_window", keep_last=2))
    same = expected(node, sent, None, node, "Write.")
    assert (texts(same.messages), same.note) == (["Write.", "Message 4", "Message 5"], "")
    renamed = node.model_copy(update={"instructions": "Short."})
    assert texts(expected(renamed, sent, None, node, "Write.").messages) == ["Short.", "Message 4", "Message 5"]
    without = expected(agent(), sent, None, node, "Write.")
    assert texts(without.messages) == ["Write.", "Message 4", "Message 5"]
    assert without.note == "What compaction left out in the last run is not here."


def test_compaction_that_cannot_be_followed_says_so() -> None:
    sent = tuple(user(f"Message {n}") for n in range(6))
    summed = expected(agent(compaction=Compaction(strategy="summarizing", target=1)), sent, None, agent(), "Write.")
    assert len(summed.messages) == 7
    assert summed.note == "A model writes the summary: what it says is only known in a run."
    wrong = expected(
        agent(compaction=Compaction(strategy="truncation", most=1, target=5)), sent, None, agent(), "Write."
    )
    assert wrong.note.startswith("Compaction cannot run: ")


def test_a_compaction_among_the_providers_shortens_what_stands_before_it() -> None:
    then = agent(providers=(ContextProvider(kind="history", name="past"),))
    sent = (by("past", "Old"), by("past", "Newer"), QUESTION)
    cut = ContextProvider(kind="compaction", compaction=Compaction(strategy="sliding_window", keep_last=1))
    now = agent(providers=(*then.providers, cut))
    assert texts(expected(now, sent, None, then, "Write.").messages) == ["Write.", "Newer", "Question"]


def test_instructions_of_two_pieces_of_code_side_by_side_are_not_guessed_apart() -> None:
    then = agent(providers=(code("a"), code("b", "result = 'b'")))
    now = then.model_copy(update={"instructions": "Short."})
    found = expected(now, (QUESTION,), None, then, "Write.\nOne\nTwo")
    assert texts(found.messages) == ["Short.", "Question"]
    assert "What the code of a adds to the instructions is only known" in found.note
    assert "What the code of b adds to the instructions is only known" in found.note


def test_the_instructions_of_the_call_are_read_from_its_settings() -> None:
    told = ModelCallStarted(0.0, "writer", "i1", "c1", (), settings='{"instructions": "Write."}')
    assert told_instructions(told) == "Write."
    assert told_instructions(ModelCallStarted(0.0, "writer", "i1", "c1", ())) is None


def test_what_was_sent_begins_with_the_instructions(workspace: Workspace, show: Show, run: FakeRun) -> None:
    recorded(run)
    settings = '{"instructions": "Write."}'
    run.events.append(ModelCallStarted(0.0, "writer", "i1", "c1", (QUESTION, PLAN), settings=settings))
    shown = LastRun(show(InspectorPanel).theme, workspace, "writer")
    shown.refresh()
    assert [row._text for row in shown.findChildren(MessageRow)] == ["Write.", "Question", "Plan"]
    shown.deleteLater()
