"""What records say: origins, columns, who has a fact, the export; also read back from a log; warnings in a session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from studio.agents.context_providers import HistoryProvider
from studio.agents.messages import Message, ToolCall, assistant, user
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.debugger.context.inspection import Inspection
from studio.debugger.context.items import digest_of, likeness
from studio.debugger.event_codec import EventDecoder, EventEncoder
from studio.debugger.states import RunState
from studio.engine import Codec, WorkflowBuilder
from studio.engine import events as ev

from tests.debugger.context.runs import agent, code, drawn, function, inspected, record
from tests.debugger.graphs import Bench, until
from tests.fakes.scripted_client import ScriptedError

TWO = drawn("writer", "editor", edges=[("writer", "editor")])


def origins(inspection: Inspection, node: str, call: int = -1) -> list[tuple[str, str, str]]:
    return [(i.role, i.text, i.origin) for i in record(inspection, node).seen[call]]


async def test_origins_of_a_conversation_passed_on() -> None:
    a, b = agent("writer", "A draft."), agent("editor", "Fine.")
    inspection = await inspected(TWO, WorkflowBuilder(a, name="t").chain([a, b]).build(), "Write.")
    assert origins(inspection, "writer") == [("user", "Write.", "explicit_input")]
    assert origins(inspection, "editor") == [
        ("user", "Write.", "implicit_conversation"),
        ("assistant", "A draft.", "explicit_input"),
    ]
    writer = record(inspection, "writer")
    assert [i.text for i in writer.explicit_out] == ["A draft."]
    assert [i.text for i in writer.implicit_out] == ["Write."]
    assert [i.text for i in writer.shown] == ["A draft."]


async def test_the_session_is_history_and_calls_of_tools_are_of_the_loop() -> None:
    async def add(**_arguments: object) -> str:
        return "3"

    calls = {"calls": [{"id": "c1", "tool": "add", "arguments": {"a": 1}}]}
    tool = Tool("add", "Adds.", {"type": "object"}, add)
    a = agent("writer", calls, "Three.", "Again three.", tools=(tool,), instructions="Add up.")
    inspection = await inspected(drawn("writer"), WorkflowBuilder(a, name="t").build(), "1+2?", "Sure?")
    first = next(iter(inspection.run.records.values()))
    assert [[i.origin for i in call] for call in first.seen] == [
        ["instructions", "explicit_input"],
        ["instructions", "explicit_input", "tool_loop", "tool_loop"],
    ]
    assert origins(inspection, "writer")[0] == ("system", "Add up.", "instructions")
    assert [o for *_, o in origins(inspection, "writer")] == ["instructions", *["history"] * 4, "explicit_input"]
    assert first.seen[0][1].id == first.seen[1][1].id


async def test_a_log_that_is_read_back_gives_the_same_origins_and_findings() -> None:
    shared = Session()
    a, b = agent("writer", "A draft.", session=shared), agent("editor", "Fine.", session=shared)
    events: list[ev.Event] = []
    await WorkflowBuilder(a, name="t").chain([a, b]).build().run("Write.", events=events)
    encoder, decoder = EventEncoder(Codec()), EventDecoder(Codec())
    live, read = Inspection(TWO), Inspection(TWO)
    for event in events:
        live.fold(event)
        again = decoder.decode(encoder.encode(event))
        assert again is not None
        read.fold(again)
    assert origins(read, "editor") == origins(live, "editor")
    assert [o for *_, o in origins(read, "editor")] == [
        "history", "history", "implicit_conversation", "explicit_input"
    ]  # fmt: skip
    assert [f.text for f in read.findings()] == [f.text for f in live.findings()]


async def test_who_has_a_fact_and_who_has_not() -> None:
    a = agent("writer", "The code is 7341.")
    b, c = agent("editor", "Noted.", context="last_agent"), agent("end", "Bye.", context="last_agent")
    document = drawn("writer", "editor", "end", edges=[("writer", "editor"), ("editor", "end")])
    inspection = await inspected(document, WorkflowBuilder(a, name="t").chain([a, b, c]).build(), "What is the code?")
    assert [(h.record.node, h.exact, h.point_of_view) for h in inspection.who_has("7341")] == [
        ("editor", False, "Sub-agent")
    ]
    assert [h.exact for h in inspection.who_has("the CODE  is 7341.")] == [True]
    assert inspection.who_has("nothing of it") == []
    assert inspection.who_has("  ") == []


async def test_hidden_state_that_nothing_reads() -> None:
    def work(data: str, ctx: object) -> None:
        ctx.set_state("notes", "for nobody")  # type: ignore[attr-defined]
        ctx.yield_output(data)  # type: ignore[attr-defined]

    a = function("work", work, accepts=str)
    inspection = await inspected(drawn(code("work")), WorkflowBuilder(a, name="t").build(), "go")
    assert [(i.note, i.origin_ref, i.text) for i in inspection.hidden(record(inspection, "work"))] == [
        ("state", "notes", "for nobody")
    ]
    read = drawn(code("work").model_copy(update={"body": "result = ctx.get_state('notes')"}))
    inspection = await inspected(read, WorkflowBuilder(a, name="t").build(), "go")
    assert inspection.hidden(record(inspection, "work")) == []


async def test_the_export_names_everything_and_mutes_nothing() -> None:
    shared = Session()
    a, b = agent("writer", "A draft.", session=shared), agent("editor", "Fine.", session=shared)
    inspection = await inspected(TWO, WorkflowBuilder(a, name="t", outputs=[b]).chain([a, b]).build(), "Write.")
    told = inspection.to_json()
    assert [r["node"] for r in told["records"]] == ["Writer", "Editor"]
    assert [w["rule"] for w in told["warnings"]] == ["W1"]
    item = told["records"][1]["seen"][0][0]
    assert (item["role_seen"], item["origin"], item["text"]) == ("user", "history", "Write.")
    assert inspection.findings(muted={("W1", "editor")}) == []


def test_digests_leave_roles_authors_case_and_white_space_out() -> None:
    assert digest_of(user("Hello  World")) == digest_of(assistant("hello world", "Writer"))
    assert digest_of(user("Hello")) != digest_of(user("Hallo"))
    assert digest_of(ToolCall("a", "add", "{}")) == digest_of(ToolCall("b", "add", "{}"))
    assert likeness("a b c d", "a b c d") == 1
    assert likeness("a b c d", "x y z w") == 0


async def test_a_session_warns_of_half_a_turn_before_the_call_also_while_a_breakpoint_holds_it() -> None:
    session = Session(messages=[user("add"), assistant("")])
    session.messages[-1] = session.messages[-1].__class__("assistant", (ToolCall("c1", "add"),))
    document = drawn("writer")
    bench = Bench(lambda: WorkflowBuilder(agent("writer", "Ok.", session=session), name="t").build())
    points = Breakpoints([Breakpoint("model")])
    run = bench.session("Go on", breakpoints=points, document=document)
    run.run()
    await until(lambda: run.state is RunState.PAUSED)
    (warned,) = bench.kinds(ev.RunWarned)
    assert not bench.kinds(ev.ModelCallStarted)
    assert warned.node == "writer"
    assert warned.message.startswith("W12 Orphan call. Writer is about to send the call of add without the other half.")
    run.continue_()
    await run.ended()
    assert len(bench.kinds(ev.RunWarned)) == 1


async def test_what_a_turn_leaves_in_its_history() -> None:
    a = agent("writer", "A draft.", "Better.")
    inspection = await inspected(drawn("writer"), WorkflowBuilder(a, name="t").build(), "Write.", "Again.")
    first, second = inspection.run.records.values()
    assert [(i.role, i.text, i.origin_ref) for i in first.written] == [
        ("user", "Write.", "session"),
        ("assistant", "A draft.", "session"),
    ]
    assert [i.text for i in second.written] == ["Again.", "Better."], "what is known already is not written again"


async def test_a_turn_that_failed_writes_no_history_and_other_histories_are_named() -> None:
    class Audit(HistoryProvider):
        async def get_messages(self, session: Session, state: dict[str, Any]) -> list[Message]:
            return []

        async def save_messages(self, session: Session, messages: Sequence[Message], state: dict[str, Any]) -> None:
            state["count"] = len(messages)

    audit = Audit("audit", load=False, store_inputs=False)
    a = agent("writer", "A draft.", {"error": "down"}, providers=(audit,))
    plan = WorkflowBuilder(a, name="t").build()
    inspection = await inspected(drawn("writer"), plan, "Write.")
    assert [(i.text, i.origin_ref) for i in record(inspection, "writer").written] == [
        ("Write.", "session"), ("A draft.", "session"), ("A draft.", "audit"),
    ]  # fmt: skip
    with pytest.raises(ScriptedError):
        await inspected(drawn("writer"), plan, "Again.")
    assert a.session.messages[-1].text == "A draft."
