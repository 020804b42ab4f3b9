"""Small nodes for engine tests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from studio.agents.agent import Agent
from studio.engine import AgentHost, Context, FunctionExecutor, ListOf, Type

from tests.fakes.scripted_client import ScriptedClient

Run = Callable[[Any, Context], Awaitable[None]]


def node(
    id: str, run: Run, accepts: Type = str, sends: Sequence[Type] = (str,), yields: Sequence[Type] = (str,)
) -> FunctionExecutor:
    """A node that takes and gives texts."""
    return FunctionExecutor(id, run, accepts=accepts, sends=sends, yields=yields)


def passing(id: str, mark: str = "") -> FunctionExecutor:
    """Sends the text with a mark in front."""

    async def run(data: str, ctx: Context) -> None:
        ctx.send(mark + data)

    return node(id, run)


def ending(id: str, accepts: Type = str) -> FunctionExecutor:
    """Yields what it gets; a list joined by ``|``."""

    async def run(data: Any, ctx: Context) -> None:
        ctx.yield_output("|".join(data) if isinstance(data, list) else data)

    return node(id, run, accepts, sends=())


def joining(id: str) -> FunctionExecutor:
    """Yields a joined list of texts."""
    return ending(id, ListOf(str))


def failing(id: str, message: str = "boom") -> FunctionExecutor:
    """Raises."""

    async def run(data: str, ctx: Context) -> None:
        raise ValueError(message)

    return node(id, run)


class Blocker:
    """A node that waits until it is let go, and notes whether it was cancelled."""

    def __init__(self, id: str) -> None:
        self.started = asyncio.Event()
        self.go = asyncio.Event()
        self.cancelled = False
        self.node = node(id, self._run)

    async def _run(self, data: str, ctx: Context) -> None:
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        ctx.send(data)


def host(id: str, *replies: Any, **options: Any) -> AgentHost:
    """An agent node with a script; its client is ``host.agent.client``."""
    tools = options.pop("tools", ())
    agent = options.pop("agent", None) or Agent(id, ScriptedClient(replies), tools=tools, node=id)
    return AgentHost(agent, id, **options)


def seen(host: AgentHost) -> list[list[tuple[str, str]]]:
    """Role and text of everything that reached the model, per call."""
    client: ScriptedClient = host.agent.client  # type: ignore[attr-defined]
    return [[(m.role, m.text) for m in request.messages] for request in client.requests]
