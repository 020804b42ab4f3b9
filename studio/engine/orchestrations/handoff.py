"""Handoff: agents that transfer the conversation to each other by calling a tool."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any, Protocol

from studio.agents.messages import AgentReply, AgentRequest, Message, ToolResult, user
from studio.agents.tools import EndTurn, Tool
from studio.engine.builder import WorkflowBuilder
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError
from studio.engine.executor import Executor, ResponseHandler
from studio.engine.hosts.agent import AgentHost, RunnableAgent
from studio.engine.orchestrations.conversation import (
    Intermediate,
    Outputs,
    Termination,
    designation,
    without_tool_parts,
)
from studio.engine.types import ListOf
from studio.engine.workflow import Order, Workflow

GO_ON = "User did not respond. Continue assisting autonomously."
TURNS = 50
"""Turns of an autonomous agent before it asks the user."""


@dataclass(frozen=True, slots=True)
class HandoffUserRequest:
    """Asks the user to go on; the answer is a list of messages, an empty one ends it."""

    reply: AgentReply


class HandoffAgent(Protocol):
    """An agent that can be copied with more tools."""

    @property
    def name(self) -> str:
        """Author of its messages, and id of its node."""

    @property
    def tools(self) -> Sequence[Tool]:
        """Its own tools."""


WithTools = Callable[[Any, Sequence[Tool]], RunnableAgent]


def tool_name(target: str) -> str:
    """The name of the tool that hands over to ``target``, with the characters that providers allow."""
    return f"handoff_to_{re.sub(r'[^a-zA-Z0-9_-]', '_', target)}"[:64]


def _tool(target: str, description: str) -> Tool:
    async def run(arguments: dict[str, Any]) -> Any:
        raise EndTurn(json.dumps({"handoff_to": target}))

    return Tool(tool_name(target), description or f"Handoff to the {target} agent.", run=run)


@dataclass(frozen=True, slots=True)
class Autonomy:
    """Agents that go on without the user. ``agents`` empty: all. ``turn_limits`` by agent, else 50."""

    agents: Sequence[str] = ()
    turn_limits: Mapping[str, int] | None = None

    def limit(self, agent: str) -> int:
        """How often this agent goes on by itself."""
        if self.agents and agent not in self.agents:
            return 0
        return (self.turn_limits or {}).get(agent, TURNS)


class HandoffHost(AgentHost):
    """An agent node that shares its turns with all others, hands over, or asks the user. Sends no response."""

    def __init__(
        self,
        agent: RunnableAgent,
        id: str,
        *,
        targets: Sequence[str],
        start: bool,
        termination: Termination | None,
        turn_limit: int,
        return_to: str | None,
    ) -> None:
        super().__init__(agent, id)
        self._targets = {tool_name(target): target for target in targets}
        self._start = start
        self._termination = termination
        self._turn_limit = turn_limit
        self._turns = 0
        self._return_to = return_to
        sends, yields = (AgentRequest,), self.yields
        self.handlers = tuple(replace(h, sends=sends) for h in self.handlers)
        user_answer = ResponseHandler(HandoffUserRequest, ListOf(Message), self._on_user, sends, yields)
        self.responses = (user_answer, *(replace(r, sends=sends) for r in self.responses))

    async def _turn(self, ctx: Context) -> None:
        if self._start and not self._conversation:
            self._share(self._cache, ctx)
        self._conversation += self._cache
        if await self._ended():
            return
        reply = await self._run(ctx)
        self._cache = ()
        if self._asked(reply, ctx):
            return
        if not ctx.streaming:
            ctx.yield_output(reply)
        said = without_tool_parts(reply.messages)
        self._conversation += said
        self._share(said, ctx)
        target = self._handed_over(reply)
        if target is not None:
            self._keep_result(reply.messages[-1])
            ctx.send(AgentRequest(()), target, purpose="request")
            ctx.emit_named("handoff_sent", {"source": self.id, "target": target})
            self._turns = 0
        elif not await self._ended():
            await self._continue(reply, ctx)

    def _keep_result(self, result: Message) -> None:
        """The result of the handoff call begins the next turn here; so it is taken out of the session again."""
        self._cache += (result,)
        if self.session.messages and self.session.messages[-1] == result:
            self.session.messages.pop()

    async def _continue(self, reply: AgentReply, ctx: Context) -> None:
        """Goes on by itself, or asks the user."""
        if self._turns < self._turn_limit:
            self._turns += 1
            self._cache += (user(GO_ON),)
            await self._turn(ctx)
        else:
            self._turns = 0
            ctx.request(HandoffUserRequest(reply), ListOf(Message))

    async def _on_user(self, question: HandoffUserRequest, answer: list[Message], ctx: Context) -> None:
        if not answer:
            return
        self._share(tuple(answer), ctx)
        self._cache += tuple(answer)
        if self._return_to is not None and self._return_to != self.id:
            ctx.send(AgentRequest(()), self._return_to, purpose="request")
        else:
            await self._turn(ctx)

    def _share(self, messages: tuple[Message, ...], ctx: Context) -> None:
        ctx.send(AgentRequest(messages, should_respond=False), purpose="forward")

    def _handed_over(self, reply: AgentReply) -> str | None:
        """The target of a handoff call whose result ends the reply."""
        if not reply.messages:
            return None
        results = {p.call_id for p in reply.messages[-1].parts if isinstance(p, ToolResult)}
        calls = (p for m in reply.messages for p in m.parts if p.type == "function_call")
        return next((self._targets[c.name] for c in calls if c.call_id in results and c.name in self._targets), None)

    async def _ended(self) -> bool:
        if self._termination is None:
            return False
        met = self._termination(list(self._conversation))
        return bool(await met if isawaitable(met) else met)

    async def save(self) -> dict[str, Any]:
        """As every agent node, and the turns without the user."""
        return {**await super().save(), **({"turns": self._turns} if self._turns else {})}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """As every agent node, and the turns without the user."""
        await super().restore(state)
        self._turns = state.get("turns", 0)


def handoff(
    participants: Sequence[HandoffAgent],
    start: str,
    with_tools: WithTools,
    *,
    name: str,
    handoffs: Mapping[str, Sequence[str]] | None = None,
    termination: Termination | None = None,
    return_to_previous: bool = True,
    autonomy: Autonomy | None = None,
    outputs: Outputs = None,
    intermediate: Intermediate = None,
    max_supersteps: int = 100,
    order: Order = "delivery",
) -> Workflow:
    """Each agent has an edge to all others; every reply is an output.

    ``with_tools(agent, tools)`` gives a copy of an agent that has these tools too. ``handoffs``: who may hand over to
    whom, by default everybody to everybody. Without ``return_to_previous`` the user's answers go to the start agent.
    """
    agents = {agent.name: agent for agent in participants}
    if len(agents) < 2 or start not in agents:
        raise BuildArgumentError("A handoff needs at least two agents, and a start agent that is one of them")
    nodes: dict[str, HandoffHost] = {}
    for id, agent in agents.items():
        targets = _targets(id, agent, agents, handoffs)
        nodes[id] = HandoffHost(
            with_tools(agent, [_tool(t, getattr(agents[t], "description", "")) for t in targets]),
            id,
            targets=targets,
            start=id == start,
            termination=termination,
            turn_limit=autonomy.limit(id) if autonomy else 0,
            return_to=None if return_to_previous else start,
        )
    out, between = designation(list(nodes.values()), outputs, intermediate, list(nodes))
    builder = WorkflowBuilder(
        nodes[start], name=name, max_supersteps=max_supersteps, outputs=out or None, intermediate=between, order=order
    )
    return _mesh(builder, list(nodes.values())).build()


def _mesh(builder: WorkflowBuilder, nodes: Sequence[Executor]) -> WorkflowBuilder:
    """Everybody to everybody else: everyone hears what is said."""
    for node in nodes:
        others = [other for other in nodes if other is not node]
        if len(others) == 1:
            builder.edge(node, others[0])
        else:
            builder.fan_out(node, others)
    return builder


def _targets(
    id: str,
    agent: HandoffAgent,
    agents: Mapping[str, HandoffAgent],
    handoffs: Mapping[str, Sequence[str]] | None,
) -> list[str]:
    """Who this agent may hand over to. Raises for somebody who takes no part, and for a tool name that is taken."""
    targets = [t for t in agents if t != id] if handoffs is None else list(handoffs.get(id, ()))
    foreign = [t for t in targets if t not in agents]
    if foreign:
        raise BuildArgumentError(f"Agent {id!r} cannot hand over to {', '.join(foreign)}: not taking part", [id])
    taken = {tool.name for tool in agent.tools} & {tool_name(t) for t in targets}
    if taken:
        raise BuildArgumentError(f"Agent {id!r} already has a tool named {', '.join(taken)}", [id])
    return targets
