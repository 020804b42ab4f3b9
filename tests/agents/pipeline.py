"""Parts of an agent that write into one log what they do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from studio.agents import (
    Agent,
    AgentReply,
    AgentUpdate,
    ContextProvider,
    HistoryProvider,
    Message,
    Middleware,
    RunContext,
    Session,
    Tool,
)
from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from tests.fakes.scripted_client import ScriptedClient

Log = list[str]


class LoggedClient(ScriptedClient):
    """A scripted client that notes each call and its number of messages."""

    def __init__(self, replies: Any, log: Log, **options: Any) -> None:
        super().__init__(replies, **options)
        self.log = log

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        self.log.append(f"model#{len(self.requests) + 1}({len(request.messages)})")
        return await super().complete(request, chunk=chunk, hooks=hooks)


def around(name: str, log: Log, *, before: Callable[[Any], None] | None = None) -> Any:
    """Middleware that notes when it is entered and left."""

    async def middleware(context: Any, call_next: Any) -> None:
        log.append(f"{name}>")
        if before is not None:
            before(context)
        await call_next()
        log.append(f"{name}<")

    return middleware


class Noted(ContextProvider):
    """A provider that notes its phases, and may add things."""

    def __init__(self, name: str, log: Log, **adds: Any) -> None:
        super().__init__(name)
        self.log = log
        self.adds = adds

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        self.log.append(f"{self.source_id}.before")
        context.extend_messages(self, self.adds.get("messages", ()))
        context.extend_instructions(self.adds.get("instructions", ""))
        context.extend_tools(self.adds.get("tools", ()))
        context.extend_middleware(self.adds.get("middleware", Middleware()))
        if error := self.adds.get("fails_before"):
            raise error

    async def after_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        self.log.append(f"{self.source_id}.after")
        if error := self.adds.get("fails_after"):
            raise error


class NotedHistory(HistoryProvider):
    """A history in a list of its own."""

    def __init__(self, log: Log, name: str = "history", **options: Any) -> None:
        super().__init__(name, **options)
        self.log = log
        self.stored: list[Message] = []

    async def get_messages(self, session: Session, state: dict[str, Any]) -> list[Message]:
        self.log.append(f"{self.source_id}.load({len(self.stored)})")
        return list(self.stored)

    async def save_messages(self, session: Session, messages: Any, state: dict[str, Any]) -> None:
        self.log.append(f"{self.source_id}.save[{', '.join(m.role for m in messages)}]")
        self.stored.extend(messages)


ADD_PARAMETERS = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def add_tool(log: Log, **options: Any) -> Tool:
    async def run(arguments: dict[str, Any]) -> int:
        log.append("TOOL")
        return int(arguments["a"]) + 1

    return Tool("add", "adds one", ADD_PARAMETERS, run, **options)


def call(*numbers: int, tool: str = "add") -> dict[str, Any]:
    """A model answer that calls the tool once for each number."""
    return {"calls": [{"id": f"c{n}", "tool": tool, "arguments": {"a": n}} for n in numbers]}


def agent(client: Any, **options: Any) -> Agent:
    return Agent("bot", client, **options)


def shapes(messages: Any) -> list[tuple[str, str]]:
    return [(m.role, m.text) for m in messages]


def texts(updates: list[AgentUpdate]) -> list[str]:
    return [u.text for u in updates if u.text]
