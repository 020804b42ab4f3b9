"""Conversation runner nodes of a drawing: hand-offs, tools in the worker, limits, failed turns, several turns."""

from __future__ import annotations

import sys
from collections import deque
from pathlib import Path
from typing import Any

import pytest
from studio.agents.messages import AgentReply, AgentUpdate
from studio.agents.runner import RunnerSetupError
from studio.assembly import PlanError, compile_plan
from studio.checkpoints import MemoryStore
from studio.debugger.forks import remembered
from studio.document.agent_options import RunnerAgent, RunnerSettings, TurnTokenSettings
from studio.document.model import McpServerDecl, ModuleDecl, OfflineScript, RunnerNode, ToolDecl, Workflow
from studio.engine import events as ev
from studio.engine.codec import Codec
from studio.workers import UserCodeError

from tests.assembly.running import Bench
from tests.assembly.test_kinds import agent, workflow

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def transfer(to: str, id: str = "t1") -> dict[str, Any]:
    return {"calls": [{"id": id, "tool": f"transfer_to_{to}", "arguments": {"reason": "asked for"}}]}


def desk(settings: RunnerSettings | None = None, tools: tuple[str, ...] = ()) -> RunnerNode:
    front = RunnerAgent(id="front", name="Front Desk", instructions="You greet.", handoffs=("billing",))
    billing = RunnerAgent(
        id="billing", name="Billing", instructions="You bill.", specialty="Money", handoffs=("front",), tools=tools
    )
    return RunnerNode(id="desk", name="Desk", agents=(front, billing), settings=settings or RunnerSettings())


def flow(node: RunnerNode, front: list[Any], billing: list[Any], *more: Any, **fields: Any) -> Workflow:
    nodes = {"desk/front": {"replies": front}, "desk/billing": {"replies": billing}}
    nodes |= {n.id: {"replies": [{"echo": "heard "}]} for n in more}
    return workflow([node, *more], offline=OfflineScript(nodes=nodes), **fields)


async def test_a_hand_off_inside_one_node(bench: Bench) -> None:
    ran = await bench.run(flow(desk(), [transfer("billing")], ["You owe 5."], agent("next")), "my bill?")
    assert [(n, type(d), d.text) for n, d in ran.outputs] == [
        ("desk", AgentReply, "You owe 5."),
        ("next", AgentReply, "heard You owe 5."),
    ]
    assert ran.order == ["desk", "next"]
    told = [(e.kind, e.data) for e in ran.events if isinstance(e, ev.NodeEvent)]
    handed = next(data for kind, data in told if kind == "HandedOff")
    assert (handed["source"], handed["target"], handed["reason"]) == ("Front Desk", "Billing", "asked for")
    assert ran.outputs[0][1].messages[-1].author == "Billing"


async def test_streaming_gives_updates_of_whoever_speaks(bench: Bench) -> None:
    ran = await bench.run(flow(desk(), [transfer("billing")], ["You owe 5."]), "my bill?", stream=True)
    texts = [(d.author, d.text) for _, d in ran.outputs if isinstance(d, AgentUpdate) and d.text]
    assert texts == [("Billing", "You owe 5.")]


async def test_the_next_turn_goes_on_with_the_active_agent_also_from_a_checkpoint(bench: Bench) -> None:
    document = flow(desk(), [transfer("billing")], ["You owe 5.", "Still 5."])
    store = MemoryStore(Codec())
    plan = compile_plan(document, bench.source.services(document))
    await plan.engine.run("my bill?", store=store)
    last = await store.latest()
    assert last is not None
    memory = remembered(await store.load(last.id), "desk")
    assert memory is not None
    assert [m.text for m in memory if m.text] == ["my bill?", "You owe 5."]
    again = compile_plan(document, bench.source.services(document))
    await again.engine.run(checkpoint=last.id, store=store)
    events: deque[Any] = deque()
    await again.engine.run("and now?", events=events)
    assert [e.data.text for e in events if isinstance(e, ev.OutputYielded)] == ["Still 5."]


ADD = ToolDecl(
    name="add",
    call="lib:add",
    parameters={"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}},
)
CALL = {"calls": [{"id": "c1", "tool": "add", "arguments": {"a": 2, "b": 3}}]}


def with_tool(source: str, settings: RunnerSettings | None = None) -> Workflow:
    billing = [CALL, {"echo": "sum "}]
    return flow(
        desk(settings, ("add",)),
        [transfer("billing")],
        billing,
        tools=(ADD,),
        modules=(ModuleDecl(name="lib", source=source),),
    )


async def test_tools_run_in_the_worker_in_the_name_of_the_node(bench: Bench) -> None:
    ran = await bench.run(with_tool("def add(a, b):\n    print('adding')\n    return a + b"))
    assert ran.outputs[-1][1].text == "sum 5"
    assert ran.printed == [("desk", "adding")]


BROKEN = "def add(a, b):\n    raise ValueError('no')"


async def test_a_tool_that_fails_undoes_the_turn(bench: Bench) -> None:
    plan = compile_plan(document := with_tool(BROKEN), bench.source.services(document))
    events: deque[Any] = deque()
    with pytest.raises(UserCodeError, match="no"):
        await plan.engine.run("in", events=events)
    undone = next(e.data for e in events if isinstance(e, ev.NodeEvent) and e.kind == "RolledBack")
    assert undone["tools_executed"] == ["transfer_to_billing", "add"]
    assert undone["removed_count"] == 4


async def test_a_tool_that_fails_may_be_told_to_the_model(bench: Bench) -> None:
    ran = await bench.run(with_tool(BROKEN, RunnerSettings(tool_error="report")))
    assert ran.outputs[-1][1].text.startswith("sum Error: Function failed (trace ")


async def test_the_limits_are_those_of_the_node(bench: Bench) -> None:
    few = RunnerSettings(max_handoffs_per_turn=0, max_tool_iterations=2)
    ran = await bench.run(flow(desk(few), [transfer("billing"), transfer("billing", "t2")], []))
    assert "used up the model calls" in ran.outputs[-1][1].text
    limits = [e.data["limit"] for e in ran.events if isinstance(e, ev.NodeEvent) and e.kind == "limit_reached"]
    assert limits == ["max_handoffs_per_turn", "max_handoffs_per_turn", "max_tool_iterations"]


async def test_a_profile_that_is_not_there_is_said_at_the_node(bench: Bench) -> None:
    document = flow(desk().model_copy(update={"profile": "nowhere"}), ["x"], ["y"])
    with pytest.raises(PlanError) as caught:
        compile_plan(document, bench.source.services(document))
    assert [(p.code, p.place) for p in caught.value.problems] == [("no_profile", "desk")]
    assert "“Front Desk” uses the profile “nowhere”" in str(caught.value)


async def test_a_runner_without_agents_is_refused(bench: Bench) -> None:
    document = workflow([RunnerNode(id="desk", name="Desk")])
    with pytest.raises(PlanError, match="has no agent yet"):
        compile_plan(document, bench.source.services(document))


async def test_what_other_agents_said_is_what_the_conversation_is_asked(bench: Bench) -> None:
    writer = agent("writer", host="turn_token", turn_token=TurnTokenSettings(forward_incoming_messages=False))
    document = workflow(
        [writer, desk()],
        offline=OfflineScript(
            nodes={"writer": {"replies": ["a draft"]}, "desk/front": {"replies": [{"echo": "about "}]}}
        ),
    )
    ran = await bench.run(document, "topic")
    [call] = [e for e in ran.events if isinstance(e, ev.ModelCallStarted) and e.node == "desk"]
    assert [(m.role, m.author, m.text) for m in call.messages] == [("user", "writer", "a draft")]
    assert ran.outputs[-1][1].text == "about a draft"


@pytest.mark.parametrize("tools", [("add",), None])
async def test_agents_of_a_runner_use_mcp_servers_that_ask_nobody(bench: Bench, tools: tuple[str, ...] | None) -> None:
    server = McpServerDecl(name="calc", command=sys.executable, arguments=(str(SERVER),), tools=tools)
    call = {"calls": [{"id": "c1", "tool": "calc_add", "arguments": {"a": 2, "b": 3}}]}
    node = desk()
    front, billing = node.agents
    agents = (front, billing.model_copy(update={"mcp_servers": ("calc",)}))
    document = flow(
        node.model_copy(update={"agents": agents}),
        [transfer("billing")],
        [call, {"echo": "sum "}],
        mcp_servers=(server,),
    )
    if tools is None:  # some of its tools are not known to only read
        with pytest.raises(RunnerSetupError, match="must run without asking"):
            await bench.run(document)
        return
    assert (await bench.run(document)).outputs[-1][1].text == "sum 5"
