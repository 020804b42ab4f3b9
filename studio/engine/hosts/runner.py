"""A conversation runner as one node: several agents with hand-offs, one turn per message."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from studio.agents.client import RunHooks
from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    Message,
    user,
)
from studio.agents.runner.events import RunnerEvent, event_to_plain
from studio.agents.runner.response import TurnResponse
from studio.agents.runner.sessions import MemorySessions, RunnerSession
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler
from studio.engine.hosts.hooks import NodeHooks, answer_of
from studio.engine.hosts.turn_rules import reassigned
from studio.engine.types import ListOf, UnionOf

SESSION = "node"


class RunnableRunner(Protocol):
    """What the node needs of a runner."""

    async def run_async(
        self,
        message: str | Message | Sequence[Message],
        session: str,
        *,
        updates: Callable[[AgentUpdate], None] | None = None,
        events: Callable[[RunnerEvent], None] | None = None,
        hooks: RunHooks | None = None,
    ) -> TurnResponse:
        """One turn; a failed one leaves the session as it was."""


class RunnerHost(Executor):
    """Takes texts, messages, lists of both, requests and responses; a turn of the runner gives one response.

    The conversation is part of the node: a checkpoint has it. ``make`` builds the runner on the node's own sessions.
    """

    def __init__(self, make: Callable[[MemorySessions], RunnableRunner], id: str) -> None:
        self.sessions = MemorySessions()
        self.runner = make(self.sessions)
        self._waiting: tuple[Message, ...] = ()
        sends, yields = (AgentResponse,), (AgentReply, AgentUpdate)
        super().__init__(
            id,
            (
                Handler(AgentRequest, self._on_request, sends, yields),
                Handler(AgentResponse, self._on_response, sends, yields),
                Handler(str, self._on_text, sends, yields),
                Handler(Message, self._on_message, sends, yields),
                Handler(ListOf(UnionOf(str, Message)), self._on_list, sends, yields),
            ),
        )

    async def _on_request(self, request: AgentRequest, ctx: Context) -> None:
        self._waiting += request.messages
        if request.should_respond:
            await self._turn((), ctx)

    async def _on_response(self, response: AgentResponse, ctx: Context) -> None:
        """What another node's agent said is what this conversation is asked."""
        await self._turn((user(response.text),), ctx)

    async def _on_text(self, text: str, ctx: Context) -> None:
        await self._turn((user(text),), ctx)

    async def _on_message(self, message: Message, ctx: Context) -> None:
        await self._turn((message,), ctx)

    async def _on_list(self, items: Sequence[str | Message], ctx: Context) -> None:
        await self._turn(tuple(user(item) if isinstance(item, str) else item for item in items), ctx)

    async def _turn(self, messages: tuple[Message, ...], ctx: Context) -> None:
        # What agents of other nodes said is what this conversation is asked: nobody in it answered that.
        given = tuple(reassigned(message, "") for message in (*self._waiting, *messages))
        listened = ctx.scope.emit is not None or ctx.gate is not None
        response = await self.runner.run_async(
            given,
            SESSION,
            updates=ctx.yield_output if ctx.streaming else None,
            events=self._told(ctx) if listened else None,
            hooks=NodeHooks(ctx) if listened else None,
        )
        self._waiting = ()
        reply = await answer_of(self.id, AgentReply(response.messages, response.usage, "stop"), ctx)
        if not ctx.streaming:
            ctx.yield_output(reply)
        ctx.send(AgentResponse(self.id, reply, (*given, *reply.messages)), purpose="response")

    @staticmethod
    def _told(ctx: Context) -> Callable[[RunnerEvent], None]:
        def tell(event: RunnerEvent) -> None:
            ctx.emit_named(type(event).__name__, event_to_plain(event))

        return tell

    async def save(self) -> dict[str, Any]:
        """The conversation with its messages as those of other agents are saved, and messages that wait for a request
        with an answer."""
        record = await self.sessions.load(SESSION)
        saved: dict[str, Any] = {"waiting": self._waiting}
        if record is not None:
            kept = RunnerSession.from_record(SESSION, record)
            saved["session"] = {
                "messages": kept.messages, "active_agent": kept.active_agent, "metadata": kept.metadata,
            }  # fmt: skip
        return {key: value for key, value in saved.items() if value}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Takes both over; what is not saved is empty afterwards."""
        self._waiting = tuple(state.get("waiting", ()))
        saved = state.get("session")
        if saved:
            kept = RunnerSession(SESSION, saved["active_agent"], list(saved["messages"]), dict(saved["metadata"]))
            await self.sessions.save(SESSION, kept.to_record())
        else:
            await self.sessions.delete(SESSION)
