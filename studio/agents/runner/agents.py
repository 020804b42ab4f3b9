"""The agents of a runner, who may hand over to whom, and the tools for that."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from studio.agents.client import NO_OPTIONS, ChatClient, ChatOptions
from studio.agents.runner.errors import RunnerSetupError, UnknownAgentError
from studio.agents.tools import Tool

if TYPE_CHECKING:
    from studio.agents.connection import ClientSettings

_REASON = {"type": "object", "properties": {"reason": {"type": "string", "description": "Why you hand over."}}}


@dataclass(slots=True, eq=False)
class RunnerAgent:
    """One agent. ``handoffs`` may name agents in circles, so it can be filled afterwards."""

    name: str
    instructions: str = ""
    tools: Sequence[Tool] = ()
    handoffs: list[RunnerAgent] = field(default_factory=list)
    specialty: str = ""
    """What it is good at; other agents read it when they choose whom to hand over to."""
    options: ChatOptions = NO_OPTIONS
    client: ChatClient | None = None
    """Its own engine; None: the one of :attr:`connection`, or else the runner's."""
    connection: ClientSettings | None = None
    """Where its own engine is; the runner opens and closes it."""
    find_tools: Callable[[], Awaitable[Sequence[Tool]]] | None = None
    """Gives further tools when it first speaks in a turn: those of servers, which are only known then."""
    node: str = ""
    """What its model calls are filed under; empty: the runner's node, or its name."""


def handoff_tool_name(agent: str) -> str:
    """``transfer_to_`` and the agent's name in lower case, everything but letters and digits as single ``_``."""
    return "transfer_to_" + re.sub(r"[^a-z0-9]+", "_", agent.lower()).strip("_")


def handoff_tools(agent: RunnerAgent, tools: Sequence[Tool] | None = None) -> dict[str, Tool]:
    """The tools with which ``agent`` hands over, by name. Raises :class:`RunnerSetupError` if two have one name.
    ``tools``: the tools it has now, in place of those it always has."""
    own = {tool.name for tool in (agent.tools if tools is None else tools)}
    made: dict[str, Tool] = {}
    for peer in agent.handoffs:
        name = handoff_tool_name(peer.name)
        if name in own or name in made:
            raise RunnerSetupError(
                f"Agent {agent.name!r} has two tools called {name!r}; one hands over to {peer.name!r}"
            )
        specialty = f" {peer.specialty}" if peer.specialty else ""
        made[name] = Tool(name, f"Hand the conversation over to {peer.name}.{specialty}", _REASON)
    return made


class Registry:
    """All agents of a runner by name."""

    def __init__(self, start: RunnerAgent) -> None:
        self._agents: dict[str, RunnerAgent] = {}
        self.add(start)

    def add(self, agent: RunnerAgent) -> None:
        """Takes the agent and everyone it can reach. Raises :class:`RunnerSetupError`, and then nobody was taken."""
        found = dict(self._agents)
        waiting = [agent]
        while waiting:
            one = waiting.pop(0)
            if found.get(one.name) is one:
                continue
            if one.name in found:
                raise RunnerSetupError(f"Two different agents are called {one.name!r}")
            _check(one)
            found[one.name] = one
            waiting += one.handoffs
        self._agents = found

    def __getitem__(self, name: str) -> RunnerAgent:
        agent = self._agents.get(name)
        if agent is None:
            raise UnknownAgentError(f"There is no agent called {name!r}; register it first")
        return agent

    def __contains__(self, name: str) -> bool:
        return name in self._agents

    @property
    def names(self) -> tuple[str, ...]:
        """All names, in the order they were found."""
        return tuple(self._agents)


def _check(agent: RunnerAgent) -> None:
    if any(peer.name == agent.name for peer in agent.handoffs):
        raise RunnerSetupError(f"Agent {agent.name!r} cannot hand over to itself")
    check_tools(agent, agent.tools)
    handoff_tools(agent)


def check_tools(agent: RunnerAgent, tools: Sequence[Tool]) -> None:
    """Raises :class:`RunnerSetupError` for a tool that asks somebody: a turn of a runner is never interrupted."""
    for tool in tools:
        if tool.asks or tool.caller_runs:
            raise RunnerSetupError(f"Tool {tool.name!r} of agent {agent.name!r} must run without asking anybody")
