"""Agent nodes: the agent with its client, tools and settings, behind the host of the engine."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.agents.agent import Agent
from studio.agents.client import ChatClient, ChatOptions
from studio.agents.messages import Message
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.assembly.code import UserCode, running
from studio.assembly.wire import read_messages
from studio.document.model import AgentNode, ToolDecl
from studio.engine.context import Context
from studio.engine.executor import Handler, ResponseHandler
from studio.engine.hosts import AgentHost


class Agents:
    """Makes the agent nodes of one document; nodes with the same session name share one memory."""

    def __init__(self, tools: Sequence[ToolDecl], code: UserCode) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._code = code
        self._sessions: dict[str, Session] = {}

    def host(self, node: AgentNode, client: ChatClient) -> AgentHost:
        """The executor of an agent node. The agent's name is the node id: it is the author of its messages."""
        agent = Agent(
            node.id,
            client,
            instructions=node.instructions,
            tools=tuple(self._tool(self._tools[name]) for name in node.tools if name in self._tools),
            options=ChatOptions(node.model or None, node.temperature, max_tokens=node.max_tokens),
            output_schema=node.output_schema,
            description=node.description,
            node=node.id,
        )
        made = AgentHost(
            agent,
            node.id,
            context=node.context,
            context_filter=self._filter(node) if node.context == "custom" else None,
            trailing_user_turn=node.trailing_user_turn,
            session=self._session(node.session),
        )
        if any(tool.run is not None for tool in agent.tools):
            made.handlers = tuple(_known(handler) for handler in made.handlers)
            made.responses = tuple(_known_answer(response) for response in made.responses)
        return made

    def _session(self, name: str | None) -> Session | None:
        return self._sessions.setdefault(name, Session(name)) if name else None

    def _tool(self, declared: ToolDecl) -> Tool:
        run = self._runner(declared.call) if declared.call and declared.approval != "caller" else None
        return Tool(declared.name, declared.description, declared.parameters, run, declared.approval)

    def _runner(self, target: str) -> Callable[[dict[str, Any]], Awaitable[Any]]:
        async def run(arguments: dict[str, Any]) -> Any:
            return await self._code.bare(target, arguments, running.get())

        return run

    def _filter(self, node: AgentNode) -> Callable[[list[Message]], Awaitable[Sequence[Message]]]:
        target = self._code.add(f"{node.id} context", node.context_filter, "filter")

        async def taken(messages: list[Message]) -> Sequence[Message]:
            found = await self._code.bare(target, {"messages": messages})
            if not isinstance(found, list) or not all(_is_message(m) for m in found):
                raise TypeError("A context filter must leave a list of messages as its result")
            return read_messages(found)

        return taken


def _is_message(value: object) -> bool:
    return isinstance(value, Mapping) and value.get("$") == "message"


def _known(handler: Handler) -> Handler:
    """The handler, with its invocation known to the tools that run inside it."""

    async def run(data: Any, ctx: Context) -> None:
        token = running.set(ctx)
        try:
            await handler.run(data, ctx)
        finally:
            running.reset(token)

    return replace(handler, run=run)


def _known_answer(response: ResponseHandler) -> ResponseHandler:
    async def run(question: Any, answer: Any, ctx: Context) -> None:
        token = running.set(ctx)
        try:
            await response.run(question, answer, ctx)
        finally:
            running.reset(token)

    return replace(response, run=run)
