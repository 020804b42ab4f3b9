"""Clients for loopback servers."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from studio.agents import (
    AgentReply,
    ChatRequest,
    ClientSettings,
    Message,
    NoHooks,
    OpenAIChatClient,
    ToolCall,
    Usage,
    user,
)

MakeClient = Callable[..., OpenAIChatClient]


@dataclass
class Notes(NoHooks):
    """Hooks that keep what they are told."""

    retries: list[tuple[int, float, str]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    finished: list[tuple[str, Usage | None, str | None, str]] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    """What happened, in order."""
    retried: asyncio.Event = field(default_factory=asyncio.Event)

    async def before_model_call(self, messages: Sequence[Message]) -> None:
        self.told.append(f"before {len(messages)}")

    def model_call_started(self, call: str, messages: tuple[Message, ...], model: str, settings: str = "") -> None:
        self.told.append(f"{call} started {model}")

    def tool_started(self, call: ToolCall) -> None:
        self.told.append(f"{call.name} started")

    def tool_finished(self, call_id: str, result: object, error: str, detail: str = "") -> None:
        self.told.append(f"{call_id} finished {result} {error}".rstrip())

    def model_call_retried(self, call: str, attempt: int, wait: float, reason: str) -> None:
        self.retries.append((attempt, wait, reason))
        self.retried.set()

    def tokens(self, text: str, kind: str) -> None:
        self.texts.append((kind, text))
        self.told.append(f"token {text}")

    def model_call_finished(
        self,
        call: str,
        usage: Usage | None,
        finish_reason: str | None,
        error: str,
        reply: AgentReply | None = None,
        raw: str = "",
    ) -> None:
        self.finished.append((call, usage, finish_reason, error))
        self.told.append(f"{call} finished")


@pytest.fixture
async def make_client() -> AsyncIterator[MakeClient]:
    """Makes clients that are closed after the test; one try only unless the test says otherwise."""
    made: list[OpenAIChatClient] = []

    def make(url: str, **settings: Any) -> OpenAIChatClient:
        client = OpenAIChatClient(ClientSettings(url, **{"api_key": "k", "model": "m", "tries": 1, **settings}))
        made.append(client)
        return client

    yield make
    for client in made:
        await client.close()


@pytest.fixture
def request_hello() -> ChatRequest:
    """A request of one user message."""
    return ChatRequest((user("hello"),), call="m1")
