"""The agent node of the Python request/response host (workflow semantics, section 8)."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal, Protocol
from uuid import uuid4

from studio.agents.client import RunHooks
from studio.agents.messages import (
    AgentReply,
    AgentRequest,
    AgentResponse,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Part,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.session import Session
from studio.checkpoints import PendingRequest
from studio.engine.context import Context
from studio.engine.errors import BuildArgumentError, WorkflowError
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.hosts.hooks import NodeHooks, answer_of
from studio.engine.types import CONTENT, ListOf, UnionOf

ContextFilter = Callable[[list[Message]], "Sequence[Message] | Awaitable[Sequence[Message]]"]

CONTINUE = "please continue."
CANCELLED = "Error: Tool call was cancelled."


class RunnableAgent(Protocol):
    """What the host needs of an agent."""

    @property
    def name(self) -> str:
        """Author of its messages."""

    def new_session(self) -> Session:
        """An empty memory."""

    async def run(
        self,
        messages: Sequence[Message],
        *,
        session: Session,
        updates: Callable[[AgentUpdate], None] | None = None,
        hooks: RunHooks | None = None,
    ) -> AgentReply:
        """One turn, tool loop included; with ``updates`` the model streams."""


class AgentHost(Executor):
    """Takes texts, messages, lists of both, requests and responses; a turn of the agent gives one response."""

    def __init__(
        self,
        agent: RunnableAgent,
        id: str,
        *,
        context: Literal["full", "last_agent", "custom"] = "full",
        context_filter: ContextFilter | None = None,
        trailing_user_turn: bool = False,
        session: Session | None = None,
    ) -> None:
        if context == "custom" and context_filter is None:
            raise BuildArgumentError(f"Node {id!r} has a custom context but no filter", [id])
        self.agent = agent
        self.session = session if session is not None else agent.new_session()
        self._context = context
        self._filter = context_filter
        self._trailing = trailing_user_turn
        self._cache: tuple[Message, ...] = ()
        self._conversation: tuple[Message, ...] = ()
        self._open: dict[str, ApprovalRequest | ToolCall] = {}
        self._answers: dict[str, Part] = {}
        self._order: tuple[str, ...] = ()
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
            (ResponseHandler(CONTENT, CONTENT, self._on_answer, sends, yields),),
        )

    # ------------------------------------------------------------------------------------------------- inputs

    async def _on_request(self, request: AgentRequest, ctx: Context) -> None:
        self._cache += request.messages
        if request.should_respond:
            await self._turn(ctx)

    async def _on_response(self, response: AgentResponse, ctx: Context) -> None:
        self._cache += await self._taken(response)
        await self._turn(ctx)

    async def _on_text(self, text: str, ctx: Context) -> None:
        self._cache += (user(text),)
        await self._turn(ctx)

    async def _on_message(self, message: Message, ctx: Context) -> None:
        self._cache += (message,)
        await self._turn(ctx)

    async def _on_list(self, items: Sequence[str | Message], ctx: Context) -> None:
        self._cache += tuple(user(item) if isinstance(item, str) else item for item in items)
        await self._turn(ctx)

    async def _taken(self, response: AgentResponse) -> tuple[Message, ...]:
        """What the context mode leaves of another agent's turn."""
        if self._context == "full":
            return response.conversation
        if self._context == "last_agent":
            return response.reply.messages
        assert self._filter is not None
        found = self._filter(list(response.conversation))
        return tuple(await found if inspect.isawaitable(found) else found)

    # --------------------------------------------------------------------------------------------------- turn

    async def _turn(self, ctx: Context) -> None:
        """Runs the agent with the cache; sends the response, or asks what the reply asks for."""
        reply = await self._run(ctx)
        if self._asked(reply, ctx):
            self._conversation = self._cache
            return
        self._conversation = (*self._cache, *reply.messages)
        if not ctx.streaming:
            ctx.yield_output(reply)
        ctx.send(AgentResponse(self.id, reply, self._conversation), purpose="response")
        self._cache = ()

    async def _run(self, ctx: Context) -> AgentReply:
        messages = self._cache
        if self._trailing and messages and messages[-1].role == "assistant":
            messages = (*messages, user(CONTINUE))
        updates: Callable[[AgentUpdate], None] | None = None
        if ctx.streaming:

            def chunk(update: AgentUpdate) -> None:
                for part in update.parts:
                    if type(part) is ApprovalRequest:
                        return
                ctx.yield_output(update)

            updates = chunk
        listened = ctx.scope.emit is not None or ctx.gate is not None
        hooks = NodeHooks(ctx) if listened else None
        reply = await self.agent.run(messages, session=self.session, updates=updates, hooks=hooks)
        return await answer_of(self.id, reply, ctx)

    # ---------------------------------------------------------------------------------------- questions, answers

    def _asked(self, reply: AgentReply, ctx: Context) -> bool:
        """Asks what the reply waits for: approvals, and calls that the caller runs. False if it waits for nothing."""
        asked = {part.id if isinstance(part, ApprovalRequest) else part.call_id: part for part in reply.requests}
        known = {part.id if isinstance(part, ApprovalRequest) else part.call_id for part in self._open.values()}
        double = [id for id in asked if id in known]
        if double:
            raise WorkflowError(f"The agent of node {self.id!r} asked twice with the id {double[0]!r}", [self.id])
        for part in asked.values():
            # A provider's call ids are only unique within its answer: two agents may both wait for "call_1".
            id = part.id if isinstance(part, ApprovalRequest) else uuid4().hex
            self._order += (id,)
            self._open[id] = part
            ctx.request(part, CONTENT, id)
        return bool(asked)

    async def _on_answer(self, question: Part, answer: Part, ctx: Context) -> None:
        id = ctx.request_id or ""
        if id not in self._open:
            raise WorkflowError(f"Node {self.id!r} has no open request with the id {id!r}", [self.id])
        await self._take(id, answer, ctx)

    async def cancel_request(self, request: PendingRequest, ctx: Context) -> None:
        """A cancelled approval counts as refused, a cancelled tool of the caller as an error."""
        part = self._open.get(request.id)
        if isinstance(part, ApprovalRequest):
            await self._take(request.id, ApprovalResponse(part.id, False, part.call), ctx)
        elif isinstance(part, ToolCall):
            await self._take(request.id, ToolResult(part.call_id, CANCELLED), ctx)

    async def _take(self, id: str, answer: Part, ctx: Context) -> None:
        """Keeps an answer; the last one replaces the cache by all of them, in the order of the requests."""
        del self._open[id]
        self._answers[id] = answer
        if self._open:
            return
        self._cache = _as_messages([self._answers[i] for i in self._order if i in self._answers])
        self._answers, self._order = {}, ()
        await self._turn(ctx)

    # ---------------------------------------------------------------------------------------------- checkpoints

    async def save(self) -> dict[str, Any]:
        """Cache, conversation, session, open requests, answers so far, order of the requests; empty ones left out."""
        saved: dict[str, Any] = {
            "cache": self._cache,
            "full_conversation": self._conversation,
            "session": self.session.to_dict(),
            "open": dict(self._open),
            "answers": dict(self._answers),
            "order": self._order,
        }
        return {key: value for key, value in saved.items() if value}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Takes everything over; what is not saved is empty afterwards, also in a reused instance."""
        self._cache = tuple(state.get("cache", ()))
        self._conversation = tuple(state.get("full_conversation", ()))
        self._open = dict(state.get("open", {}))
        self._answers = dict(state.get("answers", {}))
        self._order = tuple(state.get("order", ()))
        # The object stays: nodes that share a session must go on sharing it.
        kept = Session.from_dict(state["session"]) if "session" in state else self.agent.new_session()
        self.session.id, self.session.messages, self.session.state = kept.id, kept.messages, kept.state


def _as_messages(parts: Sequence[Part]) -> tuple[Message, ...]:
    """One message per run of equal roles: results are of the tool, everything else of the user."""
    messages: list[Message] = []
    for part in parts:
        role: Literal["tool", "user"] = "tool" if isinstance(part, ToolResult) else "user"
        if messages and messages[-1].role == role:
            messages[-1] = Message(role, (*messages[-1].parts, part))
        else:
            messages.append(Message(role, (part,)))
    return tuple(messages)
