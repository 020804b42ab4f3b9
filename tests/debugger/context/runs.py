"""Runs of the real engine whose events an inspection takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from studio.agents.agent import Agent
from studio.agents.session import Session
from studio.debugger.context.inspection import Inspection
from studio.debugger.context.items import ContextRecord, Finding
from studio.document.model import AgentNode, DirectEdge, FanInEdge, FunctionNode, Workflow
from studio.engine import AgentHost, Context, FunctionExecutor
from studio.engine import Workflow as Plan
from studio.engine import events as ev
from studio.engine.executor import Executor
from studio.engine.hosts.turn_token import TurnTokenHost, TurnTokenOptions

from tests.fakes.scripted_client import ScriptedClient

LONG_REPLY = "Storage prices fell by a fifth in 2025 and the market rules now let batteries bid twice a day."


def drawn(
    *nodes: Any, edges: Sequence[tuple[str, str]] = (), joins: Sequence[tuple[tuple[str, ...], str]] = ()
) -> Workflow:
    """A drawing; a node is an id (of an agent) or a model."""
    made = tuple(AgentNode(id=n, name=n.title()) if isinstance(n, str) else n for n in nodes)
    direct = tuple(DirectEdge(id=f"{a}-{b}", source=a, target=b) for a, b in edges)
    barriers = tuple(FanInEdge(id=f"in-{target}", sources=sources, target=target) for sources, target in joins)
    return Workflow(name="Test", start=made[0].id, nodes=made, edges=(*direct, *barriers))


def code(id: str) -> FunctionNode:
    """A drawn function."""
    return FunctionNode(id=id, name=id.title(), body="result = data")


def agent(id: str, *replies: Any, session: Session | None = None, context: Any = "full", **of_agent: Any) -> AgentHost:
    """An agent of the Python host."""
    made = Agent(id, ScriptedClient(replies, then="repeat_last"), **of_agent)
    return AgentHost(made, id, session=session, context=context)


def turns(id: str, *replies: Any, **options: Any) -> TurnTokenHost:
    """An agent of the turn-token host."""
    return TurnTokenHost(Agent(id, ScriptedClient(replies, then="repeat_last")), id, TurnTokenOptions(**options))


def function(id: str, does: Callable[[Any, Context], Any], accepts: Any = object, sends: Any = (object,)) -> Executor:
    """A function node."""

    async def run(data: Any, ctx: Context) -> None:
        does(data, ctx)

    return FunctionExecutor(id, run, accepts=accepts, sends=sends, yields=(object,))


async def inspected(document: Workflow, plan: Plan, *inputs: Any, stream: bool = False) -> Inspection:
    """What an inspection has after runs with these inputs."""
    inspection = Inspection(document)
    for data in inputs:
        events: list[ev.Event] = []
        try:
            await plan.run(data, events=events, stream=stream)
        finally:
            for event in events:
                inspection.fold(event)
    return inspection


def of(inspection: Inspection, rule: str) -> list[Finding]:
    """What one rule found."""
    return [one for one in inspection.findings() if one.rule == rule]


def record(inspection: Inspection, node: str) -> ContextRecord:
    """The last invocation of a node."""
    return [r for r in inspection.run.records.values() if r.node == node][-1]
