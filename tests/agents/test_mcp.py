"""MCP servers: every row of behaviour with our transport, and nothing left afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from studio.agents import Agent, ApprovalRequest, ToolFailure, ToolResult, user
from studio.agents.mcp import McpFailed, McpServer, StdioServer, agent_tools, child_environment, close_all, unique_names
from studio.agents.mcp.server import first_leaf
from studio.agents.mcp.tools import result_words, shortened
from tests.fakes.scripted_client import ScriptedClient
from tests.waiting import until

SCRIPT = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
Make = Callable[..., McpServer]


def group_lives(pid: int) -> bool:
    """Whether any process of the group still runs (one that nobody reaped yet does not)."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[2]) == pid and fields[0] != "Z":
            return True
    return False


async def gone(pid: int) -> bool:
    """Waits for a group to end."""
    await until(lambda: not group_lives(pid), "the group ends")
    return True


async def failed(server: McpServer) -> None:
    """Waits for the server to be known as failed."""
    await until(lambda: server.state == "failed", "the server is known as failed")


async def waits(server: McpServer) -> None:
    """Waits until the server has a call that it never answers."""
    await until(lambda: "it waits" in server.log, "the call arrives")


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """Makes servers that are closed after the test; no process of theirs may be left."""
    made: list[McpServer] = []
    pids: set[int] = set()

    def watch(server: McpServer) -> None:
        if server.pid:
            pids.add(server.pid)

    async def at_once(seconds: float) -> None:
        waits.append(seconds)

    waits: list[float] = []

    def server(*modes: str, **options: Any) -> McpServer:
        settings = StdioServer("tiny", sys.executable, (str(SCRIPT), *modes), **options)
        made.append(McpServer(settings, changed=watch, sleep=at_once))
        made[-1].waits = waits  # type: ignore[attr-defined]
        return made[-1]

    yield server
    await close_all(made)
    for pid in pids:
        assert await gone(pid), f"process group {pid} is left"


async def test_starts_at_the_first_call_and_answers(make: Make) -> None:
    server = make()
    assert (server.state, server.pid) == ("off", None)
    result = await server.call("add", {"a": 1, "b": 2})
    assert result.content[0].text == "3"
    assert server.state == "ready"
    assert server.pid is not None
    assert list(server.log) == ["started"]


async def test_many_at_once_and_a_large_result(make: Make) -> None:
    server = make()
    results = await asyncio.gather(*(server.call("add", {"a": n, "b": 1}) for n in range(50)))
    assert [r.content[0].text for r in results] == [str(n + 1) for n in range(50)]
    assert len((await server.call("big", {})).content[0].text) == 3_000_000


async def test_states_are_told(make: Make) -> None:
    told: list[str] = []
    server = McpServer(StdioServer("tiny", sys.executable, (str(SCRIPT),)), changed=lambda s: told.append(s.state))
    await server.ready()
    pid = server.pid
    await server.close()
    assert told == ["starting", "ready", "closed"]
    assert pid is not None
    assert await gone(pid)
    with pytest.raises(McpFailed, match="closed"):
        await server.ready()


async def test_cancelled_call_tells_the_server_and_leaves_it_usable(make: Make) -> None:
    server = make()
    await server.ready()
    call = asyncio.create_task(server.call("wait", {}))
    await waits(server)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await server.call("add", {"a": 1, "b": 1})).content[0].text == "2"
    cancelled = json.loads((await server.call("was cancelled?", {})).content[0].text)
    assert len(cancelled) == 1


async def test_a_call_has_its_time(make: Make) -> None:
    server = make(call_timeout=0.05)
    with pytest.raises(McpFailed, match="timed out"):
        await server.call("wait", {})
    assert server.state == "ready"


async def test_server_that_dies_in_a_call_fails_it_and_starts_again_when_wanted(make: Make) -> None:
    server = make()
    await server.ready()
    first = server.pid
    with pytest.raises(McpFailed, match=r"code 3.*last words"):
        await server.call("die", {})
    await failed(server)
    assert (await server.call("add", {"a": 1, "b": 1})).content[0].text == "2"
    assert server.pid != first
    assert server.waits == [1.0]  # type: ignore[attr-defined]


async def test_server_that_dies_while_idle_is_noticed_at_once(make: Make) -> None:
    server = make()
    await server.ready()
    assert server.pid is not None
    os.kill(server.pid, signal.SIGKILL)
    await failed(server)
    assert "signal 9" in server.problem


async def test_restarts_wait_longer_and_end(make: Make) -> None:
    server = make("exit")
    for _ in range(6):
        with pytest.raises(McpFailed, match="code 4: no configuration"):
            await server.call("add", {})
    assert server.waits == [1, 2, 4, 8, 16]  # type: ignore[attr-defined]
    with pytest.raises(McpFailed, match="failed 6 times"):
        await server.call("add", {})
    server.restart()
    assert server.state == "off"


async def test_program_that_is_not_there() -> None:
    server = McpServer(StdioServer("none", "no-such-program-anywhere"))
    with pytest.raises(McpFailed, match="'no-such-program-anywhere' was not found"):
        await server.ready()
    assert server.state == "failed"
    await server.close()


@pytest.mark.parametrize("mode", ["", "deaf", "stubborn", "child"])
async def test_closing_leaves_nothing(make: Make, mode: str) -> None:
    server = make(*mode.split())
    await server.call("add", {"a": 1, "b": 1})
    pid = server.pid
    assert pid is not None
    await asyncio.wait_for(server.close(), 60)
    assert await gone(pid)


async def test_closing_from_another_task_and_while_calls_run(make: Make) -> None:
    server = make()
    await asyncio.create_task(server.ready())  # type: ignore[arg-type]
    call = asyncio.create_task(server.call("wait", {}))
    await waits(server)
    await asyncio.create_task(server.close())
    with pytest.raises(McpFailed):
        await call


async def test_owner_that_is_cancelled_ends_the_program(make: Make) -> None:
    server = make()
    await server.ready()
    pid = server.pid
    assert pid is not None
    assert server._owner is not None
    server._owner.cancel()
    await asyncio.wait({server._owner})
    assert server.state == "failed"
    assert await gone(pid)


async def test_text_between_messages_goes_to_the_log(make: Make) -> None:
    server = make("noisy")
    assert (await server.call("add", {"a": 1, "b": 1})).content[0].text == "2"
    assert "printed by accident" in server.log


async def test_server_that_ignores_what_it_does_not_know(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The newer way to begin is tried for as long as the package does; then the older one is remembered."""
    server = make("legacy-silent")
    server.legacy = True
    await asyncio.wait_for(server.ready(), 60)


async def test_slow_probe_is_remembered(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studio.agents.mcp.server._SLOW_PROBE", 0.0)
    server = make()
    await server.ready()
    assert server.legacy


async def test_environment_is_what_every_program_needs_and_what_is_listed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "canary-key")
    monkeypatch.setenv("SECRET_CANARY", "canary")
    server = make(environment={"TOKEN": "given"})
    seen = json.loads((await server.call("environment", {})).content[0].text)
    assert seen["TOKEN"] == "given"
    assert "canary" not in json.dumps(seen)
    assert set(seen) <= {*child_environment({}), "TOKEN", "LC_CTYPE"}


def test_settings_never_show_values() -> None:
    settings = StdioServer("tiny", "x", environment={"TOKEN": "secret-value"})
    assert "secret-value" not in repr(settings)
    other = StdioServer("tiny", "x", environment={"TOKEN": "another"})
    assert settings.fingerprint() == other.fingerprint()
    assert settings.fingerprint() != StdioServer("tiny", "x", ("--all",), environment={"TOKEN": "a"}).fingerprint()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a child die with its parent")
@pytest.mark.parametrize("mode", ["", "stubborn"])
async def test_server_dies_with_a_studio_that_is_killed(mode: str) -> None:
    code = f"""
import asyncio, sys
from studio.agents.mcp import McpServer, StdioServer
async def main():
    server = McpServer(StdioServer("tiny", sys.executable, ({str(SCRIPT)!r}, {mode!r})))
    await server.ready()
    print(server.pid, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""
    studio = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stdout=asyncio.subprocess.PIPE)
    assert studio.stdout is not None
    pid = int(await studio.stdout.readline())
    assert group_lives(pid)
    studio.kill()
    await studio.wait()
    assert await gone(pid)


def test_first_leaf() -> None:
    group = ExceptionGroup("a", [ExceptionGroup("b", [ValueError("x"), KeyError("y")])])
    assert str(first_leaf(group)) == "x"


# ------------------------------------------------------------------------------------------------ tools of agents


async def test_tools_of_an_agent(make: Make) -> None:
    server = make()
    tools = {tool.name: tool for tool in await agent_tools([server])}
    assert set(tools) >= {"tiny_add", "tiny_was_cancelled_"}
    assert (tools["tiny_add"].approval, tools["tiny_die"].approval) == ("never", "always")
    assert tools["tiny_add"].schema["properties"]["a"] == {"type": "integer"}
    assert tools["tiny_add"].run is not None
    assert tools["tiny_shape"].run is not None
    assert tools["tiny_fail"].run is not None
    assert await tools["tiny_shape"].run({}) == '{"side": 2}'
    with pytest.raises(ToolFailure, match="no such city"):
        await tools["tiny_fail"].run({})


async def test_agent_uses_a_tool_and_sees_why_one_failed(make: Make) -> None:
    server = make(approvals="never")
    calls = [("tiny_add", {"a": 20, "b": 22}), ("tiny_fail", {}), ("tiny_die", {})]
    script: list[Any] = [
        *({"calls": [{"id": f"c{n}", "tool": t, "arguments": a}]} for n, (t, a) in enumerate(calls)),
        "done",
    ]
    client = ScriptedClient(script)
    agent = Agent("bot", client, tools=await agent_tools([server]))
    assert (await agent.run([user("go")])).text == "done"
    results = [
        p.result for m in client.requests[-1].messages if m.role == "tool" for p in m.parts if isinstance(p, ToolResult)
    ]
    assert results[:2] == ["42", "Error: no such city"]
    assert "code 3" in str(results[2])


async def test_a_tool_that_may_write_asks_first(make: Make) -> None:
    server = make()
    client = ScriptedClient([{"calls": [{"id": "c", "tool": "tiny_environment", "arguments": {}}]}])
    agent = Agent("bot", client, tools=await agent_tools([server]))
    (request,) = (await agent.run([user("go")], session=agent.new_session())).requests
    assert isinstance(request, ApprovalRequest)


async def test_large_results_are_shortened(make: Make) -> None:
    server = make(result_limit=100)
    (big,) = [tool for tool in await agent_tools([server]) if tool.name == "tiny_big"]
    assert big.run is not None
    text = await big.run({})
    assert text.endswith("[2999900 characters left out]")
    assert len(text) < 200
    assert shortened("short", 100) == "short"


def test_names_are_unique_and_fit_every_provider() -> None:
    names = unique_names([("s", "a b"), ("s", "a_b"), ("s", "x" * 80), ("s", "x" * 81), ("ü/", "t")])
    assert names[:2] == ["s_a_b", "s_a_b_2"]
    assert len(set(names)) == 5
    assert all(len(name) <= 64 for name in names)
    assert names[4] == "t"


def test_contents_in_words() -> None:
    class Block:
        def __init__(self, **fields: Any) -> None:
            self.__dict__.update(fields)

    result = Block(
        is_error=False,
        structured_content={"a": 1},
        content=[
            Block(type="text", text="x"),
            Block(type="image", data="AAAA", mime_type="image/png"),
            Block(type="resource_link", uri="file:///x"),
            Block(type="resource", resource=Block(text="inner", uri="u")),
        ],
    )
    assert result_words(result, structured=False) == "x\n[image image/png, 3 bytes]\n[resource file:///x]\ninner"
    assert result_words(result, structured=True) == '{"a": 1}'
