"""Events of a node's own in words: hand-offs and limits of a conversation runner, limits of a tool loop, turns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from studio.engine.events import NodeEvent


def node_event_words(event: NodeEvent) -> str:
    """A sentence for people; "" for events that say nothing beyond what other events say."""
    data: Mapping[str, Any] = event.data if isinstance(event.data, Mapping) else {}
    match event.kind:
        case "collected":
            count = int(data.get("messages", 0))
            return f"Collected {'1 message' if count == 1 else f'{count} messages'}; the turn token is still to come."
        case "HandedOff":
            reason = f": {data['reason']}" if data.get("reason") else "."
            return f"{data.get('source')} handed over to {data.get('target')}{reason}"
        case "LimitReached":
            limits = {"handoffs": "hand-offs", "tool_iterations": "model calls"}
            return f"The limit of {limits.get(str(data.get('kind')), data.get('kind'))} of a turn is reached."
        case "RolledBack":
            return _rolled_back(data)
        case "limit_reached":
            return f"The limit {str(data.get('limit', '')).replace('_', ' ')} is reached: {data.get('detail')}."
        case "pinned":
            origin = f" from {data['origin']}" if data.get("origin") else ""
            return f"Pinned reply{origin}: the node was not called."
        case "muted":
            return "Muted: the node passed its input on."
        case "breakpoint_logged":
            return str(data.get("text", ""))
    return ""


def _rolled_back(data: Mapping[str, Any]) -> str:
    count = int(data.get("removed_count", 0))
    words = f"The turn is undone, {'1 message' if count == 1 else f'{count} messages'} taken back."
    tools = [str(name) for name in data.get("tools_executed") or ()]
    if tools:
        words += f" What {', '.join(tools)} did outside is not undone."
    return words
