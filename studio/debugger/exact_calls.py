"""Model calls as they were: request and answer under the names of the protocol, and as commands to repeat them."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from studio.agents.client import ChatRequest
from studio.agents.messages import AgentReply, Reasoning, ToolCall
from studio.agents.redaction import SECRET, redact
from studio.agents.told import read_settings
from studio.agents.wire import wire_messages
from studio.engine import events as ev

KEY = "API_KEY"
"""The environment variable that copied commands take the key from."""
_ANY_URL = "https://api.example.com/v1/chat/completions"


@dataclass(frozen=True, slots=True)
class ExactCall:
    """One model call; ``finished`` None: it is on its way."""

    started: ev.ModelCallStarted
    retries: Sequence[ev.ModelCallRetried] = ()
    finished: ev.ModelCallFinished | None = None

    @property
    def url(self) -> str:
        """Where it went; "" if the log does not say."""
        return str(read_settings(self.started.settings).get("url", ""))

    @property
    def seconds(self) -> float | None:
        """How long it took, retries and waits included."""
        return self.finished.t - self.started.t if self.finished is not None else None

    def request(self) -> dict[str, Any]:
        """The body that was sent. Of an older log: model and messages alone."""
        told = read_settings(self.started.settings)
        request = ChatRequest(self.started.messages, str(told.get("instructions", "")))
        body = told.get("body") or {"model": self.started.model}
        return {
            "model": body.get("model", self.started.model),
            "messages": wire_messages(request, names=bool(told.get("names"))),
            **{name: value for name, value in body.items() if name != "model"},
        }

    def response(self) -> dict[str, Any] | None:
        """The answer as one document, whether it was streamed or not; None while there is none, or if it failed."""
        done = self.finished
        if done is None or done.reply is None:
            return None
        found: dict[str, Any] = {
            "choices": [{"index": 0, "message": _message(done.reply), "finish_reason": done.finish_reason}]
        }
        if done.usage is not None:
            usage = {"prompt_tokens": done.usage.input, "completion_tokens": done.usage.output}
            found["usage"] = {name: count for name, count in usage.items() if count is not None}
        return found

    def raw_request(self) -> str:
        """The request as it went over the wire, without the key."""
        path = urlsplit(self.url or _ANY_URL)
        body = json.dumps(self.request(), ensure_ascii=False, separators=(",", ":"))
        return (
            f"POST {path.path or '/'} HTTP/1.1\nHost: {path.netloc}\nContent-Type: application/json\n"
            f"Authorization: Bearer {SECRET}\n\n{redact(body)}"
        )

    def as_curl(self) -> str:
        """A command for a shell; the key comes from the environment."""
        body = json.dumps(self.request(), ensure_ascii=False, indent=1)
        return (
            f"curl {shlex.quote(self.url or _ANY_URL)} \\\n"
            f'  -H "Authorization: Bearer ${KEY}" \\\n'
            "  -H 'Content-Type: application/json' \\\n"
            f"  -d {shlex.quote(body)}\n"
        )

    def as_python(self) -> str:
        """A script for the standard library alone; the key comes from the environment."""
        body = json.dumps(json.dumps(self.request(), ensure_ascii=False))
        return (
            "import os\nimport urllib.request\n\n"
            f"body = {body}\n"
            f"request = urllib.request.Request(\n    {json.dumps(self.url or _ANY_URL)},\n    body.encode(),\n"
            "    {\n"
            f'        "Authorization": f"Bearer {{os.environ[\'{KEY}\']}}",\n'
            '        "Content-Type": "application/json",\n'
            "    },\n)\n"
            "with urllib.request.urlopen(request) as response:\n"
            "    print(response.read().decode())\n"
        )


def _message(reply: AgentReply) -> dict[str, Any]:
    parts = [part for message in reply.messages for part in message.parts]
    text = "".join(message.text for message in reply.messages)
    found: dict[str, Any] = {"role": "assistant", "content": text or None}
    reasoning = "".join(part.text for part in parts if isinstance(part, Reasoning))
    if reasoning:
        found["reasoning_content"] = reasoning
    calls = [part for part in parts if isinstance(part, ToolCall)]
    if calls:
        found["tool_calls"] = [
            {"id": c.call_id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in calls
        ]
    return found


def exact_calls(events: Iterable[object], invocation: str) -> list[ExactCall]:
    """The calls of one invocation, oldest first."""
    started: dict[str, ev.ModelCallStarted] = {}
    retries: dict[str, list[ev.ModelCallRetried]] = {}
    finished: dict[str, ev.ModelCallFinished] = {}
    for event in events:
        match event:
            case ev.ModelCallStarted() if event.invocation == invocation:
                started[event.call] = event
            case ev.ModelCallRetried() if event.invocation == invocation:
                retries.setdefault(event.call, []).append(event)
            case ev.ModelCallFinished() if event.invocation == invocation:
                finished[event.call] = event
    return [ExactCall(one, tuple(retries.get(call, ())), finished.get(call)) for call, one in started.items()]
