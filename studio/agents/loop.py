"""The tool loop of one agent turn: model, tools, model, until there is an answer or somebody must be asked."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from studio.agents import pending
from studio.agents.client import ChatRequest, RunHooks
from studio.agents.loop_settings import DEFAULT_LOOP, LoopSettings
from studio.agents.messages import (
    AgentReply,
    AgentUpdate,
    ApprovalRequest,
    ApprovalResponse,
    Message,
    Part,
    Role,
    Text,
    ToolCall,
    ToolResult,
    assistant,
)
from studio.agents.model_calls import ModelCaller, tell
from studio.agents.pending import Batch
from studio.agents.tool_runs import AskAgain, ToolRunner
from studio.agents.tools import REJECTED, ArgumentsError, Tool, parse_arguments
from studio.checkpoints.quick import maker

_agent_update = maker(AgentUpdate)

MAX_MODEL_CALLS = DEFAULT_LOOP.max_iterations
NO_ANSWER = "Function invocation limit reached before a final answer could be produced."
REPEATED = "Error: This call was made {count} times in a row with the same result; it is not run again."


class UnknownToolError(KeyError):
    """The model called a tool that does not exist, and the settings make that an error."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would put it into quotation marks


@dataclass(frozen=True, slots=True)
class TurnEnd:
    """What a turn gave, and the batch that waits for answers."""

    reply: AgentReply
    batch: Batch | None


@dataclass(slots=True)
class ToolLoop:
    """One turn; made anew for each. ``request`` has everything but the messages."""

    request: ChatRequest
    model: ModelCaller
    runner: ToolRunner
    author: str
    hooks: RunHooks
    settings: LoopSettings = DEFAULT_LOOP
    started: float = 0.0
    """When the turn began, for the limit of its duration; a turn that waited for approval began before."""
    updates: Callable[[AgentUpdate], None] | None = None
    """Where the turn is streamed to."""
    _reply: list[Message] = field(default_factory=list, init=False)
    _errors: int = field(default=0, init=False)
    _repeats: int = field(default=0, init=False)
    _last_batch: str = field(default="", init=False)
    _tools_off: bool = field(default=False, init=False)

    @property
    def _tools(self) -> dict[str, Tool]:
        return dict(self.runner.tools)

    async def run(self, history: Sequence[Message], given: Sequence[Message], batch: Batch | None) -> TurnEnd:
        """The whole turn. ``batch`` is what an earlier turn left open."""
        if batch is None:
            seen = _without_approvals([*history, *given])
        else:
            batch, answered = pending.take_answers(batch, given)
            if answered and not batch.complete:
                return self._still_waiting(batch)
            if answered:
                settled = await self._settle(history, given, batch)
                if isinstance(settled, TurnEnd):
                    return settled
                seen, batch = settled, None
            else:
                seen = _without_approvals(pending.hide_open_calls([*history, *given], batch))
        return await self._loop(seen, batch)

    async def _loop(self, seen: list[Message], batch: Batch | None) -> TurnEnd:
        for _ in range(self.settings.max_iterations):
            message = await self._model_call(seen)
            calls = self._calls(message)
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
            if self.runner.ended:
                return self._end(batch)
        self._limit("max_iterations", f"{self.settings.max_iterations} model calls")
        self._answer(await self._model_call(seen))
        return self._end(batch)

    def _calls(self, message: Message) -> list[ToolCall]:
        """The calls that are to be run now."""
        if not self.settings.enabled or self._tools_off or not self.runner.tools:
            return []
        calls = [p for p in message.parts if isinstance(p, ToolCall)]
        unknown = next((c.name for c in calls if c.name not in self.runner.tools), None)
        if unknown is not None and self.settings.terminate_on_unknown_calls:
            raise UnknownToolError(f'Error: Requested function "{unknown}" not found.')
        return calls

    # ------------------------------------------------------------------------------------------------ answers

    def _still_waiting(self, batch: Batch) -> TurnEnd:
        requests = batch.requests
        if requests:
            self._reply.append(Message("assistant", requests))
            self._update(requests)
        return self._end(batch, requests)

    async def _settle(
        self, history: Sequence[Message], given: Sequence[Message], batch: Batch
    ) -> list[Message] | TurnEnd:
        """Runs what was approved; what the model sees: everything before, then the results in the calls' order."""
        running = [c.call for c in batch.calls if c.runs]
        approved = frozenset(c.call.call_id for c in batch.calls if c.kind == "ask")
        ran = iter(await self._run_approved(running, approved))
        settled = [
            pending.settled(c, next(ran) if c.runs else ToolResult(c.call.call_id, REJECTED)) for c in batch.calls
        ]
        again = Batch(tuple(settled))
        if not again.complete:
            return self._still_waiting(again)
        new = [c.result for c in again.of_model if c.kind != "caller" and c.result is not None]
        by_people = pending.calls_of_people(again)
        for message in (Message("tool", tuple(new)), *by_people):
            self._reply.append(message)
            self._update(message.parts, message.role)
        if self.runner.ended:
            return self._end(None)
        callers = {c.call.call_id for c in batch.calls if c.kind == "caller"}
        rest = _without_approvals([*history, *_without_results(given, callers)])
        results = Message("tool", tuple(c.result for c in again.of_model if c.result is not None))
        return [*rest, results, *by_people]

    async def _run_approved(self, calls: Sequence[ToolCall], approved: frozenset[str]) -> list[ToolResult | AskAgain]:
        """As :meth:`_run_calls`; arguments that middleware changed must be approved again."""
        results = await self.runner.run(calls, approved=approved) if calls else []
        self._note([r for r in results if isinstance(r, ToolResult)])
        return results

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
        return TurnEnd(AgentReply(signed, self.model.usage, self.model.finish_reason, requests=requests), batch)

    # ---------------------------------------------------------------------------------------------- model, tools

    async def _model_call(self, seen: Sequence[Message]) -> Message:
        """One call of the model; gives its message."""
        options = self.request.options
        if self._tools_off and self.request.tools:
            options = replace(options, tool_choice="none")
        request = replace(self.request, messages=tuple(seen), options=options)
        reply = await self.model.ask(request, self._chunk if self.updates is not None else None)
        if self.updates is None:
            for part in (p for m in reply.messages for p in m.parts):
                tell(self.hooks, part)
        return reply.messages[-1] if reply.messages else Message("assistant")

    async def _run_calls(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """Runs the calls; results in the calls' order. Afterwards limits may have switched the tools off."""
        written = _written(calls)
        if self._repeats and self._repeats == self.settings.max_repeats and self._last_batch.startswith(written):
            return self._stopped(calls)
        results: list[ToolResult] = await self.runner.run(calls)
        batch = f"{written}{[(r.result, r.error) for r in results]}"
        self._repeats = self._repeats + 1 if batch == self._last_batch else 1
        self._last_batch = batch
        self._note(results)
        return results

    def _stopped(self, calls: Sequence[ToolCall]) -> list[ToolResult]:
        """The model goes round in circles: its calls are not run, and it is asked for an answer without tools."""
        text = REPEATED.format(count=self._repeats)
        self._limit("repeated_calls", f"{calls[0].name} was called {self._repeats} times in a row with the same result")
        return [ToolResult(call.call_id, text, "RepeatedCall") for call in calls]

    def _note(self, results: Sequence[ToolResult]) -> None:
        """Counts a batch against the limits."""
        s = self.settings
        self._errors = self._errors + 1 if any(r.error for r in results) else 0
        if self._errors >= s.max_consecutive_errors:
            self._limit("max_consecutive_errors", f"{self._errors} batches with errors in a row")
        elif s.max_function_calls is not None and self.runner.ran >= s.max_function_calls:
            self._limit("max_function_calls", f"{self.runner.ran} tool calls")
        elif s.max_duration_seconds is not None and s.clock() - self.started >= s.max_duration_seconds:
            self._limit("max_duration_seconds", f"{s.max_duration_seconds:g} s")

    def _limit(self, kind: str, detail: str) -> None:
        if not self._tools_off:
            self._tools_off = True
            self.hooks.limit_reached(kind, detail)

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
        parts, updates = update.parts, self.updates
        for part in parts:
            if type(part) is Text:  # this runs for every token
                self.hooks.tokens(part.text, "text")
            else:
                tell(self.hooks, part)
        if updates is not None and (parts or update.finish_reason or update.usage):
            u = update
            updates(_agent_update(parts, u.role, self.author, u.message_id, u.response_id, u.usage, u.finish_reason))

    def _update(self, parts: Sequence[Part], role: Role = "assistant") -> None:
        if self.updates is not None:
            self.updates(AgentUpdate(tuple(parts), role, self.author))


def _without_approvals(messages: Sequence[Message]) -> list[Message]:
    """Models know calls and results only, not who was asked in between."""
    return pending.without(messages, (ApprovalRequest, ApprovalResponse))


def _without_results(messages: Iterable[Message], call_ids: set[str]) -> list[Message]:
    kept: list[Message] = []
    for message in messages:
        parts = tuple(p for p in message.parts if not (isinstance(p, ToolResult) and p.call_id in call_ids))
        if parts:
            kept.append(message if len(parts) == len(message.parts) else replace(message, parts=parts))
    return kept


def _written(calls: Sequence[ToolCall]) -> str:
    """The calls as one text: names and arguments, whatever order the arguments have."""
    pieces: list[str] = []
    for call in calls:
        try:
            arguments = json.dumps(parse_arguments(call), sort_keys=True)
        except ArgumentsError:
            arguments = call.arguments
        pieces.append(f"{call.name}({arguments})")
    return "; ".join(pieces) + " -> "
