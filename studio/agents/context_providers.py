"""Context providers: what is put before a run and what is done after it.

Before a run they are asked in order, after a successful one in reverse order. A history is a provider too: where it
stands in the list decides where its messages land.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from studio.agents.client import ChatOptions
from studio.agents.messages import AgentReply, Message
from studio.agents.middleware import NO_MIDDLEWARE, Middleware
from studio.agents.session import Session
from studio.agents.tools import Tool

ATTRIBUTION = "attribution"
"""Key of :attr:`Message.extra` with ``source_id`` and ``source_type`` of the provider that a message came from."""


@dataclass(slots=True)
class RunContext:
    """What providers of one run add, and what they see of it."""

    agent: str
    session_id: str
    input: list[Message]
    options: ChatOptions = field(default_factory=ChatOptions)
    response: AgentReply | None = None
    """The run's answer, in the after phase."""
    instructions: list[str] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    middleware: Middleware = NO_MIDDLEWARE
    """Chat and function middleware of providers, in their order; inside the agent's own."""
    written: dict[str, list[Message]] = field(default_factory=dict)
    """What histories were given to store, by history."""
    sources: dict[str, list[Message]] = field(default_factory=dict)
    """Messages by provider, in the order they were added."""

    def extend_messages(self, source: ContextProvider, messages: Iterable[Message]) -> None:
        """Messages for the model, in front of the input; they carry where they came from."""
        name = {"source_id": source.source_id, "source_type": type(source).__name__}
        signed = [replace(message, extra={**message.extra, ATTRIBUTION: name}) for message in messages]
        self.sources.setdefault(source.source_id, []).extend(signed)

    def extend_instructions(self, text: str) -> None:
        """A line behind the agent's instructions."""
        if text:
            self.instructions.append(text)

    def extend_tools(self, tools: Iterable[Tool]) -> None:
        """Tools for this run."""
        self.tools.extend(tools)

    def extend_middleware(self, middleware: Middleware) -> None:
        """Chat and function middleware for this run. Raises ``ValueError`` for agent middleware: it is too late."""
        if middleware.agent:
            raise ValueError("a context provider cannot add agent middleware: the run has already begun")
        self.middleware = self.middleware + middleware

    def messages(self, *, without: Iterable[str] = (), only: Iterable[str] | None = None) -> list[Message]:
        """What providers added, in their order."""
        left = set(without)
        wanted = None if only is None else set(only)
        return [
            message
            for source, messages in self.sources.items()
            if source not in left and (wanted is None or source in wanted)
            for message in messages
        ]


class ContextProvider:
    """Base of providers. ``source_id`` names it in messages, and its own place in the session's state."""

    def __init__(self, source_id: str) -> None:
        self.source_id = source_id

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        """Adds to the context. ``state`` is the provider's own and stays with the session: plain JSON values."""

    async def after_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        """Sees the answer; only called if the run went well. What it raises reaches the caller."""


class HistoryProvider(ContextProvider):
    """A history: gives what is stored, stores input and answer."""

    def __init__(
        self,
        source_id: str = "history",
        *,
        load: bool = True,
        store_inputs: bool = True,
        store_outputs: bool = True,
        store_context: bool = False,
        store_context_from: Iterable[str] | None = None,
    ) -> None:
        """``load`` False: it only writes, as an audit log does. ``store_context_from`` names providers."""
        super().__init__(source_id)
        self.load = load
        self.store_inputs = store_inputs
        self.store_outputs = store_outputs
        self.store_context = store_context
        self.store_context_from = None if store_context_from is None else frozenset(store_context_from)

    async def get_messages(self, session: Session, state: dict[str, Any]) -> Sequence[Message]:
        """Everything stored for the session."""
        raise NotImplementedError

    async def save_messages(self, session: Session, messages: Sequence[Message], state: dict[str, Any]) -> None:
        """Stores what is new in ``messages`` (see :func:`studio.agents.session.new_messages`)."""
        raise NotImplementedError

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        context.extend_messages(self, await self.get_messages(session, state))

    async def after_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        kept: list[Message] = []
        if self.store_context:
            kept += context.messages(without=(self.source_id,), only=self.store_context_from)
        if self.store_inputs:
            kept += context.input
        if self.store_outputs and context.response is not None:
            kept += context.response.messages
        if kept:
            plain = [message if ATTRIBUTION not in message.extra else unsigned(message) for message in kept]
            await self.save_messages(session, plain, state)
            context.written.setdefault(self.source_id, []).extend(plain)


def unsigned(message: Message) -> Message:
    """The message without the mark of its provider."""
    if ATTRIBUTION not in message.extra:
        return message
    return replace(message, extra={key: value for key, value in message.extra.items() if key != ATTRIBUTION})


def attribution(message: Message) -> Mapping[str, str] | None:
    """``source_id`` and ``source_type`` of the provider the message came from; None: from no provider."""
    return message.extra.get(ATTRIBUTION)


class InMemoryHistory(HistoryProvider):
    """The history in the session itself, so that a checkpoint has it."""

    def __init__(self, source_id: str = "in_memory", **options: Any) -> None:
        super().__init__(source_id, **options)

    async def get_messages(self, session: Session, state: dict[str, Any]) -> Sequence[Message]:
        return session.messages

    async def save_messages(self, session: Session, messages: Sequence[Message], state: dict[str, Any]) -> None:
        session.add(messages)


class ImplicitHistory(InMemoryHistory):
    """The one that an agent without a history of its own has, behind all other providers.

    Its messages carry no mark: they are the conversation, not something added to it.
    """

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        context.sources.setdefault(self.source_id, []).extend(session.messages)
