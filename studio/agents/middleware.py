"""Middleware: code around an agent's run, around each model call and around each tool call.

A middleware is ``async def m(context, call_next)``; the first in a list is the outermost. In a streaming run
``call_next`` only prepares: the model is asked after the whole chain has returned. What must happen to a streamed
answer is therefore a hook of the context (``on_update``, ``on_result``, ``on_close``). They work for whole answers too.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from studio.agents.client import ChatOptions
from studio.agents.messages import AgentReply, AgentUpdate, Message, ToolCall
from studio.agents.session import Session
from studio.agents.tools import Tool
from studio.agents.update_hooks import HookedUpdates, Slow, UpdateHook, UpdatesHook, UpdateSink

Next = Callable[[], Awaitable[None]]
ResultHook = Callable[[AgentReply], "AgentReply | Awaitable[AgentReply | None] | None"]
CloseHook = Callable[[], "Awaitable[None] | None"]
Answering = Callable[["UpdateSink | None"], Awaitable[AgentReply]]
"""Gives the answer, streamed into what it is given."""


class Termination(Exception):
    """Ends a chain at once: what outer middleware would do afterwards is skipped, the result so far stands.

    Around a tool call it ends the turn: all calls of the batch finish, the model is not asked again.
    """

    def __init__(self, result: Any = None) -> None:
        self.result = result
        super().__init__("terminated")


class MiddlewareFailure(Exception):
    """Raised around a tool call or by a tool: the batch is cancelled, the run fails, nothing is stored."""


@dataclass(slots=True)
class _Streamed:
    """What contexts of answers share: the result and the hooks."""

    streaming: bool = False
    result: AgentReply | None = None
    """The answer; setting it without ``call_next`` answers in the model's place."""
    metadata: dict[str, Any] = field(default_factory=dict)
    _on_update: list[UpdateHook | Slow] = field(default_factory=list, init=False)
    _on_result: list[ResultHook] = field(default_factory=list, init=False)
    _on_close: list[CloseHook] = field(default_factory=list, init=False)
    _on_the_way: HookedUpdates | None = field(default=None, init=False)

    @property
    def changes_updates(self) -> bool:
        """Whether there is a hook on updates."""
        return bool(self._on_update)

    def on_update(self, hook: UpdateHook) -> None:
        """Every update goes through ``hook``; None drops it. Hooks of inner middleware come first."""
        self._on_update.append(hook)

    def on_updates(self, hook: UpdatesHook) -> None:
        """The same for a hook that takes its time: updates that come meanwhile wait, and keep their order."""
        self._on_update.append(Slow(hook))

    def on_result(self, hook: ResultHook) -> None:
        """The whole answer goes through ``hook``; None keeps it. Hooks of inner middleware come first."""
        self._on_result.append(hook)

    def on_close(self, hook: CloseHook) -> None:
        """``hook`` is called when the answer is complete or has failed."""
        self._on_close.append(hook)

    def hooked(self, sink: UpdateSink) -> HookedUpdates:
        """``sink`` behind the update hooks."""
        self._on_the_way = HookedUpdates(self._on_update[::-1], sink)
        return self._on_the_way

    async def delivered(self) -> None:
        """Waits until all updates so far are through the hooks. Raises what a hook raised."""
        if self._on_the_way is not None:
            await self._on_the_way.through()

    async def finish(self) -> None:
        """Lets the result hooks have the answer."""
        for hook in reversed(self._on_result):
            if self.result is None:
                return
            changed = hook(self.result)
            changed = await changed if inspect.isawaitable(changed) else changed
            self.result = self.result if changed is None else changed

    async def close(self) -> None:
        """Calls the close hooks, in the order they were given."""
        for hook in self._on_close:
            waiting = hook()
            if inspect.isawaitable(waiting):
                await waiting


@dataclass(slots=True)
class AgentRun(_Streamed):
    """One run of an agent, as agent middleware sees it. What is changed before ``call_next`` is what happens."""

    agent: str = ""
    messages: list[Message] = field(default_factory=list)
    session: Session | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    tools: tuple[Tool, ...] = ()


@dataclass(slots=True)
class ModelCall(_Streamed):
    """One model call, as chat middleware sees it. Changes hold for this call only and are not stored."""

    agent: str = ""
    messages: list[Message] = field(default_factory=list)
    instructions: str = ""
    session: Session | None = None
    options: ChatOptions = field(default_factory=ChatOptions)
    tools: tuple[Tool, ...] = ()
    number: int = 1
    """Counts the model calls of the run."""


@dataclass(slots=True)
class ToolRun:
    """One tool call, as function middleware sees it; ``result`` without ``call_next`` skips the tool."""

    tool: Tool
    call: ToolCall
    arguments: dict[str, Any]
    session: Session | None = None
    approved: bool = False
    """Whether a person let this call run; changing its arguments then asks again."""
    result: Any = None
    metadata: dict[str, Any] = field(default_factory=dict)


class AgentMiddleware(Protocol):
    """Around a whole run."""

    async def __call__(self, context: AgentRun, call_next: Next, /) -> None: ...


class ChatMiddleware(Protocol):
    """Around each model call."""

    async def __call__(self, context: ModelCall, call_next: Next, /) -> None: ...


class FunctionMiddleware(Protocol):
    """Around each tool call."""

    async def __call__(self, context: ToolRun, call_next: Next, /) -> None: ...


@dataclass(frozen=True, slots=True)
class Middleware:
    """Middleware of the three kinds, each outermost first."""

    agent: tuple[AgentMiddleware, ...] = ()
    chat: tuple[ChatMiddleware, ...] = ()
    function: tuple[FunctionMiddleware, ...] = ()

    def __add__(self, inner: Middleware) -> Middleware:
        return Middleware(self.agent + inner.agent, self.chat + inner.chat, self.function + inner.function)


NO_MIDDLEWARE = Middleware()

C = TypeVar("C")
_Streams = TypeVar("_Streams", AgentRun, ModelCall)


async def chained(chain: Sequence[Callable[[C, Next], Awaitable[None]]], context: C, final: Next) -> None:
    """Calls the chain around ``final``."""
    if not chain:
        await final()
        return

    async def call_next() -> None:
        await chained(chain[1:], context, final)

    await chain[0](context, call_next)


async def answered(
    chain: Sequence[Callable[[_Streams, Next], Awaitable[None]]],
    context: _Streams,
    prepare: Callable[[], Awaitable[Answering]],
    sink: UpdateSink | None,
) -> AgentReply | None:
    """The answer through the chain; None if nobody gave one.

    ``prepare`` is what ``call_next`` does at the end of the chain. What it gives is then asked for the answer: at once,
    or, for a streaming caller, when the chain has returned.
    """
    if not chain:
        return await (await prepare())(sink)
    prepared: list[Answering] = []

    async def final() -> None:
        prepared.append(await prepare())
        if sink is None:
            context.result = await prepared[-1](None)

    try:
        try:
            await chained(chain, context, final)
        except Termination as end:
            context.result = context.result if end.result is None else end.result
        if sink is not None:
            async with context.hooked(sink) as give:
                if context.result is not None:
                    _as_stream(context.result, give)
                elif prepared:
                    context.result = await prepared[-1](give)
        await context.finish()
        return context.result
    finally:
        await context.close()


def _as_stream(reply: AgentReply, give: UpdateSink) -> None:
    """A whole answer as the stream that a streaming caller expects: an update per message."""
    for message in reply.messages:
        if message.parts:
            give(AgentUpdate(message.parts, message.role, message.author, message.id))
