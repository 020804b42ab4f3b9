"""Small workflows for sessions, and what a session needs around it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from studio.agents.agent import Agent
from studio.checkpoints import RunRecord, RunStore
from studio.debugger.breakpoints import Breakpoints
from studio.debugger.forks import QueueEdits
from studio.debugger.holds import Stop
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.recording import Tape
from studio.debugger.session import Beginning, RunSession, SessionSetup
from studio.debugger.states import RunState
from studio.document.model import Workflow as Document
from studio.engine import AgentHost, Codec, Context, FunctionExecutor, Workflow, WorkflowBuilder
from studio.engine import events as ev
from studio.engine.executor import Executor, Handler, ResponseHandler

from tests.fakes.scripted_client import ScriptedClient

CODEC = Codec()


def upper(id: str, wait: Callable[[], Awaitable[object]] | None = None) -> FunctionExecutor:
    """Sends its text on with the node's id behind it; ``wait`` is awaited first."""

    async def run(data: Any, ctx: Context) -> None:
        if wait is not None:
            await wait()
        ctx.send(f"{data}-{id}")

    return FunctionExecutor(id, run, accepts=str, sends=(str,), yields=())


def last(id: str = "end") -> FunctionExecutor:
    """Yields what it gets."""

    async def run(data: Any, ctx: Context) -> None:
        ctx.yield_output(data)

    return FunctionExecutor(id, run, accepts=str, sends=(), yields=(str,))


class Asker(Executor):
    """Asks for a text and sends it on."""

    def __init__(self, id: str) -> None:
        async def ask(data: Any, ctx: Context) -> None:
            ctx.request(f"About {data}?", str)

        async def answered(question: Any, answer: Any, ctx: Context) -> None:
            ctx.send(answer)

        super().__init__(id, (Handler(str, ask, (), ()),), (ResponseHandler(str, str, answered, (str,), ()),))


def agent(id: str, *replies: Any, then: Any = None) -> AgentHost:
    """An agent with a scripted model."""
    return AgentHost(Agent(id, ScriptedClient(replies, then=then)), id)


def chain(*nodes: Executor) -> Workflow:
    """Nodes one after the other."""
    return WorkflowBuilder(nodes[0], name="chain").chain(nodes).build()


def diamond(left: Executor, right: Executor) -> Workflow:
    """Two nodes side by side between a start and a join."""

    async def join(data: Any, ctx: Context) -> None:
        ctx.yield_output("+".join(data))

    start, end = upper("start"), FunctionExecutor("join", join, accepts=list, sends=(), yields=(str,))
    builder = WorkflowBuilder(start, name="diamond").fan_out(start, [left, right])
    return builder.fan_in([left, right], end).build()


class Plan:
    """A runnable whose end can be checked."""

    def __init__(self, workflow: Workflow, linked: Mapping[str, Document] | None = None) -> None:
        self.workflow = workflow
        self.fingerprint = "fingerprint"
        self.document_text = "{}"
        self.linked = linked or {}
        self.closed = False
        self.tried_now = 0

    def try_now(self) -> None:
        self.tried_now += 1

    async def close(self) -> None:
        self.closed = True


class Bench:
    """A store and sessions on it."""

    def __init__(self, graph: Callable[[], Workflow], store: RunStore | None = None) -> None:
        self.graph = graph
        self.store: RunStore = store or MemoryRunStore(CODEC)
        self.linked: Mapping[str, Document] = {}
        self.plans: list[Plan] = []
        self.events: list[ev.Event] = []
        self.states: list[RunState] = []

    async def _prepare(self) -> Plan:
        self.plans.append(Plan(self.graph(), self.linked))
        return self.plans[-1]

    def session(
        self,
        data: Any = "go",
        *,
        id: str = "main",
        checkpoint: Any = None,
        edits: QueueEdits | None = None,
        tape: Tape | None = None,
        breakpoints: Collection[str] | Breakpoints = frozenset(),
        passed: frozenset[Stop] = frozenset(),
        **setup: Any,
    ) -> RunSession:
        """A session that tells its states to ``states`` and its events to ``events``."""

        def changed() -> None:
            if not self.states or self.states[-1] is not session.state:
                self.states.append(session.state)

        parent = checkpoint.id if checkpoint is not None else None
        session = RunSession(
            RunRecord(id, 1, id, parent_checkpoint=parent),
            Beginning(data, checkpoint, edits or QueueEdits(), tape=tape, passed=passed),
            self._prepare,
            self.store,
            CODEC,
            sink=self.events,
            changed=changed,
            setup=SessionSetup(
                breakpoints if isinstance(breakpoints, Breakpoints) else Breakpoints.before(breakpoints), **setup
            ),
        )
        return session

    def kinds(self, *types: type) -> list[Any]:
        """The events of these types."""
        return [e for e in self.events if isinstance(e, types)]

    @property
    def outputs(self) -> list[Any]:
        return [e.data for e in self.events if isinstance(e, ev.OutputYielded)]


GENEROUS = 60.0
"""Seconds."""


async def until(condition: Callable[[], bool], seconds: float = GENEROUS) -> None:
    """Waits, turn by turn, for a condition. A limit up to one second is meant; a longer one is at least generous, since
    the machine may be busy with other things."""
    async with asyncio.timeout(seconds if seconds <= 1 else max(seconds, GENEROUS)):
        while not condition():  # noqa: ASYNC110
            await asyncio.sleep(0.001)
