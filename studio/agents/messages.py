"""Chat messages and what agents take, give and stream. Immutable, so a checkpoint may share them.

Names follow the conformance README: request, response, agent reply, agent update.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from studio.agents.cost import Cost
from studio.checkpoints.quick import quickly_made

Role = Literal["system", "user", "assistant", "tool"]


@quickly_made
@dataclass(frozen=True, slots=True)
class Text:
    """Plain text."""

    text: str
    type: Literal["text"] = "text"


@dataclass(frozen=True, slots=True)
class Reasoning:
    """Reasoning text; never mixed with the answer and not sent back to a model."""

    text: str
    type: Literal["text_reasoning"] = "text_reasoning"


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes as a data URI, or a URI."""

    uri: str
    media_type: str = ""
    type: Literal["data", "uri", "hosted_file"] = "uri"


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call the model asks for. ``arguments`` is the JSON text as received; ``extra``: unknown provider fields."""

    call_id: str
    name: str
    arguments: str = "{}"
    extra: Mapping[str, Any] = field(default_factory=dict)
    type: Literal["function_call"] = "function_call"


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call; ``error`` is the class name of the exception if the tool raised."""

    call_id: str
    result: Any = None
    error: str | None = None
    type: Literal["function_result"] = "function_result"


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """Asks a person to let a tool call run."""

    id: str
    call: ToolCall
    type: Literal["function_approval_request"] = "function_approval_request"


@dataclass(frozen=True, slots=True)
class ApprovalResponse:
    """The answer. It is bound to the call that was asked for: another ``call`` in it changes nothing.

    ``instead``: a call of the same tool that the person makes with other arguments; what was asked for is refused.
    """

    id: str
    approved: bool
    call: ToolCall
    type: Literal["function_approval_response"] = "function_approval_response"
    instead: ToolCall | None = None


@dataclass(frozen=True, slots=True)
class ErrorPart:
    """An error that a provider reported as content."""

    message: str
    code: str = ""
    type: Literal["error"] = "error"


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts of model calls; None is unknown. ``partial``: some calls reported none (shown "≥"). ``cost``: what
    they cost by the prices of that moment; None where nothing is paid for or nobody looked."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    reasoning: int | None = None
    partial: bool = False
    cost: Cost | None = None

    def __add__(self, other: Usage) -> Usage:
        def plus(a: int | None, b: int | None) -> int | None:
            return b if a is None else a if b is None else a + b

        unknown = (self.input is None and self.output is None) or (other.input is None and other.output is None)
        return Usage(
            plus(self.input, other.input),
            plus(self.output, other.output),
            plus(self.cached, other.cached),
            plus(self.reasoning, other.reasoning),
            self.partial or other.partial or unknown,
            other.cost if self.cost is None else self.cost if other.cost is None else self.cost + other.cost,
        )


@dataclass(frozen=True, slots=True)
class UsagePart:
    """Token counts told as content of a message; never shown to a model."""

    usage: Usage
    type: Literal["usage"] = "usage"


Part = Text | Reasoning | Data | ToolCall | ToolResult | ApprovalRequest | ApprovalResponse | ErrorPart | UsagePart


@quickly_made
@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Role
    parts: tuple[Part, ...] = ()
    author: str | None = None
    id: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text parts, joined by a space as the framework does."""
        return " ".join(p.text for p in self.parts if isinstance(p, Text))


def user(text: str) -> Message:
    """A user message of one text."""
    return Message("user", (Text(text),))


def assistant(text: str, author: str | None = None) -> Message:
    """An assistant message of one text."""
    return Message("assistant", (Text(text),), author)


@quickly_made
@dataclass(frozen=True, slots=True)
class AgentReply:
    """What one agent run gives: all its messages (tool calls and results included)."""

    messages: tuple[Message, ...] = ()
    usage: Usage | None = None
    finish_reason: str | None = None
    value: Any = None
    """The structured value, if the agent has an output schema."""
    requests: tuple[ApprovalRequest | ToolCall, ...] = ()
    """What the run waits for, in order of appearance: approvals, and calls that the caller runs."""

    @property
    def text(self) -> str:
        """The messages' texts, joined without separator, as the framework's ``AgentResponse.text``."""
        return "".join(m.text for m in self.messages)


@quickly_made
@dataclass(frozen=True, slots=True)
class AgentUpdate:
    """One chunk of a streaming agent run."""

    parts: tuple[Part, ...] = ()
    role: Role = "assistant"
    author: str | None = None
    message_id: str | None = None
    response_id: str | None = None
    usage: Usage | None = None
    finish_reason: str | None = None

    @property
    def text(self) -> str:
        """The text parts of the chunk, joined."""
        return "".join(p.text for p in self.parts if isinstance(p, Text))


@dataclass(frozen=True, slots=True)
class AgentRequest:
    """A request to an agent node; without ``should_respond`` it only fills the cache."""

    messages: tuple[Message, ...]
    should_respond: bool = True


@quickly_made
@dataclass(frozen=True, slots=True)
class AgentResponse:
    """What an agent node sends on."""

    executor: str
    reply: AgentReply
    conversation: tuple[Message, ...]

    @property
    def text(self) -> str:
        """The text of the reply."""
        return self.reply.text

    def with_text(self, text: str) -> AgentResponse:
        """The same with its reply (also at the end of the conversation) replaced by one author-less message."""
        message = assistant(text)
        kept = self.conversation[: len(self.conversation) - len(self.reply.messages)]
        return AgentResponse(self.executor, AgentReply((message,), self.reply.usage), (*kept, message))
