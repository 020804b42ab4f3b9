"""Ready-made workflows beyond the recorded cases."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import AgentResponse, Message, user
from studio.agents.tools import Tool
from studio.engine import BuildArgumentError, Codec, MemoryStore, SqliteStore, Workflow
from studio.engine.events import CheckpointSaved, Event
from studio.engine.orchestrations import (
    Aggregator,
    Autonomy,
    ChatState,
    HandoffUserRequest,
    Review,
    concurrent,
    group_chat,
    handoff,
    sequential,
)

from tests.conformance.build import CaseBuilder
from tests.engine.nodes import host, seen
from tests.fakes.scripted_client import ScriptedClient


def texts(values: Sequence[Any]) -> list[str]:
    return [value if isinstance(value, str) else value.text for value in values]


def more(agent: Agent, tools: Sequence[Tool]) -> Agent:
    return replace(agent, tools=(*agent.tools, *tools))


def to(target: str, id: str = "h") -> dict[str, Any]:
    return {"calls": [{"id": f"{id}_{target}", "tool": f"handoff_to_{target}"}]}


def desk(scripts: dict[str, list[Any]], **options: Any) -> tuple[Workflow, dict[str, ScriptedClient]]:
    clients = {name: ScriptedClient(replies) for name, replies in scripts.items()}
    agents = [Agent(name, client) for name, client in clients.items()]
    return handoff(agents, agents[0].name, more, name="desk", **options), clients


def prompts(client: ScriptedClient) -> list[list[tuple[str, str]]]:
    return [
        [(m.role, m.text or ",".join(str(getattr(p, "name", "result")) for p in m.parts)) for m in r.messages]
        for r in client.requests
    ]


async def test_a_reviewed_reply_is_tried_again_and_passed_on() -> None:
    writer, editor = host("writer", "bad", "good"), host("editor", "done")
    workflow = sequential([writer, editor], name="s", review=["writer"])
    (request,) = (await workflow.run("write")).requests
    assert (request.node, request.data.text) == ("writer", "bad")
    (request,) = (await workflow.run(answers={request.id: Review((user("again"),))})).requests
    assert request.data.text == "good"
    result = await workflow.run(answers={request.id: Review()})
    assert texts(result.outputs) == ["done"]
    assert seen(writer)[1] == [("user", "write"), ("assistant", "bad"), ("user", "again")]
    assert seen(editor) == [[("user", "again"), ("assistant", "good")]]
    with pytest.raises(BuildArgumentError, match="nobody"):
        sequential([host("a")], name="s", review=["nobody"])


async def test_the_last_reviewed_reply_is_the_output() -> None:
    workflow = sequential([host("a", "x")], name="s", review=True)
    (request,) = (await workflow.run("q")).requests
    result = await workflow.run(answers={request.id: Review()})
    assert texts(result.outputs) == ["x"]


async def test_an_own_aggregator() -> None:
    async def join(responses: list[AgentResponse]) -> str:
        return "+".join(r.executor for r in responses)

    workflow = concurrent([host("a", "x"), host("b", "y")], name="c", aggregator=Aggregator("joiner", join))
    assert (await workflow.run("q")).outputs == ("a+b",)


async def test_a_group_chat_ends_on_its_condition_and_goes_on_from_a_checkpoint() -> None:
    def graph(*replies: str) -> Workflow:
        def select(state: ChatState) -> str:
            return state.participants[state.round % 2]

        def met(conversation: list[Message]) -> bool:
            return any("stop" in m.text for m in conversation)

        hosts = [host("ann", *replies), host("bob", "b1", "b2")]
        return group_chat(hosts, select, name="g", termination=met)

    kept = MemoryStore(Codec())
    result = await graph("a1", "stop").run("talk", store=kept)
    assert texts(result.outputs) == ["The group chat has reached its termination condition."]
    third = next(i for i in await kept.infos() if i.superstep == 3)
    fresh = graph("stop")
    result = await fresh.run(checkpoint=third.id, store=kept)
    assert texts(result.outputs) == ["The group chat has reached its termination condition."]


async def test_a_conversation_handed_over_and_back() -> None:
    workflow, clients = desk({"triage": [to("refunds"), "what else"], "refunds": [{"text": "hm", **to("triage")}]})
    result = await workflow.run("money")
    assert isinstance(result.requests[0].data, HandoffUserRequest)
    assert prompts(clients["triage"])[1] == [
        ("user", "money"),
        ("assistant", "handoff_to_refunds"),
        ("tool", "result"),
        ("assistant", "hm"),
    ]
    result = await workflow.run(answers={result.requests[0].id: []})
    assert (result.state, result.outputs) == ("IDLE", ())


async def test_autonomous_agents_and_termination() -> None:
    scripts = {"a": ["1", "2", "3", "4"], "b": ["x"]}
    workflow, clients = desk(scripts, autonomy=Autonomy(["a"], {"a": 2}))
    result = await workflow.run("go")
    assert (texts(result.outputs), len(result.requests)) == (["1", "2", "3"], 1)
    assert prompts(clients["a"])[1][-1] == ("user", "User did not respond. Continue assisting autonomously.")
    ended, _ = desk(scripts, termination=lambda messages: sum(m.role == "assistant" for m in messages) >= 1)
    result = await ended.run("go")
    assert (texts(result.outputs), result.requests) == (["1"], ())


async def test_answers_may_go_to_the_start_agent() -> None:
    workflow, clients = desk({"a": [to("b"), "again a"], "b": ["from b"]}, return_to_previous=False)
    (request,) = (await workflow.run("go")).requests
    assert request.node == "b"
    result = await workflow.run(answers={request.id: [user("more")]})
    assert (texts(result.outputs), result.requests[0].node) == (["again a"], "a")
    assert len(clients["b"].requests) == 1


def test_handoffs_that_cannot_be() -> None:
    agents = [Agent("a", ScriptedClient([])), Agent("b", ScriptedClient([]))]
    with pytest.raises(BuildArgumentError, match="not taking part"):
        handoff(agents, "a", more, name="h", handoffs={"a": ["zz"]})
    with pytest.raises(BuildArgumentError):
        handoff(agents, "zz", more, name="h")
    taken = [replace(agents[0], tools=(Tool("handoff_to_b"),)), agents[1]]
    with pytest.raises(BuildArgumentError, match="already has a tool"):
        handoff(taken, "a", more, name="h")


OWN = Path(__file__).parents[1] / "conformance" / "own_cases"


async def test_magentic_goes_on_from_every_checkpoint(tmp_path: Path) -> None:
    """The manager's facts and plan, the counts and the participants' sessions are all in a checkpoint."""
    case = json.loads((OWN / "magentic_stall_resets_everybody_and_plans_anew.json").read_text())

    def built(calls: Counter[str]) -> tuple[Workflow, CaseBuilder]:
        builder = CaseBuilder("magentic", "delivery")
        workflow = builder.build(case["graph"])
        for node, count in calls.items():
            builder.skip(node, count)
        return workflow, builder

    store = SqliteStore(tmp_path / "runs.db", Codec())
    workflow, builder = built(Counter())
    marks: dict[str, int] = {}

    class Sink:
        def append(self, event: Event) -> None:
            if isinstance(event, CheckpointSaved):
                marks[event.checkpoint] = len(builder.model_calls)

    result = await workflow.run("write a poem", store=store, events=Sink())
    assert len(marks) == 7
    for checkpoint, done in marks.items():
        before = builder.model_calls[:done]
        again, other = built(Counter(call["agent"] for call in before))
        replayed = await again.run(checkpoint=checkpoint, store=store)
        assert replayed.outputs == (result.outputs if done < len(builder.model_calls) else ())
        assert other.model_calls == builder.model_calls[done:]
    await store.close()
