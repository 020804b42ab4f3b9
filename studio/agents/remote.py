"""Agents that run elsewhere: no chat client here, so agent middleware is the only layer they can have."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from studio.agents.client import RunHooks
from studio.agents.messages import AgentReply, AgentUpdate, Message
from studio.agents.middleware import NO_MIDDLEWARE, AgentRun, Answering, Middleware, answered
from studio.agents.session import Session

Send = Callable[[Sequence[Message], Session, "Callable[[AgentUpdate], None] | None"], Awaitable[AgentReply]]
"""Asks the agent; its own memory goes by the session's id. Streams into the sink, if there is one."""


@dataclass(frozen=True, slots=True)
class RemoteAgent:
    """Looks like :class:`studio.agents.agent.Agent` to the nodes."""

    name: str
    send: Send
    middleware: Middleware = NO_MIDDLEWARE

    def __post_init__(self) -> None:
        if self.middleware.chat or self.middleware.function:
            raise ValueError(f"agent {self.name!r} runs elsewhere: it can have agent middleware only")

    def new_session(self) -> Session:
        """A conversation that the agent has not seen yet."""
        return Session()

    async def run(
        self,
        messages: Sequence[Message],
        *,
        session: Session | None = None,
        updates: Callable[[AgentUpdate], None] | None = None,
        hooks: RunHooks | None = None,
    ) -> AgentReply:
        """One turn. Nothing is kept in the session: the agent remembers."""
        memory = session if session is not None else Session()
        run = AgentRun(streaming=updates is not None, agent=self.name, messages=list(messages), session=session)

        async def prepare() -> Answering:
            async def answer(sink: Callable[[AgentUpdate], None] | None) -> AgentReply:
                return await self.send(run.messages, memory, sink)

            return answer

        reply = await answered(self.middleware.agent, run, prepare, updates)
        return AgentReply() if reply is None else reply
