"""What happens in a turn of a runner, for a debugger."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from studio.agents.messages import Message, ToolCall, Usage
from studio.agents.plain import message_to_plain, part_to_plain, usage_to_plain
from studio.agents.runner.response import Handoff, TurnResponse


@dataclass(frozen=True, slots=True)
class TurnStarted:
    """A turn has its session for itself; ``checkpoint_len`` messages are what a failure goes back to."""

    session: str
    checkpoint_len: int


@dataclass(frozen=True, slots=True)
class MessageAdded:
    """A message of the turn; stored only if the turn ends well."""

    session: str
    message: Message


@dataclass(frozen=True, slots=True)
class EngineCalled:
    """Model call number ``number`` of the turn, for ``agent``."""

    session: str
    agent: str
    number: int


@dataclass(frozen=True, slots=True)
class RunnerToolStarted:
    """A tool runs."""

    session: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class RunnerToolFinished:
    """A tool gave its result; ``error`` is the class name of what it raised, else empty."""

    session: str
    call_id: str
    result: Any
    error: str


@dataclass(frozen=True, slots=True)
class HandedOff:
    """Another agent goes on."""

    session: str
    source: str
    target: str
    reason: str


@dataclass(frozen=True, slots=True)
class LimitReached:
    """A limit of the turn: "handoffs" or "tool_iterations"."""

    session: str
    kind: str


@dataclass(frozen=True, slots=True)
class RolledBack:
    """The turn failed: the session is as before. What ``tools_executed`` did outside is not undone."""

    session: str
    removed_count: int
    cause: str
    tools_executed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TurnFinished:
    """The turn is stored."""

    session: str
    response: TurnResponse


RunnerEvent = (
    TurnStarted
    | MessageAdded
    | EngineCalled
    | RunnerToolStarted
    | RunnerToolFinished
    | HandedOff
    | LimitReached
    | RolledBack
    | TurnFinished
)


def event_to_plain(event: RunnerEvent) -> dict[str, Any]:
    """The fields of the event as JSON values."""
    return {field.name: _plain(getattr(event, field.name)) for field in fields(event)}


def _plain(value: Any) -> Any:
    if isinstance(value, Message):
        return message_to_plain(value)
    if isinstance(value, ToolCall):
        return part_to_plain(value)
    if isinstance(value, Usage):
        return usage_to_plain(value)
    if isinstance(value, TurnResponse | Handoff):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
    return [_plain(item) for item in value] if isinstance(value, tuple) else value
