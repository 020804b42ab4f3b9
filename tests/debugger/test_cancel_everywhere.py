"""A run with a model, tools, an MCP server and code is stopped at every point: nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pytest
from studio.assembly import ServiceSource
from studio.checkpoints import RunRecord
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.preparation import prepare
from studio.debugger.session import Beginning, RunSession
from studio.debugger.states import ENDED, Command, RunState
from studio.document.model import AgentNode, DirectEdge, FunctionNode, McpServerDecl, ToolDecl, Workflow
from studio.engine import events as ev
from studio.settings.profiles import Profile, Profiles
from studio.settings.secrets import Secrets

from tests.debugger.graphs import CODEC, until
from tests.fakes.provider_server import ProviderServer

pytestmark = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="looks at its own files in /proc")
MCP = Path(__file__).parents[1] / "fakes" / "mcp_server.py"
ADD = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}
DOCUMENT = Workflow(
    id="cancelled",
    start="first",
    nodes=(
        FunctionNode(id="first", name="First", body="print('at work')\nresult = data"),
        AgentNode(
            id="writer", name="Writer", instructions="Write.", profile="p", tools=("add",), mcp_servers=("tiny",)
        ),
        FunctionNode(id="last", name="Last", body="ctx.set_state('k', 1)\nresult = data", sends="", yields="text"),
    ),
    edges=(
        DirectEdge(id="e1", source="first", target="writer"),
        DirectEdge(id="e2", source="writer", target="last"),
    ),
    tools=(ToolDecl(name="add", source="def add(a: int) -> int:\n    return a", parameters=ADD),),
    mcp_servers=(McpServerDecl(name="tiny", command=sys.executable, arguments=(str(MCP),), tools=("add",)),),
)


def open_files() -> list[str]:
    """What this process has open, but for the pipes of the test itself."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{name}"))
        except OSError:
            continue
    return sorted(f.split(":")[0] if ":[" in f else f for f in found)


def children() -> set[str]:
    """Processes that this one started and that still run."""
    found: set[str] = set()
    for task in Path("/proc/self/task").iterdir():
        try:
            found |= set((task / "children").read_text().split())
        except OSError:
            continue
    return found


class Stopper:
    """A sink that stops the run ``turns`` turns of the loop after event number ``at``."""

    def __init__(self, at: int, turns: int) -> None:
        self.at, self.turns, self.seen = at, turns, 0
        self.kinds: list[str] = []
        self.stop: Callable[[], None] = lambda: None

    def append(self, event: ev.Event) -> None:
        self.seen += 1
        self.kinds.append(type(event).__name__)
        if self.seen == self.at:
            self._later(self.turns)

    def _later(self, turns: int) -> None:
        if turns == 0:
            asyncio.get_running_loop().call_soon(self.stop)
        else:
            asyncio.get_running_loop().call_soon(self._later, turns - 1)


async def run(source: ServiceSource, at: int, turns: int = 0) -> tuple[Stopper, RunState]:
    sink = Stopper(at, turns)
    session = RunSession(
        RunRecord(uuid4().hex, 1, "main"), Beginning("in"), lambda: prepare(DOCUMENT, source, None),
        MemoryRunStore(CODEC), CODEC, sink=sink,
    )  # fmt: skip
    sink.stop = lambda: session.stop() if session.can(Command.STOP) else None
    session.run()
    state = await session.ended()
    if state is RunState.FAILED:
        raise AssertionError(session.failure)
    return sink, state


async def test_nothing_is_left_wherever_a_run_is_stopped() -> None:
    files, processes = open_files(), children()
    with ProviderServer("any_model") as provider:
        profile = Profile("p", "custom", base_url=provider.url, model="small-1", key_ref="")
        source = ServiceSource(lambda: Profiles((profile,)), Secrets(), trusts=lambda *_: True)
        await run(source, 0)  # starts the worker and the server, opens the connection
        before = asyncio.all_tasks()
        whole, state = await run(source, 0)
        assert state is RunState.COMPLETED
        assert {"ModelCallStarted", "ToolStarted", "ToolFinished", "LinePrinted", "StateWritten"} <= {*whole.kinds}
        assert whole.kinds.count("ToolStarted") == 2
        states: set[RunState] = set()
        for at in range(1, whole.seen):
            _, state = await run(source, at, turns=at % 4)
            states.add(state)
            assert state in ENDED
            assert not [t for t in asyncio.all_tasks() - before if t.get_name().startswith(("run ", "event log"))]
        assert RunState.CANCELLED in states
        _, state = await run(source, 0)
        assert state is RunState.COMPLETED, "what was stopped before does no harm to the next run"
        await source.close()
    await until(lambda: children() == processes, 10)
    await until(lambda: open_files() == files, 10)
    assert asyncio.all_tasks() == {asyncio.current_task()}
