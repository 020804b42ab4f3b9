"""A run whose call a person changed: what was asked for is refused, the new call is run, saved, replayed and tested."""

from __future__ import annotations

import json
from typing import Any

import pytest
from studio.agents.agent import Agent
from studio.agents.messages import Message, ToolCall, ToolResult
from studio.agents.tools import Tool
from studio.debugger.answers import answer_value
from studio.debugger.recording import Tape, recorded
from studio.debugger.run_tests import made_from
from studio.debugger.session import RunSession
from studio.debugger.states import RunState
from studio.document.model import Workflow as Document
from studio.engine import AgentHost, Workflow, WorkflowBuilder
from studio.engine import events as ev
from studio.engine.executor import Executor
from studio.engine.hosts.turn_routing import ChatStart
from studio.engine.hosts.turn_token import TurnTokenHost

from tests.debugger.graphs import Bench, chain, until
from tests.fakes.scripted_client import ScriptedClient

S = RunState
ASK = {"calls": [{"id": "c1", "tool": "mail", "arguments": {"to": "all"}}]}


class Office:
    """An agent with a tool that asks first."""

    def __init__(self, host: str = "python") -> None:
        self.ran: list[dict[str, Any]] = []
        self.client = ScriptedClient([ASK, "sent"])
        self._host = host

    async def _mail(self, arguments: dict[str, Any]) -> str:
        self.ran.append(arguments)
        return f"mailed {arguments['to']}"

    def graph(self) -> Workflow:
        tool = Tool("mail", "", {"type": "object"}, self._mail, "always")
        agent = Agent("clerk", self.client, tools=(tool,))
        nodes: list[Executor] = [AgentHost(agent, "clerk")]
        if self._host == "csharp":
            nodes = [ChatStart(), TurnTokenHost(agent, "clerk")]
        return chain(*nodes) if len(nodes) > 1 else WorkflowBuilder(nodes[0], name="office").build()


def answer(session: RunSession, given: Any) -> None:
    (request,) = session.requests
    session.answer({request.id: answer_value(request.data, request.response_type, given, Document())})


async def changed_run(bench: Bench) -> RunSession:
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    answer(session, {"arguments": {"to": "Ada"}})
    await session.ended()
    assert session.state is S.COMPLETED, session.failure
    return session


@pytest.mark.parametrize("host", ["python", "csharp"])
async def test_only_the_new_call_runs_and_the_model_hears_of_both(host: str) -> None:
    office = Office(host)
    bench = Bench(office.graph)
    await changed_run(bench)
    assert office.ran == [{"to": "Ada"}]
    ran = [(json.loads(e.call.arguments), e.node) for e in bench.kinds(ev.ToolStarted)]
    assert ran == [({"to": "Ada"}, "clerk")]
    parts = [p for m in office.client.requests[1].messages for p in m.parts if isinstance(p, ToolCall | ToolResult)]
    asked, refused, made, result = parts
    assert isinstance(asked, ToolCall)
    assert isinstance(made, ToolCall)
    assert isinstance(refused, ToolResult)
    assert isinstance(result, ToolResult)
    assert (asked.call_id, made.call_id) == (refused.call_id, result.call_id)
    assert ("rejected" in str(refused.result), result.result) == (True, "mailed Ada")


async def test_a_waiting_run_that_is_opened_again_takes_the_change() -> None:
    office = Office()
    bench = Bench(office.graph)
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    checkpoint = await bench.store.load(session.last_checkpoint or "")
    await session.close()
    again = bench.session(id="later", checkpoint=checkpoint)
    again.run()
    await until(lambda: again.state is S.WAITING)
    answer(again, {"arguments": {"to": "Ada"}})
    await again.ended()
    assert (office.ran, len(office.client.requests)) == ([{"to": "Ada"}], 2)


async def test_a_replay_gives_the_change_again_and_calls_nobody() -> None:
    office = Office()
    bench = Bench(office.graph)
    await changed_run(bench)
    recording = recorded(bench.events)
    bench.events.clear()
    tape = Tape(recording)
    session = bench.session(id="again", tape=tape)
    session.run()
    await session.ended()
    assert session.state is S.COMPLETED, session.failure
    assert (office.ran, len(office.client.requests), tape.left) == ([{"to": "Ada"}], 2, {})


async def test_a_test_made_of_the_run_has_the_change_as_its_answer() -> None:
    office = Office()
    bench = Bench(office.graph)
    await changed_run(bench)
    test = made_from(recorded(bench.events), "mail", "flow.workflow.json", "go", [])
    assert test.answers == [[{"node": "clerk", "tool": "mail", "value": {"arguments": {"to": "Ada"}}}]]


async def test_refusing_and_approving_are_as_before() -> None:
    for given, ran in ((True, [{"to": "all"}]), (False, [])):
        office = Office()
        session = Bench(office.graph).session()
        session.run()
        await until(lambda s=session: s.state is S.WAITING)  # type: ignore[misc]
        answer(session, given)
        await session.ended()
        assert office.ran == ran
        last = office.client.requests[1].messages[-1]
        assert isinstance(last, Message)
        assert [type(p) for p in last.parts] == [ToolResult]
