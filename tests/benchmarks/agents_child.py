"""Agents that stream without a window: ``python -m tests.benchmarks.agents_child WHO PORT AGENTS``.

WHO is ``product``, ``openai`` (the official client alone) or ``floor`` (sockets and JSON alone).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from tests.benchmarks.children import answer


class Clock:
    """Processor and wall time from the first token on, without what loading and connecting cost.

    The processor time is a system call that costs as much as a token, so it is taken once in a while.
    """

    EVERY = 250
    """Tokens between two looks."""

    def __init__(self) -> None:
        self.tokens = 0
        self._first = self._last = (0.0, 0.0, 0)

    def token(self) -> None:
        """A token has arrived where it is wanted."""
        if self.tokens % self.EVERY == 0:
            self._last = (time.process_time(), time.perf_counter(), self.tokens)
            if not self.tokens:
                self._first = self._last
        self.tokens += 1

    def result(self) -> dict[str, float]:
        """Over the tokens between the first and the last look."""
        busy, wall, tokens = (last - first for first, last in zip(self._first, self._last, strict=True))
        return {"tokens": self.tokens, "share": busy / wall, "rate": tokens / wall, "us": busy / tokens * 1e6}


async def product(url: str, agents: int, clock: Clock) -> None:
    """A node sends to all agents at once; the engine's events are what is wanted."""
    from studio.agents import Agent, ClientSettings, OpenAIChatClient
    from studio.engine import AgentHost, Context, FunctionExecutor, WorkflowBuilder
    from studio.engine.events import TokensArrived

    class Sink:
        def append(self, event: Any) -> None:
            if type(event) is TokensArrived:
                clock.token()

    async def begin(data: str, ctx: Context) -> None:
        ctx.send(data)

    client = OpenAIChatClient(ClientSettings(url, api_key="k", model="m", tries=1))
    start = FunctionExecutor("begin", begin, accepts=str, sends=[str])
    hosts = [AgentHost(Agent(f"a{i}", client), f"a{i}") for i in range(agents)]
    workflow = WorkflowBuilder(start, name="streams").fan_out(start, hosts).build()
    await workflow.run("go", stream=True, events=Sink())
    await client.close()


async def openai(url: str, agents: int, clock: Clock) -> None:
    """The official client; texts of its chunks are what is wanted."""
    from openai import AsyncOpenAI

    client = AsyncOpenAI(base_url=url, api_key="k", max_retries=0)

    async def one() -> None:
        asked: list[Any] = [{"role": "user", "content": "go"}]
        stream = await client.chat.completions.create(model="m", messages=asked, stream=True)
        async for piece in stream:
            if piece.choices[0].delta.content:
                clock.token()

    await asyncio.gather(*(one() for _ in range(agents)))
    await client.close()


async def floor(url: str, agents: int, clock: Clock) -> None:
    """Sockets, lines and JSON."""
    port = int(url.rsplit(":", 1)[1].split("/")[0])

    async def one() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"POST /v1/chat/completions HTTP/1.1\r\nContent-Length: 2\r\n\r\n{}")
        async for line in reader:
            if line.startswith(b"data: {") and json.loads(line[6:])["choices"][0]["delta"].get("content"):
                clock.token()
        writer.close()

    await asyncio.gather(*(one() for _ in range(agents)))


KINDS: dict[str, Callable[[str, int, Clock], Awaitable[None]]] = {"product": product, "openai": openai, "floor": floor}


def run(who: str, port: int, agents: int) -> None:
    """Streams and says what it cost."""
    clock = Clock()

    async def whole() -> None:
        await KINDS[who](f"http://127.0.0.1:{port}/v1", agents, clock)

    asyncio.run(whole())
    answer(clock.result())


if __name__ == "__main__":
    run(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
