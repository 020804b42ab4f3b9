"""Handoff: agents that transfer the conversation to each other."""

from __future__ import annotations

from dataclasses import dataclass

from studio.agents.messages import AgentReply


@dataclass(frozen=True, slots=True)
class HandoffUserRequest:
    """Asks the user to go on; the answer is a list of messages, an empty one ends it."""

    reply: AgentReply
