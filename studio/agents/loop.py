"""The tool loop of one agent turn: model, tools, model, until there is an answer or somebody must be asked."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from studio.agents import pending
from studio.agents.client import ChatClient, ChatRequest, RunHooks
from studio.agents.messages import (
    AgentReply,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    assistant,
)
from studio.agents.pending import Batch
from studio.agents.tools import REJECTED, EndTurn, Tool, result_text, run_tool

MAX_MODEL_CALLS = 40
"""After so many model calls with tools one more is made with tools switched off."""
MAX_ERRORS_IN_A_ROW = 3
"""After so many batches with an error in a row tools are switched off."""
NO_ANSWER = "Function invocation limit reached before a final answer could be produced."


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn gave, and the batch that waits for answers."""

    reply: AgentReply
    batch: Batch | None


@dataclass(slots=True)
class ToolLoop:
    """One turn; made anew for each."""

    request: ChatRequest
    client: ChatClient
    author: str
    updates: Callable[[AgentUpdate], None] | None
    hooks: RunHooks
    _tools: dict[str, Tool] = field(init=False)
    _reply: list[Message] = field(default_factory=list, init=False)
    _usages: list[Usage | None] = field(default_factory=list, init=False)
    _finish: str | None = field(default=None, init=False)
    _errors: int = field(default=0, init=False)
    _tools_off: bool = field(default=False, init=False)
    _ended: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._tools = {t.name: t for t in self.request.tools}

    async def run(self, history: Sequence[Message], given: Sequence[Message], batch: Batch | None) -> TurnEnd:
        """The whole turn. ``batch`` is what an earlier turn left open."""
        if batch is None:
            seen = _without_approvals([*history, *given])
        else:
            batch, answered = pending.take_answers(batch, given)
            if answered and not batch.complete:
                return self._still_waiting(batch)
            if answered:
                seen = await self._settle(history, given, batch)
                batch = None
                if self._ended:
                    return self._end(None)
            else:
                seen = _without_approvals(pending.hide_open_calls([*history, *given], batch))
        for _ in range(MAX_MODEL_CALLS):
            message = await self._model_call(seen)
            calls = [p for p in message.parts if isinstance(p, ToolCall)] if self._tools and not self._tools_off else []
            if not calls:
                self._answer(message)
                return self._end(batch)
            waiting = pending.pause(calls, self._tools)
            if waiting is not None:
                return self._pause(message, waiting)
            results = await self._run_calls(calls)
            turn = [message, Message("tool", tuple(results))]
            self._reply.extend(turn)
            seen.extend(turn)
            self._after_tools()
            if self._ended:
                return self._end(batch)
        self._tools_off = True
        self._answer(await self._model_call(seen))
        return self._end(batch)

    # ------------------------------------------------------------------------------------------------ answers

    def _still_waiting(self, batch: Batch) -> TurnEnd:
        requests = batch.requests
        if requests:
            self._reply.append(Message("assistant", requests))
            self._update(requests)
        return self._end(batch, requests)

    async def _settle(self, history: Sequence[Message], given: Sequence[Message], batch: Batch) -> list[Message]:
        """Runs what was approved; what the model sees: everything before, then the results in the calls' order."""
        ran = iter(await self._run_calls([c.call for c in batch.calls if c.runs]))
        results: list[ToolResult] = []
        new: list[ToolResult] = []
        for c in batch.calls:
            if c.kind == "caller" and c.result is not None:
                results.append(c.result)
                continue
            result = next(ran) if c.runs else ToolResult(c.call.call_id, REJECTED)
            results.append(result)
            new.append(result)
        self._reply.append(Message("tool", tuple(new)))
        self._update(new, "tool")
        callers = {c.call.call_id for c in batch.calls if c.kind == "caller"}
        rest = _without_approvals([*history, *_without_results(given, callers)])
        return [*rest, Message("tool", tuple(results))]

    def _pause(self, message: Message, batch: Batch) -> TurnEnd:
        shown = pending.with_requests(message, batch, streamed=self.updates is not None)
        self._reply.append(shown)
        asked = tuple(ApprovalRequest(c.id, c.call) for c in batch.calls if c.kind == "ask")
        if asked:
            self._update(asked)
        callers = {id(c.call) for c in batch.calls if c.kind == "caller"}
        requests = tuple(
            p for p in shown.parts if isinstance(p, ApprovalRequest) or (isinstance(p, ToolCall) and id(p) in callers)
        )
        return self._end(batch if pending.needs_keeping(batch) else None, requests)

    def _answer(self, message: Message) -> None:
        """The last message; with tools switched off its calls are dropped, and an empty one says so."""
        if self._tools_off:
            message = replace(message, parts=tuple(p for p in message.parts if not isinstance(p, ToolCall)))
            if not message.text.strip():
                message = assistant(NO_ANSWER)
                self._update(message.parts)
        self._reply.append(message)

    def _end(self, batch: Batch | None, requests: tuple[ApprovalRequest | ToolCall, ...] = ()) -> TurnEnd:
        signed = tuple(m if m.author is not None else replace(m, author=self.author) for m in self._reply)
        return TurnEnd(AgentReply(signed, _sum(self._usages), self._finish, requests=requests), batch)

    # ---------------------------------------------------------------------------------------------- model, tools

    async def _model_call(self, seen: Sequence[Message]) -> Message:
        """One call of the model; gives its message."""
        messages = tuple(seen)
        await self.hooks.before_model_call(messages)
        options = self.request.options
        if self._tools_off and self._tools:
            options = replace(options, tool_choice="none")
        call = f"m{len(self._usages) + 1}"
        request = replace(self.request, messages=messages, options=options, call=call)
        self.hooks.model_call_started(call, messages, options.model or self.client.model)
        try:
            reply = await self.client.complete(request, chunk=self._chunk if self.updates else None, hooks=self.hooks)
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            self.hooks.model_call_finished(call, None, None, "cancelled" if cancelled else str(error) or repr(error))
            raise
        if self.updates is None:
            for part in (p for m in reply.messages for p in m.parts):
                self._tell(part)
        self._usages.append(reply.usage)
        self._finish = reply.finish_reason
        self.hooks.model_call_finished(call, reply.usage, reply.finish_reason, "")
        return reply.messages[-1] if reply.messages else Message("assistant")

    async def _run_calls(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Runs the calls at the same time; results in the calls' order."""
        if not calls:
            return []
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(self._run_call(c)) for c in calls]
        results = [t.result() for t in tasks]
        self._errors = self._errors + 1 if any(r.error for r in results) else 0
        if self._errors >= MAX_ERRORS_IN_A_ROW:
            self._tools_off = True
        return results

    async def _run_call(self, call: ToolCall) -> ToolResult:
        self.hooks.tool_started(call)
        try:
            result = await run_tool(call, self._tools)
        except EndTurn as end:
            self._ended = True
            result = ToolResult(call.call_id, result_text(end.result))
        except BaseException:
            self.hooks.tool_finished(call.call_id, None, "CancelledError")
            raise
        self.hooks.tool_finished(call.call_id, result.result, result.error or "")
        return result

    def _after_tools(self) -> None:
        """A streaming caller sees the results; a forced tool is forced once, else the loop would never end."""
        results = self._reply[-1].parts
        self._update(results, "tool")
        if self.request.options.tool_choice not in (None, "auto", "none"):
            self.request = replace(self.request, options=replace(self.request.options, tool_choice=None))

    # ------------------------------------------------------------------------------------------------- streaming

    def _chunk(self, update: AgentUpdate) -> None:
        if self._tools_off and any(isinstance(p, ToolCall) for p in update.parts):
            update = replace(update, parts=tuple(p for p in update.parts if not isinstance(p, ToolCall)))
        for part in update.parts:
            self._tell(part)
        if self.updates is not None and (update.parts or update.finish_reason or update.usage):
            self.updates(replace(update, author=self.author))

    def _tell(self, part: Part) -> None:
        if isinstance(part, Text):
            self.hooks.tokens(part.text, "text")
        elif isinstance(part, Reasoning):
            self.hooks.tokens(part.text, "reasoning")

    def _update(self, parts: Sequence[Part], role: Role = "assistant") -> None:
        if self.updates is not None:
            self.updates(AgentUpdate(tuple(parts), role, self.author))


def _without_approvals(messages: Iterable[Message]) -> list[Message]:
    """Models know calls and results only, not who was asked in between."""
    return pending.without(messages, (ApprovalRequest, ApprovalResponse))


def _without_results(messages: Iterable[Message], call_ids: set[str]) -> list[Message]:
    kept: list[Message] = []
    for message in messages:
        parts = tuple(p for p in message.parts if not (isinstance(p, ToolResult) and p.call_id in call_ids))
        if parts:
            kept.append(message if len(parts) == len(message.parts) else replace(message, parts=parts))
    return kept


def _sum(usages: Sequence[Usage | None]) -> Usage | None:
    known = [u for u in usages if u is not None]
    if not known:
        return None
    total = known[0]
    for usage in known[1:]:
        total = total + usage
    return replace(total, partial=True) if len(known) < len(usages) else total
