"""One model call of a run: chat middleware around it, compaction before it, hooks and usage."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from studio.agents.client import ChatClient, ChatRequest, NoHooks, RunHooks
from studio.agents.compaction.groups import Compactor
from studio.agents.errors import ProviderError
from studio.agents.messages import AgentReply, AgentUpdate, Message, Part, Reasoning, Text, Usage
from studio.agents.middleware import Answering, ChatMiddleware, ModelCall, answered
from studio.agents.redaction import redact
from studio.agents.session import Session
from studio.agents.told import told_settings


@dataclass(slots=True)
class ModelCaller:
    """The model calls of one run."""

    client: ChatClient
    author: str
    hooks: RunHooks
    middleware: tuple[ChatMiddleware, ...] = ()
    compactor: Compactor | None = None
    session: Session | None = None
    finish_reason: str | None = None
    """Of the last call."""
    _usages: list[Usage | None] = field(default_factory=list, init=False)
    _calls: int = field(default=0, init=False)
    _sent: int = field(default=0, init=False)

    @property
    def usage(self) -> Usage | None:
        """The sum over all calls; partial if some told nothing, None if none told anything."""
        known = [usage for usage in self._usages if usage is not None]
        if not known:
            return None
        total = known[0]
        for usage in known[1:]:
            total = total + usage
        return replace(total, partial=True) if len(known) < len(self._usages) else total

    async def ask(self, request: ChatRequest, chunk: Callable[[AgentUpdate], None] | None) -> AgentReply:
        """The answer of the model, or of a middleware in its place; empty if none gave one."""
        self._calls += 1
        sent = self._sent
        if not self.middleware:
            reply: AgentReply | None = await self._send(request, chunk)
        else:
            reply = await self._through_middleware(request, chunk)
        if reply is None:
            reply = AgentReply()
        if self._sent == sent and reply.usage is not None:
            self._usages.append(reply.usage)
        self.finish_reason = reply.finish_reason
        return reply

    async def _through_middleware(
        self, request: ChatRequest, chunk: Callable[[AgentUpdate], None] | None
    ) -> AgentReply | None:
        call = ModelCall(
            streaming=chunk is not None,
            agent=self.author,
            messages=list(request.messages),
            instructions=request.instructions,
            session=self.session,
            options=request.options,
            tools=request.tools,
            number=self._calls,
        )

        sent: list[AgentReply] = []
        shown: list[AgentUpdate] = []

        def show(update: AgentUpdate) -> None:
            shown.append(update)
            if chunk is not None:
                chunk(update)

        async def prepare() -> Answering:
            changed = replace(
                request,
                messages=tuple(call.messages),
                instructions=call.instructions,
                options=call.options,
                tools=call.tools,
            )

            async def answer(sink: Callable[[AgentUpdate], None] | None) -> AgentReply:
                sent.append(await self._send(changed, sink))
                return sent[-1]

            return answer

        reply = await answered(self.middleware, call, prepare, None if chunk is None else show)
        return _as_shown(reply, shown) if call.changes_updates and sent and reply is sent[-1] else reply

    async def _send(self, request: ChatRequest, chunk: Callable[[AgentUpdate], None] | None) -> AgentReply:
        messages: Sequence[Message] = request.messages
        if self.compactor is not None:
            messages = await self.compactor.compacted(messages)
        self._sent += 1
        replaced = await self.hooks.before_model_call(tuple(messages))
        shown = messages if replaced is None else replaced
        request = replace(request, messages=tuple(shown), call=f"m{self._sent}")
        model = request.options.model or self.client.model
        settings = "" if isinstance(self.hooks, NoHooks) else told_settings(self.client, request, chunk is not None)
        self.hooks.model_call_started(request.call, request.messages, model, settings)
        try:
            reply = await self._taken(request, chunk) or await self.client.complete(
                request, chunk=chunk, hooks=self.hooks
            )
        except BaseException as error:
            cancelled = isinstance(error, asyncio.CancelledError)
            told = "cancelled" if cancelled else str(error) or repr(error)
            raw = redact(error.raw) if isinstance(error, ProviderError) else ""
            self.hooks.model_call_finished(request.call, None, None, told, None, raw)
            raise
        self._usages.append(reply.usage)
        self.hooks.model_call_finished(request.call, reply.usage, reply.finish_reason, "", reply)
        return reply

    async def _taken(self, request: ChatRequest, chunk: Callable[[AgentUpdate], None] | None) -> AgentReply | None:
        """The answer that a debugger has for this call, streamed in one piece."""
        reply = await self.hooks.result_of_model(request)
        if reply is not None and chunk is not None:
            for message in reply.messages:
                chunk(AgentUpdate(message.parts))
            chunk(AgentUpdate(usage=reply.usage, finish_reason=reply.finish_reason))
        return reply


def _as_shown(reply: AgentReply, updates: Sequence[AgentUpdate]) -> AgentReply:
    """The answer of a stream whose updates went through hooks: its words are theirs, its calls stay."""
    said = [part for update in updates for part in update.parts if isinstance(part, Text | Reasoning)]
    parts: list[Part] = []
    for kind, pieces in groupby(said, type):
        parts.append(kind("".join(piece.text for piece in pieces)))
    first, *others = reply.messages or (Message("assistant", ()),)
    kept = (p for p in first.parts if not isinstance(p, Text | Reasoning))
    return replace(reply, messages=(replace(first, parts=(*parts, *kept)), *others))


def tell(hooks: RunHooks, part: Part) -> None:
    """Tells a part of an answer as tokens, if it has text."""
    if isinstance(part, Text):
        hooks.tokens(part.text, "text")
    elif isinstance(part, Reasoning):
        hooks.tokens(part.text, "reasoning")
