"""The rules W1 to W15, each where it holds and where it must not, on runs of the real engine."""

from __future__ import annotations

import asyncio
from typing import Any

from studio.agents.messages import (
    AgentReply,
    Data,
    Message,
    Text,
    ToolCall,
    ToolResult,
    assistant,
    user,
)
from studio.agents.middleware import AgentRun, Middleware, Next
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.debugger.context.inspection import Inspection
from studio.document.agent_options import TurnTokenSettings
from studio.document.model import AgentNode
from studio.engine import Context, FunctionExecutor, WorkflowBuilder
from studio.engine import events as ev
from studio.engine.hosts.turn_routing import ChatStart
from studio.engine.values import TurnToken

from tests.debugger.context.runs import LONG_REPLY, agent, code, drawn, function, inspected, of, record, turns

TWO = drawn("writer", "editor", edges=[("writer", "editor")])


# ------------------------------------------------------------------------------------------------------------ W1


async def test_w1_two_nodes_with_one_session_and_the_whole_conversation() -> None:
    shared = Session()
    a, b = agent("writer", "A draft.", session=shared), agent("editor", "Fine.", session=shared)
    inspection = await inspected(TWO, WorkflowBuilder(a, name="t").chain([a, b]).build(), "Write about storage.")
    (found,) = of(inspection, "W1")
    assert (found.node, found.severity, len(found.items)) == ("editor", "warning", 4)
    assert "Editor sees 2 messages twice: in its history, in the conversation that Writer passed on and" in found.text
    assert found.why
    assert found.fix.startswith("Set the context to last reply only")


async def test_w1_not_with_sessions_of_their_own_nor_for_a_user_who_says_the_same_in_two_turns() -> None:
    a, b = agent("writer", "A draft."), agent("editor", "Fine.")
    plan = WorkflowBuilder(a, name="t").chain([a, b]).build()
    assert not of(await inspected(TWO, plan, "Write about storage."), "W1")
    a = agent("writer", "One.", "Two.", "Three.")
    inspection = await inspected(drawn("writer"), WorkflowBuilder(a, name="t").build(), "Again", "Again", "And more")
    assert [i.text for i in record(inspection, "writer").context].count("Again") == 2
    assert not of(inspection, "W1")


# ------------------------------------------------------------------------------------------------------------ W2


async def test_w2_a_second_node_repeats_the_answer() -> None:
    a, b = agent("writer", LONG_REPLY), agent("editor", LONG_REPLY, context="last_agent")
    plan = WorkflowBuilder(a, name="t", outputs=[a, b]).chain([a, b]).build()
    (found,) = of(await inspected(TWO, plan, "Prices?"), "W2")
    assert (found.node, found.severity) == ("editor", "error")
    assert found.text.startswith("Writer and Editor showed the same: “Storage prices fell")


async def test_w2_two_answers_to_one_request_one_after_the_other() -> None:
    a, b = agent("writer", "No idea."), agent("editor", "It is 42, as far as anybody knows today.")
    plan = WorkflowBuilder(a, name="t", outputs=[a, b]).chain([a, b]).build()
    (found,) = of(await inspected(TWO, plan, "Prices?"), "W2")
    assert (found.text, found.severity) == ("Writer and Editor both answered “Prices?”.", "info")
    a, b = agent("writer", "No idea."), agent("editor", "It is 42, as far as anybody knows today.")
    start = function("start", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    late = function("late", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    plan = WorkflowBuilder(start, name="t", outputs=[a, b]).fan_out(start, [a, late]).edge(late, b).build()
    document = drawn(code("start"), "writer", code("late"), "editor", edges=[("start", "writer"), ("late", "editor")])
    (found,) = of(await inspected(document, plan, "Prices?"), "W2")
    assert (found.node, found.severity) == ("editor", "error")


async def test_w2_not_for_branches_side_by_side_nor_for_short_answers_to_two_requests() -> None:
    start = function("start", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    left, right = agent("left", "Yes, it is."), agent("right", "No, I think not.")
    plan = WorkflowBuilder(start, name="t", outputs=[left, right]).fan_out(start, [left, right]).build()
    document = drawn(code("start"), "left", "right", edges=[("start", "left"), ("start", "right")])
    assert not of(await inspected(document, plan, "Is it?"), "W2")
    a = agent("writer", "ok")
    inspection = await inspected(drawn("writer"), WorkflowBuilder(a, name="t").build(), "Do this", "Do that")
    assert len([r for r in inspection.run.records.values() if r.shown]) == 2
    assert not of(inspection, "W2")


# ------------------------------------------------------------------------------------------------------------ W3


async def test_w3_a_node_took_the_request_and_sent_nothing() -> None:
    a = function("script", lambda data, ctx: None, accepts=str)
    inspection = await inspected(drawn(code("script")), WorkflowBuilder(a, name="t").build(), "Where is my parcel?")
    (found,) = of(inspection, "W3")
    assert (found.severity, found.node) == ("error", "script")
    assert found.text == "Nobody answered “Where is my parcel?”. Script had it last."


async def test_w3_not_if_somebody_down_the_line_answers_or_a_person_is_asked() -> None:
    a = function("first", lambda data, ctx: ctx.send(data.upper()), accepts=str, sends=(str,))
    b = function("last", lambda data, ctx: ctx.yield_output(data), accepts=str)
    document = drawn(code("first"), code("last"), edges=[("first", "last")])
    assert not of(await inspected(document, WorkflowBuilder(a, name="t").chain([a, b]).build(), "hello"), "W3")
    asks = function("ask", lambda data, ctx: ctx.request("Which one?", str), accepts=str)
    inspection = await inspected(drawn(code("ask")), WorkflowBuilder(asks, name="t").build(), "Send it")
    assert inspection.run.pending
    assert not of(inspection, "W3")


async def test_w3_a_question_to_a_person_is_a_reply_but_its_answer_wants_one_too() -> None:
    asks = function("ask", lambda data, ctx: ctx.request("Which one?", str), accepts=str)
    plan = WorkflowBuilder(asks, name="t").build()
    inspection, events = Inspection(drawn(code("ask"))), list[ev.Event]()
    asked = await plan.run("Send it", events=events)
    await plan.run(answers={asked.requests[0].id: "The second, by Friday"}, events=events)
    for event in events:
        inspection.fold(event)
    assert [finding.text for finding in of(inspection, "W3")] == ["Nobody answered “The second, by Friday”."]


# ------------------------------------------------------------------------------------------------------------ W4


def before_call(seen: list[Message], *, replied: bool) -> Inspection:
    """A sibling had a request and maybe answered; then an agent is given ``seen`` as the conversation of a third."""
    document = drawn("sibling", "agent", edges=[("sibling", "agent")])
    inspection, question = Inspection(document), user("Is the parcel on its way?")
    events: list[Any] = [
        ev.RunStarted(0, "input", question),
        ev.NodeStarted(0, 1, "sibling", "s", (), question),
        *([ev.OutputYielded(1, 1, "sibling", "s", assistant("Yes, it is."))] if replied else []),
        ev.NodeFinished(1, 1, "sibling", "s"),
        ev.MessageQueued(1, 1, "m", "sibling", None, [*seen], "s", "forward"),
        ev.MessageRouted(1, 2, "m", "sibling-agent", "sibling", "agent", delivered=True),
        ev.NodeStarted(2, 2, "agent", "a", ("sibling",), [*seen]),
    ]
    for event in events:
        inspection.fold(event)
    return inspection


def test_w4_warns_before_the_call_if_the_answer_was_only_shown() -> None:
    question = user("Is the parcel on its way?")
    inspection = before_call([question], replied=True)
    (found,) = inspection.before_call("agent", (question,))
    assert (found.rule, found.severity, found.node) == ("W4", "warning", "agent")
    assert "Sibling has answered it already" in found.text
    inspection.fold(ev.ModelCallStarted(3, "agent", "a", "m1", (question,)))
    assert [f.text for f in of(inspection, "W4")] == [found.text]


def test_w4_not_if_the_answer_is_there_or_there_is_none() -> None:
    question, answer = user("Is the parcel on its way?"), assistant("Yes, it is.")
    inspection = before_call([question, answer], replied=True)
    assert not inspection.before_call("agent", (question, answer))
    inspection = before_call([question], replied=False)
    assert not inspection.before_call("agent", (question,))


# ------------------------------------------------------------------------------------------------------ W5, W6


async def w5(returned: str) -> Inspection:
    def topic(data: str, ctx: Context) -> None:
        ctx.yield_output("Your parcel left Hamburg this morning.")
        ctx.send(returned)

    a, b = function("topic", topic, accepts=str, sends=(str,)), agent("agent", "Anything else?")
    document = drawn(code("topic"), "agent", edges=[("topic", "agent")])
    return await inspected(document, WorkflowBuilder(a, name="t", outputs=[a, b]).chain([a, b]).build(), "Where is it?")


async def test_w5_a_text_was_shown_and_only_a_flag_returned() -> None:
    (found,) = of(await w5("done"), "W5")
    assert (found.node, found.text) == (
        "topic",
        "Topic showed “Your parcel left Hamburg this morning.” and did not send it on.",
    )


async def test_w5_not_if_it_was_sent_too() -> None:
    assert not of(await w5("Your parcel left Hamburg this morning."), "W5")


async def test_w6_a_silent_node_and_worse_if_only_it_had_the_request() -> None:
    def both(data: str, ctx: Context) -> None:
        ctx.send(f"{data}!")

    a, b = function("first", both, accepts=str, sends=(str,)), function("quiet", lambda data, ctx: None, accepts=str)
    document = drawn(code("first"), code("quiet"), edges=[("first", "quiet")])
    (found,) = of(await inspected(document, WorkflowBuilder(a, name="t").chain([a, b]).build(), "go"), "W6")
    assert (found.node, found.severity) == ("quiet", "info")
    alone = await inspected(drawn(code("quiet")), WorkflowBuilder(b, name="t").build(), "go")
    assert [(f.node, f.severity) for f in of(alone, "W6")] == [("quiet", "warning")]


async def test_w6_not_for_a_node_that_yields_or_asks() -> None:
    a = function("loud", lambda data, ctx: ctx.yield_output(data), accepts=str)
    assert not of(await inspected(drawn(code("loud")), WorkflowBuilder(a, name="t").build(), "go"), "W6")
    a = function("ask", lambda data, ctx: ctx.request("?", str), accepts=str)
    assert not of(await inspected(drawn(code("ask")), WorkflowBuilder(a, name="t").build(), "go"), "W6")


async def test_w6_not_for_a_node_that_took_one_of_two_answers() -> None:
    calls = {"calls": [{"id": id, "tool": "ask", "arguments": {}} for id in ("c1", "c2")]}
    a = agent("writer", calls, "Both are in.", tools=(Tool("ask", "", {"type": "object"}),))
    plan = WorkflowBuilder(a, name="t", outputs=[a]).build()
    inspection, events = Inspection(drawn("writer")), list[ev.Event]()
    asked = await plan.run("Ask twice", events=events)
    await plan.run(answers={r.id: ToolResult(r.data.call_id, "yes") for r in asked.requests}, events=events)
    for event in events:
        inspection.fold(event)
    assert len(inspection.run.records) == 3
    assert not of(inspection, "W6")


# ----------------------------------------------------------------------------------------------------------- W7


async def w7(word: str) -> Inspection:
    a = function("first", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    b = function("second", lambda data, ctx: ctx.yield_output(data), accepts=str)
    plan = WorkflowBuilder(a, name="t").edge(a, b, condition=lambda data: data == "good", edge_id="e").build()
    return await inspected(drawn(code("first"), code("second"), edges=[("first", "second")]), plan, word)


async def test_w7_a_condition_lets_the_message_go_nowhere() -> None:
    inspection = await w7("bad")
    (found,) = of(inspection, "W7")
    assert found.text == "“bad” of First went nowhere: the condition was not met."
    assert [i.note for i in inspection.hidden(record(inspection, "first"))] == ["dropped"]


async def test_w7_not_if_delivered_nor_behind_the_last_node() -> None:
    assert not of(await w7("good"), "W7")
    a = function("only", lambda data, ctx: (ctx.send(data), ctx.yield_output(data)), accepts=str, sends=(str,))
    assert not of(await inspected(drawn(code("only")), WorkflowBuilder(a, name="t").build(), "go"), "W7")


# ------------------------------------------------------------------------------------ turn tokens: W8, W9, W15


def hosted(*ids: str, **settings: Any) -> list[AgentNode]:
    """Drawn turn-token agents."""
    made = TurnTokenSettings(**settings)
    return [AgentNode(id=id, name=id.title(), host="turn_token", turn_token=made) for id in ids]


async def w8(*, lets_tokens: bool) -> Inspection:
    start, a, b = ChatStart(), turns("one", "Hello."), turns("two", "Hi.")
    builder = WorkflowBuilder(start, name="t").edge(start, a)
    plan = builder.edge(a, b, condition=lambda data: lets_tokens or not isinstance(data, TurnToken)).build()
    return await inspected(drawn(*hosted("one", "two"), edges=[("one", "two")]), plan, "Hi")


async def test_w8_the_token_was_dropped_on_the_way() -> None:
    (found,) = of(await w8(lets_tokens=False), "W8")
    assert (found.node, found.text) == ("two", "2 messages wait in Two, and its turn token did not come.")


async def test_w8_not_if_the_token_came() -> None:
    assert not of(await w8(lets_tokens=True), "W8")


async def test_w9_a_diamond_into_one_host() -> None:
    start, a, b, c = ChatStart(), turns("one", "A"), turns("two", "B"), turns("end", "C")
    plan = WorkflowBuilder(start, name="t").fan_out(start, [a, b]).edge(a, c).edge(b, c).build()
    document = drawn(*hosted("one", "two", "end"), edges=[("one", "end"), ("two", "end")])
    (found,) = of(await inspected(document, plan, "Hi"), "W9")
    assert (found.node, found.text) == ("end", "End took 2 turns in superstep 3.")


async def test_w9_not_in_a_chain() -> None:
    assert not of(await w8(lets_tokens=True), "W9")


async def w15(option: bool | None) -> Inspection:
    start, a = ChatStart(emit_events=True), turns("one", "A")
    plan = WorkflowBuilder(start, name="t").edge(start, a).build()
    return await inspected(drawn(*hosted("one", emit_agent_update_events=option)), plan, "Hi", stream=True)


async def test_w15_the_token_overrules_the_option() -> None:
    (found,) = of(await w15(False), "W15")
    assert found.text == "One shows its updates, because the token of its turn says so."


async def test_w15_not_if_they_agree_or_nothing_is_set() -> None:
    assert not of(await w15(True), "W15")
    assert not of(await w15(None), "W15")


# ---------------------------------------------------------------------------------------------------------- W10


async def w10(*, both: bool) -> Inspection:
    def right(data: str, ctx: Context) -> None:
        if both:
            ctx.send(data)

    start = function("start", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    a = function("left", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    b = function("right", right, accepts=str, sends=(str,))
    join = function("join", lambda data, ctx: ctx.yield_output("+".join(data)), accepts=list)
    plan = WorkflowBuilder(start, name="t").fan_out(start, [a, b]).fan_in([a, b], join).build()
    nodes = [code(id) for id in ("start", "left", "right", "join")]
    document = drawn(*nodes, edges=[("start", "left"), ("start", "right")], joins=[(("left", "right"), "join")])
    return await inspected(document, plan, "go")


async def test_w10_a_join_keeps_what_one_source_sent() -> None:
    (found,) = of(await w10(both=False), "W10")
    assert (found.node, found.text) == ("left", "Join still keeps 1 message from Left.")


async def test_w10_not_if_the_join_was_complete() -> None:
    assert not of(await w10(both=True), "W10")


async def test_w10_not_if_the_join_was_complete_whoever_was_ready_first() -> None:
    """A join takes its sources in their order; here the first of them was ready last."""
    right_sent = asyncio.Event()

    async def left(data: str, ctx: Context) -> None:
        await right_sent.wait()
        ctx.send(data)

    def right(data: str, ctx: Context) -> None:
        ctx.send(data)
        right_sent.set()

    start = function("start", lambda data, ctx: ctx.send(data), accepts=str, sends=(str,))
    a = FunctionExecutor("left", left, accepts=str, sends=(str,), yields=())
    b = function("right", right, accepts=str, sends=(str,))
    join = function("join", lambda data, ctx: ctx.yield_output("+".join(data)), accepts=list)
    plan = WorkflowBuilder(start, name="t").fan_out(start, [a, b]).fan_in([a, b], join).build()
    nodes = [code(id) for id in ("start", "left", "right", "join")]
    document = drawn(*nodes, edges=[("start", "left"), ("start", "right")], joins=[(("left", "right"), "join")])
    inspection = await inspected(document, plan, "go")
    assert [sent.source for sent in inspection.run.sent.values()][-2:] == ["right", "left"]
    assert not of(inspection, "W10")


# ----------------------------------------------------------------------------------------------------- W11, W12


async def w11(*, answered: bool) -> Inspection:
    def form(data: str, ctx: Context) -> None:
        ctx.yield_output(Message("assistant", (Text("Pick one"), Data("data:application/json,{}"))))
        if answered:
            ctx.send("picked")

    a, b = function("form", form, accepts=str, sends=(str,)), function("end", lambda data, ctx: None, accepts=str)
    document = drawn(code("form"), code("end"), edges=[("form", "end")])
    return await inspected(document, WorkflowBuilder(a, name="t", outputs=[a]).chain([a, b]).build(), "go")


async def test_w11_a_card_was_shown_and_nothing_returned() -> None:
    (found,) = of(await w11(answered=False), "W11")
    assert found.text == "Form showed data that is in none of its outputs."


async def test_w11_not_if_an_output_was_set() -> None:
    assert not of(await w11(answered=True), "W11")


def w12(*parts: Any) -> list[str]:
    """What is found before a call with these parts behind a question."""
    inspection = Inspection(drawn("agent"))
    question = user("Go")
    inspection.fold(ev.RunStarted(0, "input", question))
    inspection.fold(ev.NodeStarted(0, 1, "agent", "a", (), question))
    rest = tuple(Message("tool" if isinstance(p, ToolResult) else "assistant", (p,)) for p in parts)
    return [f.text for f in inspection.before_call("agent", (*rest, question))]


def test_w12_half_a_turn_in_the_history() -> None:
    assert w12(ToolCall("c1", "add")) == ["Agent is about to send the call of add without the other half."]
    assert w12(ToolResult("c1", "3")) == ["Agent is about to send the result of c1 without the other half."]
    assert w12(ToolResult("c1", "3"), ToolCall("c1", "add"))[0].count("without the other half") == 1


def test_w12_not_for_whole_pairs() -> None:
    assert w12(ToolCall("c1", "add"), ToolCall("c2", "add"), ToolResult("c2", "4"), ToolResult("c1", "3")) == []


# ----------------------------------------------------------------------------------------------------- W13, W14


async def w13(**fields: Any) -> Inspection:
    long = "Tell me everything about storage. " * 20
    context = fields.get("context", "full")
    a, b = agent("writer", "Ok."), agent("editor", "Fine.", context=context)
    node = AgentNode(id="editor", name="Editor", **fields)
    document = drawn("writer", node, edges=[("writer", "editor")])
    return await inspected(document, WorkflowBuilder(a, name="t").chain([a, b]).build(), long)


async def test_w13_mostly_the_conversation_of_others() -> None:
    (found,) = of(await w13(tools=("add",)), "W13")
    assert found.text.startswith("99 % of what Editor reads is conversation passed on")


async def test_w13_not_without_tools_nor_with_the_last_reply_only() -> None:
    assert not of(await w13(), "W13")
    assert not of(await w13(tools=("add",), context="last_agent"), "W13")


async def test_w14_agent_middleware_replaces_the_answer() -> None:
    async def polite(run: AgentRun, call_next: Next) -> None:
        await call_next()
        run.result = AgentReply((assistant("I would rather not say."),))

    a, b = agent("writer", "It is 42.", middleware=Middleware(agent=(polite,))), agent("editor", "Fine.")
    (found,) = of(await inspected(TWO, WorkflowBuilder(a, name="t").chain([a, b]).build(), "What is it?"), "W14")
    assert found.text == "Writer sent “I would rather not say.” where the model said “It is 42.”."


async def test_w14_not_if_the_model_is_taken_at_its_word() -> None:
    a, b = agent("writer", "It is 42."), agent("editor", "Fine.")
    assert not of(await inspected(TWO, WorkflowBuilder(a, name="t").chain([a, b]).build(), "What is it?"), "W14")
