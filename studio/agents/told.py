"""The settings of a model call as a text for the log: everything of the request but its messages, and no secret.

One text, because a log writes a long text once however often it comes: an agent's calls share theirs.
"""

from __future__ import annotations

import json
from typing import Any

from studio.agents.client import ChatClient, ChatRequest
from studio.agents.redaction import redact
from studio.agents.switches import Switches
from studio.agents.wire import wire_options


def told_settings(client: ChatClient, request: ChatRequest, stream: bool) -> str:
    """JSON with ``url`` (empty: not known), ``instructions``, ``names`` (whether authors' names are sent) and ``body``,
    under the names of the protocol."""
    url, switches = _spoken_to(client)
    body: dict[str, Any] = {
        "model": request.options.model or client.model,
        **wire_options(request.options, request.tools, switches.limit_name),
        "stream": stream,
    }
    if stream and switches.include_usage:
        body["stream_options"] = {"include_usage": True}
    told = {
        "url": redact(f"{url.rstrip('/')}/chat/completions") if url else "",
        "instructions": request.instructions,
        "names": switches.send_names,
        "body": redact({k: v for k, v in switches.applied({**body, "messages": []}).items() if k != "messages"}),
    }
    return json.dumps(told, ensure_ascii=False, default=str)


def read_settings(told: str) -> dict[str, Any]:
    """What :func:`told_settings` wrote; empty for older logs, which do not say."""
    try:
        found = json.loads(told or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _spoken_to(client: ChatClient) -> tuple[str, Switches]:
    tell = getattr(client, "spoken_to", None)
    if tell is None and (inner := getattr(client, "inner", None)) is not None:
        return _spoken_to(inner)
    found = tell() if tell is not None else None
    return found if found is not None else ("", Switches())
