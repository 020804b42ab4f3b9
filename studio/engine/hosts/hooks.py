"""What happens inside an agent, as events of its node."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from studio.agents.client import ChatRequest, TextKind
from studio.agents.messages import AgentReply, Message, ToolCall, ToolResult, Usage
from studio.checkpoints.quick import maker
from studio.engine.context import Context
from studio.engine.events import (
    HistoryWritten,
    ModelCallFinished,
    ModelCallRetried,
    ModelCallStarted,
    TokensArrived,
    ToolFinished,
    ToolStarted,
)
from studio.engine.gate import Replaced
from studio.engine.results import Invocation

_tokens_arrived = maker(TokensArrived)


async def answer_of(node: str, reply: AgentReply, ctx: Context) -> AgentReply:
    """The answer of an agent's turn, or what the gate puts in its place."""
    if ctx.scope.after_model_call is None:
        return reply
    replaced = await ctx.scope.after_model_call(node, reply, ctx.inside)
    if type(replaced) is not Replaced:
        return reply
    taken: AgentReply = replaced.value
    return taken


class NodeHooks:
    """The ``RunHooks`` of one invocation."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._node = ctx.node
        self._scope = ctx.scope
        self._raw = ""
        """The answer of the call that is about to finish."""

    def _at(self) -> Invocation:
        c = self._ctx
        return Invocation(self._node, c.invocation, c.superstep, c.sources, c.inside)

    async def before_model_call(self, messages: Sequence[Message]) -> Sequence[Message] | None:
        """Lets the gate hold the call, and give other messages."""
        gate = self._ctx.gate
        if gate is None:
            return None
        replaced: Sequence[Message] | None = await gate.before_model_call(self._node, messages, self._ctx.inside)
        return replaced

    async def result_of_model(self, request: ChatRequest) -> AgentReply | None:
        """Asks the gate for an answer."""
        take = self._ctx.scope.result_of_model
        reply: AgentReply | None = None if take is None else await take(self._at(), request)
        return reply

    async def result_of_tool(self, call: ToolCall) -> ToolResult | None:
        """Asks the gate for a result."""
        take = self._ctx.scope.result_of_tool
        result: ToolResult | None = None if take is None else await take(self._at(), call)
        return result

    def model_call_started(self, call: str, messages: tuple[Message, ...], model: str, settings: str = "") -> None:
        c = self._ctx
        c.emit(ModelCallStarted(c.now(), self._node, c.invocation, call, messages, model, c.inside, settings))

    def tokens(self, text: str, kind: TextKind) -> None:
        scope = self._scope
        emit = scope.emit
        if emit is not None:
            t = perf_counter() - scope.started
            emit(_tokens_arrived(t, self._node, self._ctx.invocation, text, kind, scope.inside))

    def model_call_retried(self, call: str, attempt: int, wait: float, reason: str) -> None:
        c = self._ctx
        c.emit(ModelCallRetried(c.now(), self._node, c.invocation, call, attempt, wait, reason))

    def raw_answer(self, call: str, text: Callable[[], str]) -> None:
        if self._scope.emit is not None:
            self._raw = text()

    def model_call_finished(
        self,
        call: str,
        usage: Usage | None,
        finish_reason: str | None,
        error: str,
        reply: AgentReply | None = None,
        raw: str = "",
    ) -> None:
        c = self._ctx
        node, at = self._node, c.now()
        raw, self._raw = raw or self._raw, ""
        c.emit(ModelCallFinished(at, node, c.invocation, call, usage, finish_reason, error, c.inside, reply, raw))

    def tool_started(self, call: ToolCall) -> None:
        c = self._ctx
        c.emit(ToolStarted(c.now(), self._node, c.invocation, call, c.inside))

    def tool_finished(self, call_id: str, result: Any, error: str, detail: str = "") -> None:
        c = self._ctx
        c.emit(ToolFinished(c.now(), self._node, c.invocation, call_id, result, error, c.inside, detail))

    def limit_reached(self, kind: str, detail: str) -> None:
        self._ctx.emit_named("limit_reached", {"limit": kind, "detail": detail})

    def history_written(self, source: str, messages: Sequence[Message]) -> None:
        c = self._ctx
        c.emit(HistoryWritten(c.now(), self._node, c.invocation, source, tuple(messages), c.inside))
