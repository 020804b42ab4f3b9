"""A chat client that answers from a script, in the reply format of the conformance cases."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from studio.agents.client import ChatRequest, ChunkSink, RunHooks
from studio.agents.messages import AgentReply, AgentUpdate, Message, Part, Text, ToolCall, Usage


class ScriptedError(Exception):
    """A failure that the script asks for."""


class ScriptedClient:
    """Takes the next reply at each model call, whoever asks; keep one object per node for a whole case.

    ``requests`` holds every request that reached the model. ``wait`` replaces ``asyncio.sleep`` for ``wait_ms``.
    """

    def __init__(
        self,
        replies: Sequence[Mapping[str, Any] | str],
        *,
        then: Literal["repeat_last"] | None = None,
        model: str = "scripted",
        usage: Usage | None = None,
        wait: Callable[[float], Awaitable[object]] = asyncio.sleep,
    ) -> None:
        self._replies = [{"text": r} if isinstance(r, str) else r for r in replies]
        self._then = then
        self._model = model
        self._usage = usage
        self._wait = wait
        self.requests: list[ChatRequest] = []
        self.closed = False

    @property
    def model(self) -> str:
        return self._model

    async def complete(self, request: ChatRequest, *, chunk: ChunkSink | None, hooks: RunHooks) -> AgentReply:
        """Answers with reply number n at call number n."""
        number = len(self.requests)
        self.requests.append(request)
        reply = self._reply(number)
        if "wait_ms" in reply:
            await self._wait(reply["wait_ms"] / 1000)
        if "error" in reply:
            raise ScriptedError(reply["error"])
        texts = self._texts(reply, request)
        calls = tuple(ToolCall(c["id"], c["tool"], json.dumps(c.get("arguments", {}))) for c in reply.get("calls", ()))
        if chunk is not None:
            for text in texts:
                chunk(AgentUpdate((Text(text),)))
                await asyncio.sleep(0)
            if calls:
                chunk(AgentUpdate(calls))
        parts: tuple[Part, ...] = (Text("".join(texts)),) if texts else ()
        finish = "tool_calls" if calls else "stop"
        return AgentReply((Message("assistant", (*parts, *calls)),), self._usage, finish)

    def _reply(self, number: int) -> Mapping[str, Any]:
        if number < len(self._replies):
            return self._replies[number]
        if self._then == "repeat_last" and self._replies:
            return self._replies[-1]
        raise ScriptedError("script exhausted")

    @staticmethod
    def _texts(reply: Mapping[str, Any], request: ChatRequest) -> list[str]:
        if "echo" in reply:
            last = request.messages[-1].text if request.messages else ""
            return [f"{reply['echo']}{last}"]
        if "chunks" in reply:
            return list(reply["chunks"])
        return [reply["text"]] if "text" in reply else []

    async def close(self) -> None:
        self.closed = True
