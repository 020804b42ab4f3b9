"""How much of a conversation is kept."""

from __future__ import annotations

from collections.abc import Sequence

from studio.agents.messages import Message


def windowed(messages: Sequence[Message], turns: int | None) -> list[Message]:
    """The last ``turns`` user turns with everything that belongs to them, and every system message.

    Only whole turns go, from one user message to the next, so a call never loses its result.
    """
    starts = [n for n, message in enumerate(messages) if message.role == "user"]
    if turns is None or len(starts) <= turns:
        return list(messages)
    first = starts[len(starts) - turns]
    return [message for n, message in enumerate(messages) if n >= first or message.role == "system"]
