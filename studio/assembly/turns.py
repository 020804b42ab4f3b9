"""Nodes that a run adds around turn-token agents, so that a turn stays whole (see :mod:`studio.document.turns`)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.agents.messages import Message
from studio.assembly.texts import messages_of, plain_value
from studio.document.model import AgentNode, JoinNode
from studio.document.turns import first_token
from studio.engine.context import Context
from studio.engine.hosts import ChatStart, TurnRouter, TurnToken
from studio.engine.hosts.function import FunctionExecutor
from studio.engine.types import ANY, ListOf

StateTest = Callable[[Any, Mapping[str, Any] | None], bool | Awaitable[bool]]


@dataclass(frozen=True, slots=True)
class Way:
    """A way out of a junction; ``test`` None always holds."""

    target: str
    test: StateTest | None


async def chosen(ways: Sequence[Way], data: Any, state: Mapping[str, Any] | None, *, first: bool) -> list[str]:
    """The targets whose condition holds; with ``first`` only the first of them."""
    targets: list[str] = []
    for way in ways:
        holds = True if way.test is None else way.test(data, state)
        if holds if isinstance(holds, bool) else await holds:
            targets.append(way.target)
            if first:
                break
    return targets


class TurnJunction(TurnRouter):
    """The router of a conditional edge, switch or fan-out: decides once on all messages of a turn."""

    def __init__(self, id: str, ways: Sequence[Way], state_keys: Sequence[str], *, first: bool) -> None:
        self._ways = tuple(ways)
        self._keys = tuple(state_keys)
        self._first = first
        super().__init__(id, lambda _: ())

    async def _targets(self, messages: list[Message], ctx: Context) -> Sequence[str]:
        state = {key: plain_value(ctx.get_state(key)) for key in self._keys} if self._keys else None
        return await chosen(self._ways, messages, state, first=self._first)


class JoinedTurns(FunctionExecutor):
    """A join bar in front of turn-token agents: all messages of its sources as one list, and a token."""

    def __init__(self, node: JoinNode, emit: bool | None) -> None:
        self._emit = emit
        super().__init__(node.id, self._run, accepts=ListOf(ANY), sends=(ListOf(Message), TurnToken))

    async def _run(self, data: list[Any], ctx: Context) -> None:
        ctx.send(list(messages_of(data)), purpose="response")
        ctx.send(TurnToken(self._emit), purpose="token")


def chat_start(id: str, node: AgentNode) -> ChatStart:
    """The node in front of a start that takes turns."""
    return ChatStart(id, emit_events=first_token(node))
