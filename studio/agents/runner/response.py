"""What a turn of a runner gives."""

from __future__ import annotations

from dataclasses import dataclass

from studio.agents.messages import Message, Usage


@dataclass(frozen=True, slots=True)
class Handoff:
    """A transfer that took place."""

    target: str
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class TurnResponse:
    """The answer of one turn."""

    content: str
    active_agent_name: str
    """Who goes on with the next turn."""
    tool_calls_executed: tuple[str, ...] = ()
    """Names in order, transfers and failed calls included."""
    handoff: Handoff | None = None
    """The last transfer."""
    iterations: int = 1
    """Model calls."""
    handoff_count: int = 0
    limit_reached: bool = False
    """Whether the turn ended because it had used up its model calls."""
    messages: tuple[Message, ...] = ()
    """Everything the turn added behind the user's message."""
    usage: Usage | None = None
