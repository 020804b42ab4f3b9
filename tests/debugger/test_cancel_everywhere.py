"""A run with a model, tools, an MCP server and code is stopped at every point: nothing of it is left."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
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


class Points:
    """Looks in every turn of the loop where the tasks of a run wait; stops the run the first time at ``target``.

    A point is the way through our own code to an ``await`` that is waiting: files and lines, outermost first.
    """

    def __init__(self, target: str = "") -> None:
        self.target = target
        self.seen: dict[str, None] = {}
        self.stop: Callable[[], None] = lambda: None
        self._others = asyncio.all_tasks()
        self._on = True

    def watch(self) -> None:
        for task in asyncio.all_tasks() - self._others:
            point = _waits_at(task)
            if point and point not in self.seen:
                self.seen[point] = None
                if point == self.target:
                    self.stop()
        if self._on:
            asyncio.get_running_loop().call_soon(self.watch)

    def end(self) -> None:
        self._on = False


def _waits_at(task: asyncio.Task[object]) -> str:
    way: list[str] = []
    inner: object = task.get_coro()
    while inner is not None:
        frame = next((f for name in ("cr_frame", "gi_frame", "ag_frame") if (f := getattr(inner, name, None))), None)
        if frame is not None and "/studio/" in frame.f_code.co_filename:
            way.append(f"{frame.f_code.co_filename.rsplit('/studio/', 1)[1]}:{frame.f_lineno}")
        awaited = (getattr(inner, name, None) for name in ("cr_await", "gi_yieldfrom", "ag_await"))
        inner = next((one for one in awaited if one is not None), None)
    return " ".join(way)


async def run(source: ServiceSource, at: int, turns: int = 0, points: Points | None = None) -> tuple[Stopper, RunState]:
    sink = Stopper(at, turns)
    session = RunSession(
        RunRecord(uuid4().hex, 1, "main"), Beginning("in"), lambda: prepare(DOCUMENT, source, None),
        MemoryRunStore(CODEC), CODEC, sink=sink,
    )  # fmt: skip
    sink.stop = lambda: session.stop() if session.can(Command.STOP) else None
    session.run()
    if points is not None:
        points.stop = sink.stop
        points.watch()
    state = await session.ended()
    if points is not None:
        points.end()
    if state is RunState.FAILED:
        raise AssertionError(session.failure)
    return sink, state


@asynccontextmanager
async def services() -> AsyncIterator[ServiceSource]:
    """A program whose worker, MCP server and connection are there already; afterwards nothing of it is left."""
    files, processes = open_files(), children()
    with ProviderServer("any_model") as provider:
        profile = Profile("p", "custom", base_url=provider.url, model="small-1", key_ref="")
        source = ServiceSource(lambda: Profiles((profile,)), Secrets(), trusts=lambda *_: True)
        await run(source, 0)
        yield source
        _, state = await run(source, 0)
        assert state is RunState.COMPLETED, "what was stopped before does no harm to the next run"
        await source.close()
    await until(lambda: children() == processes, 10)
    await until(lambda: open_files() == files, 10)
    assert asyncio.all_tasks() == {asyncio.current_task()}


def left_over(before: set[asyncio.Task[Any]]) -> list[str]:
    """Tasks of runs that still are there."""
    return [t.get_name() for t in asyncio.all_tasks() - before if t.get_name().startswith(("run ", "event log"))]


async def test_nothing_is_left_wherever_a_run_is_stopped() -> None:
    async with services() as source:
        before = asyncio.all_tasks()
        whole, state = await run(source, 0)
        assert state is RunState.COMPLETED
        assert {"ModelCallStarted", "ToolStarted", "ToolFinished", "LinePrinted", "StateWritten"} <= {*whole.kinds}
        assert whole.kinds.count("ToolStarted") == 2
        states: set[RunState] = set()
        for at in range(1, whole.seen, 2):
            _, state = await run(source, at, turns=at % 4)
            states.add(state)
            assert state in ENDED
            assert not left_over(before)
        assert RunState.CANCELLED in states


async def test_a_run_is_stopped_at_each_point_where_it_waits() -> None:
    """Not only after events: wherever one of its tasks waits, for a model, a tool, a server, the worker, the store."""
    async with services() as source:
        before = asyncio.all_tasks()
        points = Points()
        await run(source, 0, points=points)
        found = " ".join(points.seen)
        for room in (
            "agents/model_calls.py",
            "agents/mcp/",
            "assembly/code.py",
            "workers/worker.py",
            "engine/superstep.py",
        ):
            assert room in found, f"the run waits somewhere in {room}"
        states: set[RunState] = set()
        for point in points.seen:
            _, state = await run(source, 0, points=Points(point))
            assert state in ENDED
            assert not left_over(before), point
            states.add(state)
        assert RunState.CANCELLED in states
