"""Estimates of tokens where no provider told any: always shown with "≈"."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

from studio.agents.client import ChatRequest
from studio.agents.messages import Data, Message, Reasoning, Text, ToolCall, ToolResult
from studio.agents.tools import result_text

_PER_MESSAGE = 4
_KEPT = 20


def text_tokens(text: str) -> float:
    """ASCII four characters a token, other letters two, Chinese, Japanese and Korean 0.8 each, the rest two each."""
    if text.isascii():
        return len(text) / 4
    total = 0.0
    for sign in text:
        code = ord(sign)
        if code < 128:
            total += 0.25
        elif code > 0xFFFF:
            total += 2
        elif 0x2E80 <= code <= 0x9FFF or 0xAC00 <= code <= 0xD7AF or 0xF900 <= code <= 0xFAFF:
            total += 0.8
        else:
            total += 0.5
    return total


@dataclass(frozen=True, slots=True)
class Estimate:
    """Tokens of a request, and images whose tokens nobody knows."""

    tokens: int
    images: int = 0


def request_tokens(request: ChatRequest) -> Estimate:
    """What a request weighs: instructions, messages and the tools' descriptions."""
    system = text_tokens(request.instructions) + _PER_MESSAGE if request.instructions else 0.0
    tools = sum(len(json.dumps([t.name, t.description, dict(t.schema)], default=str)) / 4 for t in request.tools)
    images = sum(isinstance(part, Data) for message in request.messages for part in message.parts)
    return Estimate(round(system + tools + messages_tokens(request.messages)), images)


def messages_tokens(messages: Iterable[Message]) -> float:
    """What messages weigh, images left out."""
    return sum(_PER_MESSAGE + sum(_part(part) for part in message.parts) for message in messages)


def _part(part: object) -> float:
    match part:
        case Text(text) | Reasoning(text):
            return text_tokens(text)
        case ToolCall():
            return text_tokens(part.name) + text_tokens(part.arguments)
        case ToolResult():
            return text_tokens(result_text(part.result))
    return 0.0


@dataclass(slots=True)
class Calibration:
    """How real counts of a model compare with the estimate; one per profile and model."""

    _ratios: deque[float] = field(default_factory=lambda: deque(maxlen=_KEPT), init=False)

    def learn(self, estimated: int, real: int) -> None:
        """A call whose tokens the provider told."""
        if estimated > 0 and real > 0:
            self._ratios.append(real / estimated)

    def corrected(self, estimated: int) -> int:
        """The estimate as the last calls of the model suggest."""
        if not self._ratios:
            return estimated
        return round(estimated * sum(self._ratios) / len(self._ratios))
