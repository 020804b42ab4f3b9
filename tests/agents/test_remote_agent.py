"""An agent without a chat client: agent middleware only, in a node like any other."""

from __future__ import annotations

from typing import Any

import pytest
from studio.agents import AgentReply, AgentUpdate, Middleware, Text, assistant, user
from studio.agents.remote import RemoteAgent
from studio.engine import AgentHost, WorkflowBuilder
from tests.agents.pipeline import Log, around


def far(log: Log) -> Any:
    async def send(messages: Any, session: Any, sink: Any) -> AgentReply:
        log.append(f"asked {messages[-1].text}")
        if sink is not None:
            sink(AgentUpdate((Text("far"),)))
        return AgentReply((assistant("far", "remote"),))

    return send


@pytest.mark.parametrize("stream", [False, True])
async def test_middleware_around_what_runs_elsewhere(stream: bool) -> None:
    log: Log = []

    def change(context: Any) -> None:
        context.messages = [user("changed")]

    agent = RemoteAgent("remote", far(log), Middleware((around("am", log, before=change),)))
    updates: list[Any] = []
    session = agent.new_session()
    reply = await agent.run([user("q")], session=session, updates=updates.append if stream else None)
    assert reply.text == "far"
    assert log == (["am>", "am<", "asked changed"] if stream else ["am>", "asked changed", "am<"])
    assert [u.text for u in updates] == (["far"] if stream else [])
    assert session.messages == []


@pytest.mark.parametrize("kind", ["chat", "function"])
def test_other_middleware_is_refused(kind: str) -> None:
    with pytest.raises(ValueError, match="agent middleware only"):
        RemoteAgent("remote", far([]), Middleware(**{kind: (around("m", []),)}))


async def test_as_a_node() -> None:
    result = await WorkflowBuilder(AgentHost(RemoteAgent("remote", far([])), "r"), name="w").build().run("q")
    assert [output.text for output in result.outputs] == ["far"]
