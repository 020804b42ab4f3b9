"""The agents of a document, also those inside conversation runners."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.document.agent_options import RunnerAgent
from studio.document.model import AgentNode, RunnerNode, Workflow


def inner_id(node: RunnerNode, agent: RunnerAgent) -> str:
    """The name of an agent inside a runner where nodes are named: its offline script, its model calls."""
    return f"{node.id}/{agent.id}"


def inner_agents(node: RunnerNode) -> tuple[AgentNode, ...]:
    """The agents of a runner as agent nodes: same model, tools and instructions, with the runner's profile if they
    have none of their own."""
    return tuple(
        AgentNode(
            id=inner_id(node, agent),
            name=agent.name or agent.id,
            instructions=agent.instructions,
            profile=agent.profile or node.profile,
            model=agent.model,
            temperature=agent.temperature,
            max_tokens=agent.max_tokens,
            tools=agent.tools,
            mcp_servers=agent.mcp_servers,
        )
        for agent in node.agents
    )


def all_agents(workflow: Workflow) -> Iterator[AgentNode]:
    """Every agent of a document that asks a model."""
    for node in workflow.nodes:
        if isinstance(node, AgentNode):
            yield node
        elif isinstance(node, RunnerNode):
            yield from inner_agents(node)


def spoken_name(agent: AgentNode) -> str:
    """The author of an agent's messages: the id of its node, or its name inside a runner, where models read it."""
    return agent.name if "/" in agent.id else agent.id


def transfer_tool(name: str) -> str:
    """The tool with which others hand over to an agent of this name (statement B16 of the runner)."""
    return "transfer_to_" + re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def unreached(node: RunnerNode) -> tuple[RunnerAgent, ...]:
    """The agents that no hand-off from the first one ever leads to."""
    by_id = {agent.id: agent for agent in node.agents}
    seen: set[str] = set()
    waiting = [node.agents[0].id] if node.agents else []
    while waiting:
        here = waiting.pop()
        if here in by_id and here not in seen:
            seen.add(here)
            waiting += by_id[here].handoffs
    return tuple(agent for agent in node.agents if agent.id not in seen)
