"""A conversation runner as a node: turns, streaming, events, checkpoints, failures."""

from __future__ import annotations

import json
from typing import Any

import pytest
from studio.agents import AgentRequest, AgentUpdate, Tool, user
from studio.agents.runner import ConversationRunner, RunnerAgent
from studio.engine import Codec, WorkflowBuilder, decode, encode
from studio.engine import events as e
from studio.engine.hosts.runner import RunnerHost

from tests.engine.nodes import host, seen
from tests.fakes.scripted_client import ScriptedClient

MOVE = {"calls": [{"id": "m", "tool": "transfer_to_billing", "arguments": {"reason": "money"}}]}


def node(*replies: Any, **options: Any) -> tuple[RunnerHost, ScriptedClient]:
    client = ScriptedClient(replies)
    triage = RunnerAgent("Triage", "route", handoffs=[RunnerAgent("Billing", "bills")])
    return RunnerHost(lambda sessions: ConversationRunner(triage, sessions, client, node="r", **options), "r"), client


async def test_a_turn_gives_one_response_with_everything_said() -> None:
    runner, _ = node(MOVE, "paid")
    after = host("after", "noted")
    events: list[Any] = []
    workflow = WorkflowBuilder(runner, name="w").edge(runner, after).build()
    result = await workflow.run("bill?", events=events)
    assert [output.messages[-1].text for output in result.outputs] == ["paid", "noted"]
    assert seen(after)[0][0] == ("user", "bill?")
    assert seen(after)[0][-1] == ("assistant", "paid")
    named = [x.kind for x in events if isinstance(x, e.NodeEvent)]
    assert named[0] == "TurnStarted"
    assert "HandedOff" in named
    assert json.loads(json.dumps([x.data for x in events if isinstance(x, e.NodeEvent)]))[0] == {
        "session": "node",
        "checkpoint_len": 0,
    }
    assert [x.node for x in events if isinstance(x, e.ModelCallStarted)] == ["r", "r", "after"]
    assert len([x for x in events if isinstance(x, e.ToolStarted)]) == 1


async def test_streams_and_sends_the_whole() -> None:
    runner, _ = node({"chunks": ["he", "llo"]})
    result = await WorkflowBuilder(runner, name="w").build().run("q", stream=True)
    assert [(x.author, x.text) for x in result.outputs if isinstance(x, AgentUpdate)] == [
        ("Triage", "he"),
        ("Triage", "llo"),
    ]


async def test_checkpoint_has_the_conversation_and_who_goes_on() -> None:
    runner, _ = node(MOVE, "paid")
    workflow = WorkflowBuilder(runner, name="w").build()
    await workflow.run("1")
    await workflow.run(AgentRequest((user("note"),), should_respond=False))
    codec = Codec()
    saved = decode(encode(await workflow.capture(), codec), codec)
    other, client = node("still billing")
    again = WorkflowBuilder(other, name="w").build()
    await again.restore(saved)
    await again.run("2")
    assert client.requests[0].instructions == "bills"
    assert [m.text for m in client.requests[0].messages][-2:] == ["note", "2"]
    await again.restore(await WorkflowBuilder(node()[0], name="w").build().capture())
    assert await other.save() == {}


async def test_failed_turn_fails_the_run_and_keeps_the_conversation() -> None:
    async def boom(arguments: dict[str, Any]) -> None:
        raise ValueError("boom")

    client = ScriptedClient(["one", {"calls": [{"id": "c", "tool": "boom", "arguments": {}}]}, "three"])
    agent = RunnerAgent("A", tools=(Tool("boom", "", None, boom),))
    runner = RunnerHost(lambda sessions: ConversationRunner(agent, sessions, client), "r")
    workflow = WorkflowBuilder(runner, name="w").build()
    await workflow.run("1")
    before = await runner.save()
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("2")
    assert await runner.save() == before
    await workflow.run("3")
    assert [m.text for m in client.requests[2].messages] == ["1", "one", "3"]
