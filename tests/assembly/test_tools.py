"""Tools that a document declares, in a run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest
from studio.agents.messages import AgentReply, ToolResult
from studio.assembly import PlanError, compile_plan
from studio.document.model import AgentNode, McpServerDecl, ToolDecl, Workflow
from studio.document.tools import signature_of
from studio.engine.events import RunWarned, ToolStarted

from tests.agents.test_mcp import gone
from tests.agents.test_mcp_http import serving
from tests.assembly.running import Bench, Ran, script

SERVER = Path(__file__).parents[1] / "fakes" / "mcp_server.py"


def call(name: str, **arguments: Any) -> dict[str, Any]:
    return {"calls": [{"tool": name, "arguments": arguments}]}


def flow(*replies: Any, tools: tuple[ToolDecl, ...] = (), servers: tuple[McpServerDecl, ...] = ()) -> Workflow:
    node = AgentNode(
        id="writer",
        name="Writer",
        instructions="Write.",
        tools=tuple(t.name for t in tools),
        mcp_servers=tuple(s.name for s in servers),
    )
    made = Workflow(start="writer", nodes=(node,), offline=script(writer=[*replies]), tools=tools, mcp_servers=servers)
    read = [t.model_copy(update={"parameters": s.parameters}) if (s := signature_of(made, t)) else t for t in tools]
    return made.model_copy(update={"tools": tuple(read)})


def server(*modes: str, **fields: Any) -> McpServerDecl:
    return McpServerDecl(name="tiny", command=sys.executable, arguments=(str(SERVER), *modes), **fields)


class Waiting:
    """A sink of events that tells when a tool runs."""

    def __init__(self) -> None:
        self.tool_started = asyncio.Event()

    def append(self, event: Any) -> None:
        if isinstance(event, ToolStarted):
            self.tool_started.set()


def results(ran: Ran) -> list[Any]:
    reply = ran.outputs[-1][1]
    assert isinstance(reply, AgentReply)
    return [p.result for m in reply.messages for p in m.parts if isinstance(p, ToolResult)]


async def test_a_function_written_in_the_tool_runs_sync_or_async(bench: Bench) -> None:
    tools = (
        ToolDecl(name="add", source="def add(a: int, b: int) -> int:\n    return a + b"),
        ToolDecl(
            name="later", source="import asyncio\nasync def f(word: str):\n    await asyncio.sleep(0)\n    return word"
        ),
    )
    ran = await bench.run(
        flow(
            {"calls": [*call("add", a=1, b=2)["calls"], *call("later", word="x")["calls"]]},
            "done",
            tools=tools,
        )
    )
    assert results(ran) == ["3", "x"]


@pytest.mark.parametrize(("kind", "expected"), [("text", "plain"), ("json", '"plain"')])
async def test_a_result_is_text_or_json(bench: Bench, kind: Any, expected: str) -> None:
    tool = ToolDecl(name="say", source="def say():\n    return 'plain'", result=kind)
    assert results(await bench.run(flow(call("say"), "done", tools=(tool,)))) == [expected]


async def test_a_tool_has_its_own_time_and_the_worker_lives_on(bench: Bench) -> None:
    tools = (
        ToolDecl(name="slow", source="def slow():\n    while True: pass", timeout=0.2),
        ToolDecl(name="quick", source="def quick():\n    return 'here'"),
    )
    ran = await bench.run(flow(call("slow"), call("quick"), "done", tools=tools))
    assert results(ran) == ["Error: Function 'slow' took longer than 0.2 s.", "here"]


async def test_a_tool_runs_as_often_as_it_may(bench: Bench) -> None:
    tool = ToolDecl(name="once", source="def once():\n    return 1", max_invocations=1)
    ran = await bench.run(flow(call("once"), call("once"), "done", tools=(tool,)))
    first, second = results(ran)
    assert first == "1"
    assert second.startswith("Error: Function failed")


async def test_a_failure_after_an_effect_says_that_it_is_not_undone(bench: Bench) -> None:
    tool = ToolDecl(name="send", source="def send():\n    return 'sent'", has_effects=True)
    document = flow(call("send"), {"error": "gone", "status": 400}, tools=(tool,))
    with pytest.raises(Exception, match="gone"):
        await bench.run(document)
    plan = compile_plan(document, bench.source.services(document))
    events: list[Any] = []
    with pytest.raises(Exception, match="gone"):
        await plan.engine.run("in", events=events)
    assert [e.message for e in events if isinstance(e, RunWarned)] == [
        "writer did not finish, but send already ran; what it did outside is not undone."
    ]


# ---------------------------------------------------------------------------------------------------------- MCP


async def test_an_agent_uses_the_tools_of_a_server(bench: Bench) -> None:
    document = flow(call("tiny_add", a=1, b=2), "done", servers=(server(),))
    assert results(await bench.run(document)) == ["3"]
    live = bench.source.mcp.get((document.id,), document.mcp_servers[0], None)
    assert live.state == "ready"
    pid = live.pid
    assert pid
    await bench.source.forget(document.id)
    assert await gone(pid)


async def test_only_the_tools_that_are_taken_and_approval_as_declared(bench: Bench) -> None:
    document = flow(call("tiny_fail"), "done", servers=(server(tools=("add", "fail")),))
    ran = await bench.run(document)
    (request,) = ran.result.requests  # "fail" does not say that it only reads
    assert request.data.call.name == "tiny_fail"
    document = flow(call("tiny_shape"), call("tiny_fail"), "done", servers=(server(tools=("fail",), approval="never"),))
    ran = await bench.run(document)
    assert results(ran) == ['Error: Requested function "tiny_shape" not found.', "Error: no such city"]


async def test_variables_are_a_list_and_secrets_are_looked_up_at_the_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-canary-canary")
    monkeypatch.setenv("THE_TOKEN", "token-of-mine")
    given = {"MODE": "fast", "TOKEN": "env:THE_TOKEN"}
    document = flow(call("tiny_environment"), "done", servers=(server(environment=given, approval="never"),))
    (shown,) = results(await bench.run(document))
    assert '"MODE": "fast"' in shown
    assert '"TOKEN": "[secret]"' in shown  # it had the value: what it returns of it is hidden
    assert "token-of-mine" not in shown
    assert "canary" not in shown
    monkeypatch.delenv("THE_TOKEN")
    await bench.source.forget(document.id)
    with pytest.raises(Exception, match="MCP server tiny: variable THE_TOKEN is not set"):
        await bench.run(document)


async def test_a_server_that_is_set_up_otherwise_is_a_new_one(bench: Bench) -> None:
    first, second = server(), server("noisy")
    one = bench.source.mcp.get(("w",), first, None)
    await one.ready()
    pid = one.pid
    assert pid
    two = bench.source.mcp.get(("w",), second, None)
    assert two is not one
    assert bench.source.mcp.get(("w",), second, None) is two
    assert await gone(pid)
    assert bench.source.mcp.get(("other",), second, None) is not two


async def test_a_cancelled_run_leaves_the_server_usable_and_quitting_leaves_nothing(bench: Bench) -> None:
    document = flow(call("tiny_wait"), "done", servers=(server(approval="never"),))
    plan = compile_plan(document, bench.source.services(document))
    events = Waiting()
    running = asyncio.create_task(plan.engine.run("in", events=events))
    live = bench.source.mcp.get((document.id,), document.mcp_servers[0], None)
    async with asyncio.timeout(60):
        await events.tool_started.wait()
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    assert live.state == "ready"
    assert (await live.call("add", {"a": 1, "b": 1})).content[0].text == "2"
    pid = live.pid
    assert pid
    await bench.source.close()
    assert await gone(pid)


async def test_a_server_that_cannot_start_fails_the_node_with_its_words(bench: Bench) -> None:
    document = flow("never said", servers=(McpServerDecl(name="tiny", command="no-such-program-here"),))
    with pytest.raises(Exception, match="the program 'no-such-program-here' was not found"):
        await bench.run(document)


async def test_a_server_that_nobody_accepted_is_not_started() -> None:
    bench = Bench(trusts=lambda *_: False)
    document = flow("never said", servers=(server(),))
    with pytest.raises(PlanError, match="nobody has accepted"):
        await bench.run(document)
    await bench.source.close()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
async def test_a_server_at_an_address_gets_headers_by_reference(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WEB_TOKEN", "token-of-mine")
    async with serving() as (served, url, _stop):
        web = McpServerDecl(
            name="web", transport="http", url=url, headers={"Authorization": "Bearer env:WEB_TOKEN"}, approval="never"
        )
        document = flow(call("web_add", a=1, b=2), "done", servers=(web,))
        (result,) = results(await bench.run(document))
        assert "3" in result
        live = bench.source.mcp.get((document.id,), web, None)
        assert live.hide("I got token-of-mine, Bearer") == "I got [secret], Bearer"
        assert {h.get("authorization") for h in served.headers} == {"Bearer token-of-mine"}
        await bench.source.close()
