"""What the model calls of a branch took, as it is kept with the branch: counts and cost of that moment."""

from __future__ import annotations

import json

from studio.agents.messages import Usage
from studio.checkpoints import Codec, RunRecord
from studio.debugger.event_codec import EventDecoder, EventEncoder, UnreadableLog
from studio.engine.events import Event, ModelCallFinished


def with_call(usage: Usage | None, event: Event) -> Usage | None:
    """The sum after an event. A call that told nothing has used something all the same; one that failed has not."""
    if not isinstance(event, ModelCallFinished) or (event.usage is None and event.error):
        return usage
    told = event.usage if event.usage is not None else Usage()
    return told if usage is None else usage + told


def usage_text(usage: Usage | None, codec: Codec) -> str:
    """As a record keeps it; "" for nothing."""
    return "" if usage is None else json.dumps(EventEncoder(codec).encode_value(usage))


def usage_of(text: str, codec: Codec) -> Usage | None:
    """What :func:`usage_text` was given; None for "" and for what cannot be read."""
    try:
        found = EventDecoder(codec).decode_value(json.loads(text)) if text else None
    except (ValueError, UnreadableLog):
        return None
    return found if isinstance(found, Usage) else None


def usage_before(record: RunRecord, codec: Codec, *, resumed: bool) -> Usage | None:
    """What a branch took before it goes on; unknown for one that was cut by the end of its program: the sum is then "at
    least so much"."""
    found = usage_of(record.usage, codec)
    return Usage() if found is None and resumed else found
