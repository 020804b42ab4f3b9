"""The answer of a model as it arrives: chunks of a stream, or one whole message."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from studio.agents.call_assembler import CallAssembler
from studio.agents.cost import told_cost
from studio.agents.errors import ErrorKind, ProviderError
from studio.agents.failures import from_body, looks_like_error
from studio.agents.hiding import HidingStream
from studio.agents.messages import AgentReply, Message, Part, Reasoning, Text, ToolCall, Usage
from studio.agents.redaction import SECRET
from studio.agents.sse import DONE, SseEvent
from studio.agents.think import ThinkSplitter

_KNOWN_IN_DELTA = {
    "role",
    "content",
    "tool_calls",
    "function_call",
    "refusal",
    "name",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "annotations",
    "audio",
}


_decode = json.JSONDecoder().decode


class Answer:
    """Collects one answer. Works on plain dicts with defaults: any field may be missing or null."""

    def __init__(self, *, first_call_number: int = 1, origin: str = "", secrets: tuple[str, ...] = ()) -> None:
        """``secrets`` are taken out of everything the model says: longest first, see :mod:`studio.agents.hiding`."""
        self.text = ""
        self.done = False
        """Whether the server said that nothing follows."""
        self.model = ""
        self._texts: list[str] = []
        self._reasoning: list[str] = []
        self._think = ThinkSplitter()
        self._calls = CallAssembler()
        self._usage: Usage | None = None
        self._finish: str | None = None
        self._extra: dict[str, Any] = {}
        self._any = False
        self._first_call_number = first_call_number
        self._origin = origin
        self._secrets = secrets
        self._hidden = HidingStream(secrets) if secrets else None
        self._hidden_thought = HidingStream(secrets) if secrets else None

    # ------------------------------------------------------------------------------------------------ taking

    def take_event(self, event: SseEvent) -> list[Part]:
        """One event of the stream; gives the text and reasoning it adds. Raises :class:`ProviderError`."""
        if event.data.strip() == DONE:
            self.done = True
            return []
        try:
            chunk = _decode(event.data)
        except ValueError as error:
            if event.name == "error":
                raise from_body(event.data, partial=self.partial) from error
            raise ProviderError("unreadable", f"no JSON: {event.data[:80]}", partial=self.partial) from error
        if event.name == "error" or looks_like_error(chunk):
            raise from_body(event.data, partial=self.partial)
        if not isinstance(chunk, dict):
            raise ProviderError("unreadable", f"not an object: {event.data[:80]}", partial=self.partial)
        return self._take(chunk)

    def take_document(self, text: str) -> list[Part]:
        """A whole answer in one JSON body. Raises :class:`ProviderError`."""
        try:
            body = json.loads(text)
        except ValueError as error:
            raise from_body(text, kind="unreadable" if text.strip() else "empty") from error
        if not isinstance(body, dict) or looks_like_error(body) or not body.get("choices"):
            raise from_body(text)
        parts = self._take(body)
        self.done = True
        if self._finish is None:
            self._finish = "stop"
        return parts

    def _take(self, chunk: Mapping[str, Any]) -> list[Part]:
        if isinstance(chunk.get("usage"), dict):
            self._usage = _usage(chunk["usage"])
        if isinstance(chunk.get("model"), str):
            self.model = chunk["model"]
        parts: list[Part] = []
        choices = chunk.get("choices")
        for choice in choices if isinstance(choices, list) else ():
            if isinstance(choice, dict) and choice.get("index") in (0, None):
                parts += self._take_choice(choice)
        return parts

    def _take_choice(self, choice: Mapping[str, Any]) -> list[Part]:
        if looks_like_error(choice):
            raise from_body(json.dumps(choice), partial=self.partial)
        finish = choice.get("finish_reason")
        if isinstance(finish, str) and finish:
            self._finish = finish
        delta = choice.get("delta") or choice.get("message")
        if not isinstance(delta, dict):
            return []
        parts: list[Part] = []
        if reasoning := _reasoning(delta):
            if self._hidden_thought is not None:
                reasoning = self._hidden_thought.feed(reasoning)
            if reasoning:
                parts.append(Reasoning(reasoning))
        if text := _content(delta.get("content")) or _content(delta.get("refusal")):
            if self._hidden is not None:
                text = self._hidden.feed(text)
            if text:
                parts += self._think.feed(text)
        self._calls.feed(delta.get("tool_calls"))
        if not _KNOWN_IN_DELTA.issuperset(delta):
            self._extra.update({k: v for k, v in delta.items() if k not in _KNOWN_IN_DELTA and v is not None})
        return self._keep(parts)

    def _keep(self, parts: list[Part]) -> list[Part]:
        for part in parts:
            if isinstance(part, Text):
                self._texts.append(part.text)
                self._any = True
            elif isinstance(part, Reasoning):
                self._reasoning.append(part.text)
                self._any = True
        return parts

    # ------------------------------------------------------------------------------------------------ ending

    @property
    def partial(self) -> str:
        """The text so far."""
        return "".join(self._texts)

    def end(self) -> list[Part]:
        """The stream ended: gives what was held back. Raises :class:`ProviderError` if that is not an answer."""
        held = self._keep([*self._waiting(), *self._think.end()])
        if self._finish is None:
            self._check_unfinished()
        elif self._finish in ("error", "content_filter") and not self._calls and not self.partial:
            kind: ErrorKind = "server" if self._finish == "error" else "content_filter"
            raise ProviderError(kind, f'the provider ended the answer with "{self._finish}"')
        elif self._finish == "error" and not self._calls:
            raise ProviderError("server", 'the provider ended the answer with "error"', partial=self.partial)
        return held

    def _waiting(self) -> list[Part]:
        """What might have been the beginning of a key."""
        if self._hidden is None or self._hidden_thought is None:
            return []
        thought, text = self._hidden_thought.end(), self._hidden.end()
        return [*([Reasoning(thought)] if thought else []), *(self._think.feed(text) if text else [])]

    def _check_unfinished(self) -> None:
        """Without a finish reason only whole tool calls before an orderly end count as an answer."""
        if self._calls and self.done and self._calls.complete:
            return
        if not self._any and not self._calls:
            raise ProviderError("empty", "the answer ended before its first character")
        raise ProviderError("cut_off", f"after {len(self.partial)} characters", partial=self.partial)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The tool calls so far."""
        calls = self._calls.calls(self._first_call_number, self._origin)
        if not any(secret in call.arguments for call in calls for secret in self._secrets):
            return calls
        return tuple(replace(call, arguments=self._without_secrets(call.arguments)) for call in calls)

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, SECRET)
        return text

    def reply(self) -> AgentReply:
        """The whole answer as one assistant message."""
        parts: list[Part] = []
        if self._reasoning:
            parts.append(Reasoning("".join(self._reasoning)))
        if self._texts:
            parts.append(Text(self.partial))
        calls = self.calls
        extra = {"origin": self._origin, "fields": self._extra} if self._extra else {}
        finish = "tool_calls" if calls else self._finish
        return AgentReply((Message("assistant", (*parts, *calls), extra=extra),), self._usage, finish)


def _content(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = (p.get("text") for p in value if isinstance(p, dict))
        return "".join(t for t in texts if isinstance(t, str))
    return ""


def _reasoning(delta: Mapping[str, Any]) -> str:
    """Three names for one thing; a provider that sends two of them says the same twice."""
    for key in ("reasoning_content", "reasoning"):
        if isinstance(delta.get(key), str) and delta[key]:
            return str(delta[key])
    details = delta.get("reasoning_details")
    if not isinstance(details, list):
        return ""
    texts = (d.get("text") or d.get("summary") for d in details if isinstance(d, dict))
    return "".join(t for t in texts if isinstance(t, str))


def _usage(body: Mapping[str, Any]) -> Usage:
    def count(of: Any, key: str) -> int | None:
        value = of.get(key) if isinstance(of, dict) else None
        return value if isinstance(value, int) and not isinstance(value, bool) else None

    cost = body.get("cost")  # OpenRouter says what a call cost
    return Usage(
        count(body, "prompt_tokens"),
        count(body, "completion_tokens"),
        count(body.get("prompt_tokens_details"), "cached_tokens"),
        count(body.get("completion_tokens_details"), "reasoning_tokens"),
        cost=told_cost(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) and cost >= 0 else None,
    )
