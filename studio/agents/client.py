"""What an agent asks of a chat client, and what it tells while doing so."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from studio.agents.messages import AgentReply, AgentUpdate, Message, ToolCall, ToolResult, Usage
from studio.agents.tools import Tool

ToolChoice = Literal["auto", "none", "required"]
TextKind = Literal["text", "reasoning"]
ChunkSink = Callable[[AgentUpdate], None]


@dataclass(frozen=True, slots=True)
class ChatOptions:
    """Settings of a model call; None is not sent."""

    model: str | None = None
    """None: the client's own model."""
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    """The answer limit; the client knows under which name a provider wants it."""
    seed: int | None = None
    stop: tuple[str, ...] = ()
    tool_choice: ToolChoice | str | None = None
    """A mode, or the name of the tool that must be called; None leaves it to the provider."""
    parallel_tool_calls: bool | None = None
    reasoning_effort: str | None = None
    response_schema: Mapping[str, Any] | None = None
    """JSON Schema of the answer, sent as ``response_format``."""
    response_name: str = "answer"
    extra: Mapping[str, Any] = field(default_factory=dict)
    """Further fields of the request body, sent as they are."""


NO_OPTIONS = ChatOptions()


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call. ``node`` never leaves the process except to the built-in model inside it."""

    messages: tuple[Message, ...]
    instructions: str = ""
    tools: tuple[Tool, ...] = ()
    options: ChatOptions = NO_OPTIONS
    node: str = ""
    """The node (or agent name) that asks."""
    call: str = ""
    """Names the call to the hooks; unique within one agent run."""


class RunHooks(Protocol):
    """What happens inside an agent run. What is awaited may wait; the others return at once."""

    async def before_model_call(self, messages: Sequence[Message]) -> Sequence[Message] | None:
        """Before a model call leaves the process; a debugger may hold it here. Messages given back go instead."""

    async def result_of_model(self, request: ChatRequest) -> AgentReply | None:
        """An answer that is known already: it is taken, and the model is not asked."""

    async def result_of_tool(self, call: ToolCall) -> ToolResult | None:
        """A result that is known already: it is taken, and the tool is not run."""

    def model_call_started(self, call: str, messages: tuple[Message, ...], model: str, settings: str = "") -> None:
        """The call goes out; ``messages`` are what the model sees, without instructions. ``settings``: the rest of the
        request as JSON, see :func:`studio.agents.told.told_settings`."""

    def tokens(self, text: str, kind: TextKind) -> None:
        """Text of the model as it arrives (in one piece if the run does not stream)."""

    def model_call_retried(self, call: str, attempt: int, wait: float, reason: str) -> None:
        """The call failed before its first byte and is tried again after ``wait`` seconds."""

    def raw_answer(self, call: str, text: Callable[[], str]) -> None:
        """Before a call has finished: ``text`` gives the answer as it came over the wire, within a limit and without
        secrets."""

    def model_call_finished(
        self,
        call: str,
        usage: Usage | None,
        finish_reason: str | None,
        error: str,
        reply: AgentReply | None = None,
        raw: str = "",
    ) -> None:
        """The call ended; ``error`` is empty if it went well, "cancelled" if the run was cancelled. ``reply``: what
        the model answered. ``raw``: the body with which a provider refused, without secrets."""

    def tool_started(self, call: ToolCall) -> None:
        """A tool runs."""

    def tool_finished(self, call_id: str, result: Any, error: str, detail: str = "") -> None:
        """A tool gave its result; ``error`` is the class name of what it raised, else empty. ``detail``: that in words,
        for people: the model is told less."""

    def limit_reached(self, kind: str, detail: str) -> None:
        """A limit of the tool loop switched the tools off; ``kind`` is the setting, ``detail`` is for people."""

    def history_written(self, source: str, messages: Sequence[Message]) -> None:
        """The turn went well, and these messages are remembered. ``source``: "session", or the id of a history."""


class NoHooks:
    """Hooks that do nothing."""

    async def before_model_call(self, messages: Sequence[Message]) -> Sequence[Message] | None: ...
    async def result_of_model(self, request: ChatRequest) -> AgentReply | None: ...
    async def result_of_tool(self, call: ToolCall) -> ToolResult | None: ...
    def model_call_started(self, call: str, messages: tuple[Message, ...], model: str, settings: str = "") -> None: ...
    def tokens(self, text: str, kind: TextKind) -> None: ...
    def model_call_retried(self, call: str, attempt: int, wait: float, reason: str) -> None: ...
    def raw_answer(self, call: str, text: Callable[[], str]) -> None: ...
    def model_call_finished(
        self,
        call: str,
        usage: Usage | None,
        finish_reason: str | None,
        error: str,
        reply: AgentReply | None = None,
        raw: str = "",
    ) -> None: ...
    def tool_started(self, call: ToolCall) -> None: ...
    def tool_finished(self, call_id: str, result: Any, error: str, detail: str = "") -> None: ...
    def limit_reached(self, kind: str, detail: str) -> None: ...
    def history_written(self, source: str, messages: Sequence[Message]) -> None: ...


@runtime_checkable
class Impatient(Protocol):
    """A client that waits before it tries a refused call again."""

    def retry_now(self) -> None:
        """Ends all waits: the next tries begin at once."""


class ChatClient(Protocol):
    """One model call after the other; knows no tools' code and no history."""

    @property
    def model(self) -> str:
        """The model that is asked when the options name none."""

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """One model call. With ``chunk`` the answer is streamed and every piece given as it comes.

        The reply has one assistant message (text, reasoning and tool calls of it).
        Raises :class:`studio.agents.errors.ProviderError`.
        """

    async def close(self) -> None:
        """Gives connections up; later calls may open new ones."""
