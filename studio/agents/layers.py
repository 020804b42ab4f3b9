"""A chat client with layers of its own, for all agents that use it."""

from __future__ import annotations

from dataclasses import dataclass

from studio.agents.client import ChatClient, ChatRequest, ChunkSink, RunHooks
from studio.agents.compaction.groups import Compaction
from studio.agents.loop_settings import LoopSettings
from studio.agents.messages import AgentReply
from studio.agents.middleware import NO_MIDDLEWARE, Middleware


@dataclass(frozen=True, slots=True)
class LayeredClient:
    """The client, and what every agent on it does around its calls: outside of the agent's own middleware."""

    inner: ChatClient
    middleware: Middleware = NO_MIDDLEWARE
    """Chat and function middleware; agent middleware has no place here."""
    compaction: Compaction | None = None
    """Used if neither run nor agent has one."""
    loop: LoopSettings | None = None
    """Used if the agent has none."""

    def __post_init__(self) -> None:
        if self.middleware.agent:
            raise ValueError("a chat client has no place for agent middleware")

    @property
    def model(self) -> str:
        """The inner client's."""
        return self.inner.model

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """A bare call; the agent puts the layers around it."""
        return await self.inner.complete(request, chunk=chunk, hooks=hooks)

    async def close(self) -> None:
        """Closes the inner client."""
        await self.inner.close()
