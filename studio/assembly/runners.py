"""Conversation runner nodes: their agents with hand-offs, behind the host of the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from studio.agents.client import ChatClient, ChatOptions
from studio.agents.runner import ConversationRunner, MemorySessions, RunnerAgent, RunnerSetupError
from studio.agents.tools import Tool
from studio.assembly.mcp import McpTools
from studio.document.model import RunnerNode
from studio.document.runners import inner_agents, spoken_name
from studio.engine.hosts.runner import RunnerHost


def runner_host(
    node: RunnerNode,
    clients: Mapping[str, ChatClient],
    tools: Callable[[Iterable[str]], tuple[Tool, ...]],
    servers: Callable[[Iterable[str]], McpTools | None],
) -> RunnerHost:
    """The executor. ``clients``: the engine of each agent, by the ids of ``inner_agents``; ``tools`` gives tools by
    their names, ``servers`` those of MCP servers. Raises ``RunnerSetupError`` for agents that do not fit together,
    which validation says before."""
    if not node.agents:
        raise RunnerSetupError(f"The conversation runner {node.name or node.id} has no agent.")
    agents = {
        declared.id: RunnerAgent(
            spoken_name(agent),
            agent.instructions,
            tools(agent.tools),
            specialty=declared.specialty,
            options=ChatOptions(agent.model or None, agent.temperature, max_tokens=agent.max_tokens),
            client=clients[agent.id],
            find_tools=found.tools if (found := servers(agent.mcp_servers)) is not None else None,
            node=agent.id,
        )
        for declared, agent in zip(node.agents, inner_agents(node), strict=True)
    }
    for declared in node.agents:
        agents[declared.id].handoffs = [agents[other] for other in declared.handoffs]

    def make(sessions: MemorySessions) -> ConversationRunner:
        limits = node.settings
        return ConversationRunner(
            agents[node.agents[0].id],
            sessions,
            max_handoffs_per_turn=limits.max_handoffs_per_turn,
            max_tool_iterations=limits.max_tool_iterations,
            tool_error=limits.tool_error,
            history_turns=limits.history_turns,
            node=node.id,
        )

    return RunnerHost(make, node.id)
