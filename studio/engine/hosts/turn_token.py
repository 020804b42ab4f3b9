"""The agent node with turn tokens: it collects messages and takes a turn when a token comes.

Behaves like the C# host of the framework, without its defects: a restored node has exactly what the checkpoint says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from studio.agents.messages import (
    AgentReply,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    ToolCall,
    ToolResult,
    user,
)
from studio.agents.session import Session
from studio.checkpoints import PendingRequest
from studio.engine.context import Context
from studio.engine.errors import WorkflowError
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.hosts.agent import CANCELLED, RunnableAgent
from studio.engine.hosts.hooks import NodeHooks, answer_of
from studio.engine.hosts.turn_rules import DuplicateRequest, MessageIds, portable, reassigned, unserviced
from studio.engine.types import ListOf, Type
from studio.engine.values import ResetChat, ResetNode, TurnToken


@dataclass(frozen=True, slots=True)
class TurnTokenOptions:
    """The six options of the host, with the defaults of C#."""

    emit_agent_update_events: bool | None = None
    """Whether the agent streams and each update is yielded; only asked when the token leaves it open."""
    emit_agent_response_events: bool = False
    """Whether each whole response is yielded, unfiltered."""
    intercept_user_input_requests: bool = False
    """Approvals are sent to the following nodes instead of asked outside."""
    intercept_unterminated_function_calls: bool = False
    """Calls without result are sent to the following nodes instead of asked outside."""
    reassign_other_agents_as_users: bool = True
    forward_incoming_messages: bool = True


DEFAULTS = TurnTokenOptions()


class TurnTokenHost(Executor):
    """Sends, per turn: what came in, bare requests (if intercepted), the response, and a token if nothing is open."""

    def __init__(self, agent: RunnableAgent, id: str, options: TurnTokenOptions = DEFAULTS) -> None:
        self.agent = agent
        self.options = options
        self.identity = agent.name
        self._buffer: list[Message] = []
        self._session: Session | None = None
        self._emit: bool | None = None
        self._approvals: dict[str, ApprovalRequest] = {}
        self._calls: dict[str, ToolCall] = {}
        sends: tuple[Type, ...] = (ListOf(Message), TurnToken)
        if options.intercept_user_input_requests:
            sends = (*sends, ApprovalRequest)
        if options.intercept_unterminated_function_calls:
            sends = (*sends, ToolCall)
        super().__init__(id, self._handlers(sends), self._answers(sends))

    def _handlers(self, sends: tuple[Type, ...]) -> list[Handler]:
        yields: tuple[Type, ...] = (AgentReply, AgentUpdate)
        handlers = [
            Handler(str, self._on_text),
            Handler(Message, self._on_message),
            Handler(ListOf(Message), self._on_messages),
            Handler(TurnToken, self._on_token, sends, yields),
            Handler(ResetChat, self._on_reset_chat),
            Handler(ResetNode, self._on_reset_node),
        ]
        if self.options.intercept_user_input_requests:
            handlers.append(Handler(ApprovalResponse, self._on_answer, sends, yields))
        if self.options.intercept_unterminated_function_calls:
            handlers.append(Handler(ToolResult, self._on_answer, sends, yields))
        return handlers

    def _answers(self, sends: tuple[Type, ...]) -> list[ResponseHandler]:
        async def answered(question: Any, answer: Any, ctx: Context) -> None:
            await self._on_answer(answer, ctx)

        yields: tuple[Type, ...] = (AgentReply, AgentUpdate)
        return [
            ResponseHandler(ApprovalRequest, ApprovalResponse, answered, sends, yields),
            ResponseHandler(ToolCall, ToolResult, answered, sends, yields),
        ]

    # --------------------------------------------------------------------------------------------- what is shown

    @property
    def buffer(self) -> tuple[Message, ...]:
        """Messages since the last turn; also those of a turn that failed."""
        return tuple(self._buffer)

    @property
    def waiting(self) -> tuple[str, ...]:
        """Ids of the approvals, then of the calls that have no answer yet; while there are any, no token is sent."""
        return (*self._approvals, *self._calls)

    # --------------------------------------------------------------------------------------------------- caching

    async def _on_text(self, text: str, ctx: Context) -> None:
        self._collect([user(text)], ctx)

    async def _on_message(self, message: Message, ctx: Context) -> None:
        self._collect([message], ctx)

    async def _on_messages(self, messages: Sequence[Message], ctx: Context) -> None:
        self._collect(messages, ctx)

    def _collect(self, messages: Sequence[Message], ctx: Context) -> None:
        self._buffer.extend(messages)
        if ctx.scope.emit is not None:
            ctx.emit_named("collected", {"messages": len(messages)})

    async def _on_reset_chat(self, _: ResetChat, ctx: Context) -> None:
        self.reset_chat()

    async def _on_reset_node(self, _: ResetNode, ctx: Context) -> None:
        self.reset_node()

    def reset_chat(self) -> None:
        """The next turn starts a new session; buffer and open questions stay."""
        self._session = None
        self._emit = None

    def reset_node(self) -> None:
        """The node is as new; answers that come for its old questions are errors."""
        self.reset_chat()
        self._buffer, self._approvals, self._calls = [], {}, {}

    # ------------------------------------------------------------------------------------------------------ turn

    async def _on_token(self, token: TurnToken, ctx: Context) -> None:
        emit = token.emit_events
        if emit is None:
            emit = bool(self.options.emit_agent_update_events)
        await self._turn(emit, ctx)

    async def _turn(self, emit: bool, ctx: Context) -> None:
        """One invocation of the agent with the buffer, which stays full if the agent fails."""
        self._emit = emit
        incoming = list(self._buffer)
        if self.options.forward_incoming_messages:
            ctx.send(incoming, purpose="forward")
        shown = incoming
        if self.options.reassign_other_agents_as_users:
            shown = [reassigned(message, self.identity) for message in incoming]
        reply = await self._run(shown, emit, ctx)
        if self.options.emit_agent_response_events:
            ctx.yield_output(reply)
        self._ask(reply, ctx)
        response = portable(reply.messages)
        if response:
            ctx.send(response, purpose="response")
        if not self._approvals and not self._calls:
            ctx.send(TurnToken(emit), purpose="token")
            self._emit = None
        self._buffer = []

    async def _run(self, messages: Sequence[Message], emit: bool, ctx: Context) -> AgentReply:
        if self._session is None:
            self._session = self.agent.new_session()
        ids = MessageIds()
        updates: Callable[[AgentUpdate], None] | None = None
        if emit:

            def update(chunk: AgentUpdate) -> None:
                ctx.yield_output(ids.named(chunk))

            updates = update
        listened = ctx.scope.emit is not None or ctx.gate is not None
        hooks = NodeHooks(ctx) if listened else None
        reply = await self.agent.run(messages, session=self._session, updates=updates, hooks=hooks)
        reply = await answer_of(self.id, reply, ctx)
        if not emit:
            return reply
        return AgentReply(
            ids.carried_over(reply.messages), reply.usage, reply.finish_reason, reply.value, reply.requests
        )

    # ------------------------------------------------------------------------------------------ requests, answers

    def _ask(self, reply: AgentReply, ctx: Context) -> None:
        """Raises what the reply leaves open, approvals first; what is already open is not raised again."""
        try:
            found = unserviced(reply)
        except DuplicateRequest as error:
            raise WorkflowError(f"The agent of node {self.id!r} asked twice: {error}", [self.id]) from error
        for id, approval in found.approvals.items():
            if id not in self._approvals:
                self._approvals[id] = approval
                if self.options.intercept_user_input_requests:
                    ctx.send(approval, purpose="request")
                else:
                    ctx.request(approval, ApprovalResponse, self.request_id("UserInput", id))
        for id, call in found.calls.items():
            if id not in self._calls:
                self._calls[id] = call
                if self.options.intercept_unterminated_function_calls:
                    ctx.send(call, purpose="request")
                else:
                    ctx.request(call, ToolResult, self.request_id("FunctionCall", id))

    def request_id(self, port: str, content: str) -> str:
        """Id of the outside request for an approval (port "UserInput") or a call (port "FunctionCall")."""
        name = f"{self.id}_{port}"
        return f"{len(name)}:{name}:{content}"

    async def _on_answer(self, answer: ApprovalResponse | ToolResult, ctx: Context) -> None:
        """Each answer is a turn of its own, with whatever came in meanwhile."""
        if isinstance(answer, ApprovalResponse):
            if self._approvals.pop(answer.id, None) is None:
                raise WorkflowError(f"Node {self.id!r} has no pending approval {answer.id!r}", [self.id])
            self._buffer.append(Message("user", (answer,), id=uuid4().hex))
        else:
            if self._calls.pop(answer.call_id, None) is None:
                raise WorkflowError(f"Node {self.id!r} has no pending call {answer.call_id!r}", [self.id])
            self._buffer.append(Message("tool", (answer,), self.identity, uuid4().hex))
        await self._turn(bool(self._emit), ctx)

    async def cancel_request(self, request: PendingRequest, ctx: Context) -> None:
        """A cancelled approval counts as refused, a cancelled call as an error."""
        if isinstance(request.data, ApprovalRequest) and request.data.id in self._approvals:
            await self._on_answer(ApprovalResponse(request.data.id, False, request.data.call), ctx)
        elif isinstance(request.data, ToolCall) and request.data.call_id in self._calls:
            await self._on_answer(ToolResult(request.data.call_id, CANCELLED), ctx)

    # ----------------------------------------------------------------------------------------------- checkpoints

    async def save(self) -> dict[str, Any]:
        """Buffer, session, emit flag of a suspended turn, open approvals and calls; what is as new is left out."""
        saved: dict[str, Any] = {
            "buffer": list(self._buffer) or None,
            "session": None if self._session is None else self._session.to_dict(),
            "emit": self._emit,
            "approvals": dict(self._approvals) or None,
            "calls": dict(self._calls) or None,
        }
        return {key: value for key, value in saved.items() if value is not None}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Takes everything over; what is not saved is as new afterwards, also in a reused instance."""
        session = state.get("session")
        self._buffer = list(state.get("buffer") or ())
        self._session = None if session is None else Session.from_dict(session)
        self._emit = state.get("emit")
        self._approvals = dict(state.get("approvals") or {})
        self._calls = dict(state.get("calls") or {})
