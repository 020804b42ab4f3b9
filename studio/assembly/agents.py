"""Agent nodes: the agent with its client, tools and settings, behind the host of the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import fields

from studio.agents.agent import Agent
from studio.agents.client import ChatClient, ChatOptions
from studio.agents.mcp import ToolServer
from studio.agents.messages import Message
from studio.agents.middleware import NO_MIDDLEWARE
from studio.agents.session import Session
from studio.assembly import pipeline
from studio.assembly.code import UserCode
from studio.assembly.invocation import known
from studio.assembly.mcp import McpTools, mcp_provider
from studio.assembly.middleware import middleware
from studio.assembly.tools import DeclaredTools
from studio.assembly.wire import read_messages
from studio.document.fingerprint import calls_code
from studio.document.model import AgentNode, McpServerDecl, RunnerNode, Workflow
from studio.engine.executor import Executor
from studio.engine.hosts import AgentHost, TurnTokenHost, TurnTokenOptions


class Agents:
    """Makes the agent nodes of one document; nodes with the same session name share one memory."""

    def __init__(
        self,
        workflow: Workflow,
        code: UserCode,
        server: Callable[[McpServerDecl], ToolServer],
        histories: pipeline.Histories,
    ) -> None:
        self._workflow = workflow
        self._tools = DeclaredTools(workflow, code)
        self._code = code
        self._server = server
        self._histories = histories
        self._sessions: dict[str, Session] = {}

    def host(self, node: AgentNode, client: ChatClient) -> AgentHost | TurnTokenHost:
        """The executor of an agent node. The agent's name is the node id: it is the author of its messages."""
        agent = self._agent(node, client)
        made = self._turn_token(node, agent) if node.host == "turn_token" else self._python(node, agent)
        if any(tool.run is not None for tool in agent.tools) or calls_code(node):
            known(made)
        return made

    def runner(self, node: RunnerNode, clients: Mapping[str, ChatClient]) -> Executor:
        """The executor of a conversation runner. ``clients`` by the ids of ``inner_agents``."""
        from studio.assembly.runners import runner_host

        made = runner_host(node, clients, self._tools.of, self._servers)
        known(made)
        return made

    def _agent(self, node: AgentNode, client: ChatClient) -> Agent:
        servers = self._servers(node.mcp_servers)
        providers = pipeline.context_providers(node, self._code, client, self._histories)
        outside = any(p.kind == "history" and p.store != "session" for p in node.providers)
        return Agent(
            node.id,
            client,
            instructions=node.instructions,
            tools=self._tools.of(node.tools),
            providers=providers if servers is None else (*providers, servers),
            options=_options(node),
            output_schema=node.output_schema,
            description=node.description,
            node=node.id,
            compaction=pipeline.compaction(node.compaction, client),
            loop=pipeline.loop_settings(node, self._tools.of(node.tool_loop.additional_tools)),
            store_per_call=node.store_per_call,
            middleware=middleware(node, self._code) if node.middleware else NO_MIDDLEWARE,
            session_id=f"{self._workflow.id}-{node.id}" if outside else "",
        )

    def _servers(self, names: Iterable[str]) -> McpTools | None:
        return mcp_provider(self._workflow.mcp_servers, names, self._server)

    def _python(self, node: AgentNode, agent: Agent) -> AgentHost:
        return AgentHost(
            agent,
            node.id,
            context=node.context,
            context_filter=self._filter(node) if node.context == "custom" else None,
            trailing_user_turn=node.trailing_user_turn,
            session=self._session(node.session),
        )

    @staticmethod
    def _turn_token(node: AgentNode, agent: Agent) -> TurnTokenHost:
        names = [field.name for field in fields(TurnTokenOptions)]
        options = TurnTokenOptions(**{name: getattr(node.turn_token, name) for name in names})
        return TurnTokenHost(agent, node.id, options)

    def _session(self, name: str | None) -> Session | None:
        return self._sessions.setdefault(name, Session(name)) if name else None

    def _filter(self, node: AgentNode) -> Callable[[list[Message]], Awaitable[Sequence[Message]]]:
        target = self._code.add(f"{node.id} context", node.context_filter, "filter")

        async def taken(messages: list[Message]) -> Sequence[Message]:
            found = await self._code.bare(target, {"messages": messages})
            if not isinstance(found, list) or not all(_is_message(m) for m in found):
                raise TypeError("A context filter must leave a list of messages as its result")
            return read_messages(found)

        return taken


def _options(node: AgentNode) -> ChatOptions:
    return ChatOptions(
        node.model or None,
        node.temperature,
        max_tokens=node.max_tokens,
        tool_choice=node.tool_choice or None,
        parallel_tool_calls=node.parallel_tool_calls,
    )


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("$") == "message"
