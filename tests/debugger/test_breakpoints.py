"""Breakpoints of every kind, on real sessions."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import Usage
from studio.agents.tools import Tool
from studio.debugger.breakpoints import Breakpoint, Breakpoints, When, from_json, problem, to_json, words
from studio.debugger.session import RunSession
from studio.debugger.states import RunState
from studio.document.conditions import Condition, Rule
from studio.document.model import AgentNode, DirectEdge, FanInEdge, FanOutEdge, SubWorkflowNode, Workflow
from studio.engine import AgentHost, Context, FunctionExecutor, WorkflowBuilder
from studio.engine import Workflow as Graph
from studio.engine import events as ev
from studio.engine.hosts.subworkflow import SubWorkflowExecutor

from tests.debugger.graphs import Asker, Bench, chain, diamond, last, until, upper
from tests.fakes.scripted_client import ScriptedClient

S = RunState


def contains(text: str) -> Condition:
    return Condition(rule=Rule(op="contains", path="text", value=text))


async def paused(session: RunSession) -> str:
    """The sentence, once the session is paused."""
    await until(lambda: session.state is S.PAUSED or session.state in (S.COMPLETED, S.FAILED))
    assert session.state is S.PAUSED, session.sentence
    return session.sentence


async def finished(session: RunSession) -> None:
    session.continue_()
    await session.ended()
    assert session.state is S.COMPLETED, session.failure


def three() -> Graph:
    return chain(upper("a"), upper("b"), last())


def drawn(graph: Graph) -> Workflow:
    """A chain as it is drawn."""
    return Workflow(
        nodes=tuple(AgentNode(id=i, name=i.title()) for i in graph.executors),
        edges=tuple(DirectEdge(id=e.id, source=e.source, target=e.target) for e in graph.edges),
    )


async def run(bench: Bench, *breakpoints: Breakpoint, **more: Any) -> RunSession:
    session = bench.session(breakpoints=Breakpoints(breakpoints), **more)
    session.run()
    return session


# ------------------------------------------------------------------------------------------------------- nodes


async def test_after_a_node_its_messages_are_there_but_it_has_not_ended() -> None:
    bench = Bench(three)
    session = await run(bench, Breakpoint("node", "a", "after"))
    assert await paused(session) == "Paused in superstep 1 — after a"
    assert [e.data for e in bench.kinds(ev.MessageQueued)] == ["go", "go-a"]
    assert bench.kinds(ev.NodeFinished) == []
    await finished(session)
    assert bench.outputs == ["go-a-b"]


async def test_a_condition_decides_and_hits_are_counted() -> None:
    def graph() -> Graph:
        return chain(upper("a"), upper("b"), last())

    bench = Bench(graph)
    breakpoints = Breakpoints([
        Breakpoint("node", "a", condition=contains("nothing"), id="never"),
        Breakpoint("node", "b", condition=contains("go-a"), id="b"),
    ])  # fmt: skip
    session = bench.session(breakpoints=breakpoints)
    session.run()
    await paused(session)
    assert session.paused_at == "b"
    assert breakpoints.hits == {"b": 1}
    await finished(session)


async def test_it_stops_from_the_given_hit_on() -> None:
    count = 0

    async def loop(data: Any, ctx: Context) -> None:
        nonlocal count
        count += 1
        if count < 5:
            ctx.send(f"{count}")
        else:
            ctx.yield_output("done")

    def graph() -> Graph:
        node = FunctionExecutor("loop", loop, accepts=str, sends=(str,), yields=(str,))
        return WorkflowBuilder(node, name="loop").edge(node, node).build()

    bench = Bench(graph)
    session = await run(bench, Breakpoint("node", "loop", from_hit=4))
    await paused(session)
    assert count == 3
    session.continue_()
    await paused(session)
    assert count == 4
    await finished(session)


async def test_a_log_text_is_written_and_nothing_stops() -> None:
    bench = Bench(three)
    breakpoints = Breakpoints([Breakpoint("node", "b", log="b gets {text}; {other}", id="x")])
    session = bench.session(breakpoints=breakpoints)
    session.run()
    await session.ended()
    assert S.PAUSED not in bench.states
    logged = [e for e in bench.kinds(ev.NodeEvent) if e.kind == "breakpoint_logged"]
    assert [(e.node, e.data["text"]) for e in logged] == [("b", "b gets go-a; {other}")]
    assert breakpoints.logged["x"] == logged[0].data["text"]


async def test_a_disabled_one_does_nothing_and_can_be_enabled_while_it_runs() -> None:
    bench = Bench(three)
    breakpoints = Breakpoints([Breakpoint("node", "a", id="a"), Breakpoint("node", "b", enabled=False, id="b")])
    session = bench.session(breakpoints=breakpoints)
    session.run()
    await paused(session)
    breakpoints.switch("b", on=True)
    session.continue_()
    await until(lambda: session.paused_at == "b" and session.state is S.PAUSED)
    await finished(session)


async def test_before_one_of_two_parallel_agents_the_other_finishes_and_no_model_is_called() -> None:
    clients = {id: ScriptedClient([f"reply of {id}"]) for id in ("left", "right")}

    def graph() -> Graph:
        hosts = [AgentHost(Agent(id, client), id) for id, client in clients.items()]
        return diamond(hosts[0], hosts[1])

    bench = Bench(graph)
    session = await run(bench, Breakpoint("node", "right"))
    assert await paused(session) == "Paused in superstep 2 — breakpoint on right"
    assert [e.node for e in bench.kinds(ev.NodeFinished)] == ["start", "left"]
    assert [len(c.requests) for c in clients.values()] == [1, 0]
    assert [e.node for e in bench.kinds(ev.ModelCallStarted)] == ["left"]
    session.stop()
    await session.ended()


# ------------------------------------------------------------------------------------------------------- edges


async def test_an_edge_stops_when_its_message_is_queued_or_delivered() -> None:
    bench, document = Bench(three), drawn(three())
    first, second = (edge.id for edge in document.edges)
    session = await run(bench, Breakpoint("edge", first, "queued"), document=document)
    assert await paused(session) == "Paused before superstep 2 — a has queued a message"
    assert [m.data for m in session.queued] == ["go-a"]
    await finished(session)

    bench = Bench(three)
    session = await run(bench, Breakpoint("edge", second, "delivered"), document=document)
    await paused(session)
    assert session.paused_at == "end"
    assert [e.node for e in bench.kinds(ev.NodeStarted)] == ["a", "b"]
    await finished(session)


@pytest.mark.parametrize("linked", [False, True])
async def test_an_edge_inside_a_sub_workflow_stops_too(linked: bool) -> None:
    inner = drawn(three())
    first, second = (edge.id for edge in inner.edges)
    node = SubWorkflowNode(id="sub", name="Sub", embedded=inner)
    if linked:
        node = SubWorkflowNode(id="sub", name="Sub", path="inner.workflow.json")
    document = Workflow(nodes=(node,))

    def outer() -> Graph:
        return chain(SubWorkflowExecutor(three(), "sub"), last("out"))

    async def stopped_at(when: When, line: str, only: str = "") -> tuple[str, list[str]]:
        bench = Bench(outer)
        bench.linked = {"sub": inner} if linked else {}
        condition = contains(only) if only else None
        session = await run(bench, Breakpoint("edge", f"sub/{line}", when, condition), document=document)
        said = await paused(session)
        ran = [e.node for e in bench.kinds(ev.NodeStarted) if e.inside]
        await finished(session)
        return said, ran

    assert await stopped_at("queued", first) == ("Paused in superstep 1 — a has queued a message", ["a"])
    assert await stopped_at("delivered", second, "go-a-b") == (
        "Paused in superstep 1 — breakpoint on end", ["a", "b"],
    )  # fmt: skip


@pytest.mark.parametrize(("line", "node"), [("0:to:right", "right"), ("0:to:left", "left"), ("1:to:left", "join")])
async def test_the_lines_of_a_fan_out_and_a_fan_in_are_told_apart(line: str, node: str) -> None:
    graph = diamond(upper("left"), upper("right"))
    fan, bar = (edge.id for edge in graph.edges)
    document = Workflow(
        nodes=tuple(AgentNode(id=i, name=i) for i in ("start", "left", "right", "join")),
        edges=(
            FanOutEdge(id=fan, source="start", targets=("left", "right")),
            FanInEdge(id=bar, sources=("left", "right"), target="join"),
        ),
    )
    bench = Bench(lambda: graph)
    session = await run(bench, Breakpoint("edge", f"{(fan, bar)[int(line[0])]}{line[1:]}"), document=document)
    await paused(session)
    assert session.paused_at == node
    await finished(session)


# ------------------------------------------------------------------------------------------ models, tools, people


async def test_a_model_call_is_held_and_named() -> None:
    client = ScriptedClient(["yes"])
    bench = Bench(lambda: chain(upper("a"), AgentHost(Agent("w", client), "w")))
    session = await run(bench, Breakpoint("model", condition=contains("go-a")))
    assert await paused(session) == "Paused in superstep 2 — before the model call of w"
    assert client.requests == []
    await finished(session)
    assert len(client.requests) == 1


def caller(*replies: Any, run: Any = None, name: str = "search") -> Graph:
    """An agent with one tool."""

    async def search(arguments: dict[str, Any]) -> Any:
        ran.append(arguments)
        return {"found": arguments.get("q")}

    ran: list[Any] = []
    tool = Tool(name, "", {"type": "object", "properties": {"q": {"type": "string"}}}, run or search)
    return WorkflowBuilder(AgentHost(Agent("w", ScriptedClient(replies), tools=(tool,)), "w"), name="w").build()


CALL = {"calls": [{"id": "c1", "tool": "search", "arguments": {"q": "x"}}]}


async def test_a_tool_call_is_held_before_and_after_it_runs() -> None:
    ran: list[str] = []

    async def search(arguments: dict[str, Any]) -> Any:
        ran.append(arguments["q"])
        return "result"

    bench = Bench(lambda: caller(CALL, "end", run=search))
    session = await run(bench, Breakpoint("tool", "search"), Breakpoint("tool", "search", "after"))
    assert await paused(session) == "Paused in superstep 1 — before w calls search"
    assert ran == []
    session.continue_()
    await until(lambda: bool(session.held) and session.held[0].at == "tool_after")
    assert ran == ["x"]
    assert session.held[0].data == "result"
    await paused(session)
    await finished(session)


async def test_the_same_call_again_and_again_is_stopped() -> None:
    bench = Bench(lambda: caller(CALL, CALL, CALL, "end"))
    session = await run(bench, Breakpoint("repeats", limit=3))
    assert await paused(session) == "Paused in superstep 1 — the same call 3 times in a row, before w calls search"
    assert len(bench.kinds(ev.ToolFinished)) == 2
    await finished(session)


async def test_a_request_stops_what_would_go_on_beside_it() -> None:
    bench = Bench(lambda: diamond(Asker("left"), upper("right")))
    session = await run(bench, Breakpoint("request", "left"))
    assert await paused(session) == "Paused before superstep 3 — left asks"
    session.continue_()
    await until(lambda: session.state is S.WAITING)
    session.answer({session.requests[0].id: "yes"})
    await session.ended()
    assert bench.outputs == ["yes+go-start-right"]


# --------------------------------------------------------------------------------------------- state and budgets


def counting(values: list[int]) -> FunctionExecutor:
    async def count(data: Any, ctx: Context) -> None:
        for value in values:
            ctx.set_state("score", value)
        ctx.send(data)

    return FunctionExecutor("a", count, accepts=str, sends=(str,))


async def test_a_changed_state_key_stops_after_the_node_that_changed_it() -> None:
    bench = Bench(lambda: chain(counting([5, 5, 9]), last()))
    rule = Condition(rule=Rule(op="compares", path="value", compare=">=", value=8))
    breakpoints = Breakpoints([Breakpoint("state", "score", condition=rule, id="s")])
    session = bench.session(breakpoints=breakpoints)
    session.run()
    assert await paused(session) == "Paused in superstep 1 — a changed score"
    assert breakpoints.hits == {"s": 1}
    await finished(session)


async def test_a_value_that_stays_the_same_is_no_change() -> None:
    bench = Bench(lambda: chain(counting([5, 5, 5]), last()))
    breakpoints = Breakpoints([Breakpoint("state", "score", id="s", log="{value}")])
    session = bench.session(breakpoints=breakpoints)
    session.run()
    await session.ended()
    assert breakpoints.hits == {"s": 1}
    assert breakpoints.logged == {"s": "5"}


def agents() -> Graph:
    usage = Usage(10, 5)
    return chain(*(AgentHost(Agent(i, ScriptedClient([i], usage=usage)), i) for i in ("a", "b", "c")))


@pytest.mark.parametrize(
    ("breakpoint", "sentence"),
    [
        (Breakpoint("tokens", limit=20), "Paused before superstep 3 — more than 20 tokens used"),
        (Breakpoint("cost", limit=0.25), "Paused before superstep 3 — the run has cost more than 0.25"),
        (Breakpoint("supersteps", limit=1), "Paused before superstep 2 — 1 superstep is done"),
    ],
)
async def test_a_budget_stops_once(breakpoint: Breakpoint, sentence: str) -> None:
    def cost(_model: str, usage: Usage) -> float:
        return (usage.output or 0) / 100 * 3

    bench = Bench(agents)
    session = await run(bench, breakpoint, cost_of=cost)
    assert await paused(session) == sentence
    await finished(session)


@pytest.mark.parametrize("off", [True, False])
async def test_what_was_passed_does_not_stop_for_a_breakpoint_that_is_gone_or_off(off: bool) -> None:
    bench = Bench(agents)
    points = Breakpoints([Breakpoint("tokens", limit=20, id="t"), Breakpoint("node", "b", "after", id="b")])
    session = bench.session(breakpoints=points)
    session.run()
    assert await paused(session) == "Paused in superstep 2 — after b"
    points.switch("t", on=False) if off else points.remove("t")
    session.continue_()
    await until(lambda: session.state in (S.PAUSED, S.COMPLETED))
    assert session.state is S.COMPLETED, session.sentence


async def test_a_budget_counts_what_was_used_before_a_run_goes_on() -> None:
    async def said(used: Usage) -> list[str]:
        bench = Bench(agents)
        budget = Breakpoints([Breakpoint("tokens", limit=40, log="{value}")])
        session = bench.session(breakpoints=budget, used=used)
        session.run()
        await session.ended()
        return list(budget.logged.values())

    assert await said(Usage()) == ["45"]
    assert await said(Usage(20, 10)) == ["45"]
    assert await said(Usage(30, 11)) == [], "it was passed before"


async def test_a_fork_passes_the_boundary_where_the_run_stood() -> None:
    bench, document = Bench(three), drawn(three())
    first, second = (edge.id for edge in document.edges)
    points = Breakpoints([Breakpoint("edge", e, "queued") for e in (first, second)])
    session = bench.session(breakpoints=points, document=document)
    session.run()
    assert await paused(session) == "Paused before superstep 2 — a has queued a message"
    assert session.last_checkpoint is not None
    checkpoint = await bench.store.load(session.last_checkpoint)
    passed = session.stands_at
    session.stop()
    await session.ended()
    fork = bench.session(id="fork", checkpoint=checkpoint, breakpoints=points, passed=passed, document=document)
    fork.restore()
    fork.continue_()
    assert await paused(fork) == "Paused before superstep 3 — b has queued a message"
    await finished(fork)


async def test_hits_are_counted_anew_in_each_run() -> None:
    breakpoints = Breakpoints([Breakpoint("supersteps", limit=1, id="s")])
    for id in ("one", "two"):
        bench = Bench(three)
        session = bench.session(id=id, breakpoints=breakpoints)
        session.run()
        await paused(session)
        assert breakpoints.hits == {"s": 1}
        await finished(session)


# ------------------------------------------------------------------------------------------------------- errors


async def test_an_error_is_held_while_the_siblings_finish() -> None:
    async def fails(data: Any, ctx: Context) -> None:
        raise ValueError("bad luck")

    bench = Bench(lambda: diamond(FunctionExecutor("left", fails, accepts=str, sends=(str,)), upper("right")))
    session = await run(bench, Breakpoint("error"))
    assert await paused(session) == "Paused in superstep 2 — left failed: bad luck"
    assert [e.node for e in bench.kinds(ev.NodeFinished)] == ["start", "right"]
    assert bench.kinds(ev.NodeFailed) == []
    session.continue_()
    await session.ended()
    assert session.state is S.FAILED
    assert session.failure.startswith("left failed: ")


async def test_a_held_failure_is_retried_in_its_superstep() -> None:
    failing = True

    async def fails(data: Any, ctx: Context) -> None:
        ctx.send("half")
        if failing:
            raise ValueError("bad luck")
        ctx.send("whole")

    bench = Bench(lambda: chain(FunctionExecutor("a", fails, accepts=str, sends=(str,)), last()))
    session = await run(bench, Breakpoint("error"))
    await paused(session)
    failing = False
    session.retry_failed()
    await session.ended()
    assert session.state is S.COMPLETED
    assert bench.outputs == ["half", "whole"]


# --------------------------------------------------------------------------------------------------- as data


@pytest.mark.parametrize(
    "breakpoint",
    [
        Breakpoint("node", "a", id="a"),
        Breakpoint("edge", "x", "queued", contains("hi"), 3, "text {text}", 0, False, "id"),
        Breakpoint("cost", limit=0.5, id="c"),
        Breakpoint("node", "a", condition=Condition(kind="expression", expression="value.score > 3"), id="e"),
    ],
)
def test_kept_and_read_again(breakpoint: Breakpoint) -> None:
    assert from_json(to_json(breakpoint)) == breakpoint


def test_what_an_earlier_version_kept_is_a_node_to_stop_before() -> None:
    assert from_json("writer") == Breakpoint("node", "writer", id="writer")


@pytest.mark.parametrize("kept", [None, 3, {"kind": "moon"}, {"kind": "node", "place": 4}, {"condition": 7}])
def test_what_nobody_wrote_is_left_out(kept: object) -> None:
    assert from_json(kept) is None


def test_words_and_problems() -> None:
    assert words(Breakpoint("node", "a", "after"), str.upper) == "after A"
    assert words(Breakpoint("tokens", limit=20000), str) == "when the run has used more than 20,000 tokens"
    assert words(Breakpoint("edge", "e", "queued"), str) == "when a message is queued on e"
    assert problem(Breakpoint("cost")) == "A limit above zero is wanted."
    assert problem(Breakpoint("repeats", limit=1)) != ""
    assert problem(Breakpoint("node", "a")) == ""


def test_toggling_takes_every_breakpoint_of_a_place_away() -> None:
    breakpoints = Breakpoints([Breakpoint("node", "a"), Breakpoint("node", "a", "after"), Breakpoint("model", "a")])
    breakpoints.toggle("node", "a")
    assert [b.kind for b in breakpoints] == ["model"]
    breakpoints.toggle("node", "a")
    assert breakpoints.places("node") == {"a"}
