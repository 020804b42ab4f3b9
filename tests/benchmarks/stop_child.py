"""Measures how runs stop: ``python -m tests.benchmarks.stop_child TIMES``."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

from PySide6.QtWidgets import QApplication
from studio.agents import Agent, ClientSettings, OpenAIChatClient, user
from studio.bridge.loop import run
from studio.bridge.workspace import Workspace
from studio.bridge.workspaces import Workspaces
from studio.debugger.states import RunState
from studio.document.model import AgentNode, FunctionNode, OfflineScript, Workflow
from studio.settings import trust

from tests.benchmarks.children import answer
from tests.fakes.scripted_server import HOLD, Given, ScriptedServer, delta
from tests.waiting import until

STREAMING = Workflow(
    id="streaming",
    start="writer",
    nodes=(AgentNode(id="writer", name="Writer", instructions="Write."),),
    offline=OfflineScript.model_validate(
        {"nodes": {"writer": {"replies": [{"chunks": [f"word{i} " for i in range(5000)]}]}}, "delay_ms": 5}
    ),
)
LOOPING = Workflow(
    id="looping",
    start="spin",
    nodes=(FunctionNode(id="spin", name="Spin", body="import os\nprint(os.getpid())\nwhile True:\n    pass"),),
)


async def _until(condition: Callable[[], object]) -> None:
    """As exact as the loop is."""
    while not condition():  # noqa: ASYNC110
        await asyncio.sleep(0)


def _gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


async def _connection() -> float:
    """From the cancelling of a streamed call to the moment the server sees it."""
    shown = asyncio.Event()
    async with ScriptedServer(Given((delta(content="Hel"), HOLD))) as server:
        client = OpenAIChatClient(ClientSettings(server.url, "none"))
        agent = Agent("a", client)
        call = asyncio.ensure_future(agent.run([user("go")], updates=lambda _: shown.set()))
        await shown.wait()
        begun = time.perf_counter()
        call.cancel()
        await server.hang_up.wait()
        spent = time.perf_counter() - begun
        await asyncio.gather(call, return_exceptions=True)
        await client.close()
    return spent * 1000


async def _bare_connection() -> float:
    async with ScriptedServer(Given((delta(content="Hel"), HOLD))) as server:
        host, _, port = server.url.removeprefix("http://").removesuffix("/v1").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}")
        await reader.readline()
        begun = time.perf_counter()
        writer.close()
        await server.hang_up.wait()
        return (time.perf_counter() - begun) * 1000


async def _stopped(workflow: Workflow, busy: Callable[[Workspace], object]) -> tuple[float, float, float]:
    """Milliseconds until the state is *cancelled*, the worker is dead, and nothing of the run is left."""
    workspaces = Workspaces()
    workspace = workspaces.open(workflow, None)
    before = asyncio.all_tasks()
    workspace.run.run("go")
    await until(lambda: busy(workspace))
    pids = [int(p.text) for i in workspace.run.invocations.values() for p in i.pieces if p.kind == "print"]
    begun = time.perf_counter()
    workspace.run.stop()
    await _until(lambda: workspace.run.state is RunState.CANCELLED)
    cancelled = time.perf_counter() - begun
    await _until(lambda: all(map(_gone, pids)))
    dead = time.perf_counter() - begun
    await workspaces.close_all()
    await _until(lambda: asyncio.all_tasks() <= before)
    everything = time.perf_counter() - begun
    return cancelled * 1000, dead * 1000, everything * 1000


def _bare_child() -> float:
    child = subprocess.Popen([sys.executable, "-c", "print(1, flush=True)\nwhile True: pass"], stdout=subprocess.PIPE)
    assert child.stdout is not None
    child.stdout.readline()
    begun = time.perf_counter()
    child.kill()
    child.communicate()
    return (time.perf_counter() - begun) * 1000


async def _times(times: int, work: Callable[[], Awaitable[float]]) -> list[float]:
    return [await work() for _ in range(times)]


async def _main(times: int) -> None:
    for workflow in (STREAMING, LOOPING):
        trust.trust(workflow)
    models = [
        await _stopped(STREAMING, lambda w: any(i.pieces for i in w.run.invocations.values())) for _ in range(times)
    ]
    loops = [await _stopped(LOOPING, lambda w: any(i.pieces for i in w.run.invocations.values())) for _ in range(times)]
    socket, child = await _times(times, _bare_connection), [_bare_child() for _ in range(times)]
    answer(
        {
            "connection": await _times(times, _connection),
            "model": [cancelled for cancelled, _, _ in models],
            "worker": [dead for _, dead, _ in loops],
            "all": [everything for _, _, everything in (*models, *loops)],
            "floor": {"connection": socket, "model": socket, "worker": child, "all": child},
        }
    )


if __name__ == "__main__":
    run(QApplication(sys.argv[:1]), lambda: _main(int(sys.argv[1])))
