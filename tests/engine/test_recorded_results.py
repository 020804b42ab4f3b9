"""What a debugger takes instead of a node, a model or a tool, and a failed node that runs again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from studio.agents import ChatRequest
from studio.agents.messages import AgentReply, Message, ToolCall, ToolResult, user
from studio.agents.tools import Tool
from studio.engine import Codec, Context, MemoryStore, Workflow, WorkflowBuilder
from studio.engine.events import ModelCallFinished, ModelCallStarted, NodeEvent, ToolFinished
from studio.engine.gate import Hooks
from studio.engine.results import Asked, Invocation, NodeResult, Retry, Sent, Wrote, Yielded

from tests.engine.nodes import ending, host, joining, node, passing, seen


class Recording(Hooks):
    """Keeps what every node, model and tool gave, and gives it again in the same order."""

    def __init__(self, tape: Recording | None = None) -> None:
        self.nodes: list[tuple[str, Any, NodeResult]] = []
        self.replies: list[tuple[str, AgentReply]] = []
        self.tape = tape

    async def node_recorded(self, at: Invocation, data: Any, result: NodeResult) -> None:
        self.nodes.append((at.node, data, result))

    def append(self, event: Any) -> None:
        """The sink of the run's events: answers of models are told there."""
        if isinstance(event, ModelCallFinished) and event.reply is not None:
            self.replies.append((event.node, event.reply))


class Nodes(Recording):
    """Takes every node from the tape."""

    async def result_of_node(self, at: Invocation, data: Any) -> NodeResult | None:
        assert self.tape is not None
        return next(result for node, given, result in self.tape.nodes if (node, given) == (at.node, data))


class Models(Recording):
    """Takes every model call from the tape."""

    async def result_of_model(self, at: Invocation, request: ChatRequest) -> AgentReply | None:
        assert self.tape is not None
        return next((reply for node, reply in self.tape.replies if node == at.node), None)


def agents(*replies: str) -> tuple[Workflow, list[Any]]:
    hosts = [host(id, *([reply] if reply else [])) for id, reply in zip("ab", replies, strict=True)]
    return WorkflowBuilder(hosts[0], name="w").edge(hosts[0], hosts[1]).build(), hosts


async def test_a_whole_run_from_recorded_nodes_calls_no_model_and_leaves_the_same_state() -> None:
    tape = Recording()
    first, _ = agents("one", "two")
    result = await first.run("go", gate=tape, events=tape)
    again, hosts = agents("", "")
    gate = Nodes(tape)
    replayed = await again.run("go", gate=gate)
    assert [r.text for r in replayed.outputs] == [r.text for r in result.outputs] == ["one", "two"]
    assert [seen(h) for h in hosts] == [[], []]
    assert gate.nodes == tape.nodes
    was, is_ = await first.capture(), await again.capture()
    assert is_.executors == was.executors
    assert is_.executors["b"]["session"]["messages"][-1].text == "two"


async def test_recorded_replies_stream_and_count() -> None:
    tape = Recording()
    await agents("one", "two")[0].run("go", gate=tape, events=tape)
    again, hosts = agents("", "")
    events: list[Any] = []
    result = await again.run("go", gate=Models(tape), stream=True, events=events)
    assert [u.text for u in result.outputs if u.text] == ["one", "two"]
    assert [seen(h) for h in hosts] == [[], []]
    assert [e.node for e in events if isinstance(e, ModelCallStarted)] == ["a", "b"]


async def test_a_call_that_is_not_recorded_goes_to_the_model() -> None:
    tape = Recording()
    await agents("one", "two")[0].run("go", gate=tape, events=tape)
    del tape.replies[1:]
    again, hosts = agents("", "new")
    result = await again.run("go", gate=Models(tape))
    assert [r.text for r in result.outputs] == ["one", "new"]
    assert seen(hosts[0]) == []
    assert [text for _, text in seen(hosts[1])[0]] == ["go", "one"]


async def test_a_pinned_and_a_muted_node() -> None:
    class Pins(Hooks):
        async def result_of_node(self, at: Invocation, data: Any) -> NodeResult | None:
            if at.node == "a":
                return NodeResult((Sent("pinned"),))
            return NodeResult((Sent(data),)) if at.node == "b" else None

    a, b, c = passing("a", "-"), passing("b", "-"), ending("c")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).edge(b, c).build()
    assert (await workflow.run("x", gate=Pins())).outputs == ("pinned",)


async def test_every_effect_is_recorded_in_order_and_done_again() -> None:
    async def busy(data: str, ctx: Context) -> None:
        ctx.set_state("k", [data])
        ctx.send(data, "b", purpose="note")
        ctx.yield_output("out")
        ctx.yield_output("between", intermediate=True)
        ctx.request("sure?", str, "q1")

    def workflow() -> Workflow:
        a, b = node("a", busy), ending("b")
        return WorkflowBuilder(a, name="w").edge(a, b).build()

    tape = Recording()
    first = await workflow().run("x", gate=tape, events=tape)
    assert tape.nodes[0][2].effects == (
        Wrote("k", ["x"]), Sent("x", "b", "note"), Yielded("out"), Yielded("between", True), Asked("q1", "sure?", str),
    )  # fmt: skip
    again = workflow()
    second = await again.run("x", gate=Nodes(tape))
    assert (second.outputs, second.intermediate, second.requests) == (first.outputs, first.intermediate, first.requests)
    assert again.shared_state == {"k": ["x"]}


async def test_a_failed_node_runs_again_as_if_it_had_not_run() -> None:
    tries: list[str] = []

    async def shaky(data: str, ctx: Context) -> None:
        tries.append(data)
        ctx.set_state("k", [*ctx.get_state("k", []), data])
        ctx.send(data)
        ctx.yield_output(data)
        ctx.request("sure?", str, f"q{len(tries)}")
        if len(tries) < 3:
            raise ValueError(f"no {len(tries)}")

    class Mends(Hooks):
        async def node_failed(self, node: str, data: Any, error: Exception, inside: tuple[str, ...]) -> Any:
            return Retry(f"{data}, {error}")

    a, b = node("a", shaky), ending("b")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    events: list[Any] = []
    result = await workflow.run("x", gate=Mends(), events=events)
    assert [e.data["message"] for e in events if isinstance(e, NodeEvent)] == ["no 1", "no 2"]
    last = "x, no 1, no 2"
    assert tries == ["x", "x, no 1", last]
    assert result.outputs == (last, last)
    assert [request.id for request in result.requests] == ["q3"]
    assert workflow.shared_state == {"k": [last]}


async def test_an_agent_that_failed_forgets_the_attempt() -> None:
    class Again(Hooks):
        async def node_failed(self, node: str, data: Any, error: Exception, inside: tuple[str, ...]) -> Any:
            return Retry(data)

    a = host("a", {"error": "overloaded"}, "fine")
    result = await WorkflowBuilder(a, name="w").build().run("go", gate=Again())
    assert [r.text for r in result.outputs] == ["fine"]
    assert seen(a) == [[("user", "go")], [("user", "go")]]


async def test_a_failure_that_nobody_mends_fails_the_run() -> None:
    class Looks(Hooks):
        found: str = ""

        async def node_failed(self, node: str, data: Any, error: Exception, inside: tuple[str, ...]) -> Any:
            self.found = f"{node} {data} {error}"
            return None

    async def wrong(data: str, ctx: Context) -> None:
        raise ValueError("boom")

    gate = Looks()
    workflow = WorkflowBuilder(node("a", wrong), name="w").build()
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x", gate=gate)
    assert gate.found == "a x boom"
    assert workflow.state == "FAILED"


async def test_only_the_failed_node_of_a_superstep_runs_again() -> None:
    """Retry from the last checkpoint: what the node beside it gave is taken from the failed run."""
    calls: list[str] = []
    broken = True

    def workflow() -> Workflow:
        def counted(id: str) -> Any:
            async def run(data: str, ctx: Context) -> None:
                calls.append(id)
                if id == "c" and broken:
                    raise ValueError("boom")
                ctx.send(id)

            return node(id, run)

        a, b, c, d = passing("a"), counted("b"), counted("c"), joining("d")
        return WorkflowBuilder(a, name="w").fan_out(a, [b, c]).fan_in([b, c], d).build()

    store, tape = MemoryStore(Codec()), Recording()
    with pytest.raises(ValueError, match="boom"):
        await workflow().run("x", gate=tape, store=store)
    broken = False

    class Siblings(Hooks):
        async def result_of_node(self, at: Invocation, data: Any) -> NodeResult | None:
            if at.superstep != 2:
                return None
            return next((result for node, given, result in tape.nodes if (node, given) == (at.node, data)), None)

    latest = await store.latest()
    assert latest is not None
    result = await workflow().run(checkpoint=latest.id, gate=Siblings(), store=store)
    assert result.outputs == ("b|c",)
    assert calls == ["b", "c", "c"]


async def test_the_prompt_of_a_call_is_replaced() -> None:
    class Rewrites(Hooks):
        async def before_model_call(self, node: str, messages: Any, inside: tuple[str, ...]) -> Any:
            return [Message("user", (replace(messages[0].parts[0], text="other"),)), user("more")]

    a, events = host("a", "fine"), list[Any]()
    await WorkflowBuilder(a, name="w").build().run("go", gate=Rewrites(), events=events)
    assert seen(a) == [[("user", "other"), ("user", "more")]]
    assert [m.text for e in events if isinstance(e, ModelCallStarted) for m in e.messages] == ["other", "more"]
    assert [m.text for m in a.session.messages] == ["go", "fine"]


async def test_a_tool_is_mocked() -> None:
    ran: list[str] = []

    async def weather(arguments: dict[str, Any]) -> str:
        ran.append(arguments["city"])
        return "rain"

    class Mocks(Hooks):
        async def result_of_tool(self, at: Invocation, call: ToolCall) -> ToolResult | None:
            return ToolResult("of another run", "sun") if "Rome" in call.arguments else None

    def asked(city: str, id: str) -> dict[str, Any]:
        return {"calls": [{"id": id, "tool": "weather", "arguments": {"city": city}}]}

    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    tool = Tool("weather", parameters=parameters, run=weather)
    a = host("a", asked("Rome", "1"), asked("Oslo", "2"), "done", tools=(tool,))
    events: list[Any] = []
    await WorkflowBuilder(a, name="w").build().run("go", gate=Mocks(), events=events)
    assert ran == ["Oslo"]
    assert [(e.call_id, e.result) for e in events if isinstance(e, ToolFinished)] == [("1", "sun"), ("2", "rain")]
