"""Nodes around turn-token agents: the start, routing of whole turns, collecting and joining turns.

A turn-token agent sends two or three messages a turn. A plain condition would decide about each alone and a plain join
would let the first pass, so these nodes keep a turn together until its token comes.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Literal

from studio.agents.messages import ApprovalRequest, Message, ToolCall, user
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler
from studio.engine.types import ListOf, UnionOf
from studio.engine.values import TurnToken

Select = Callable[[list[Message]], "Sequence[str] | Awaitable[Sequence[str]]"]
"""Ids of the targets for a whole turn's messages."""

_MESSAGES = ListOf(Message)


class ChatStart(Executor):
    """First node of a chat workflow: one input becomes messages and the token of the first turn.

    ``emit_events`` is what the token says. "run": a run that does not stream gets True, as the framework adds one
    itself there; in a streaming run the framework leaves the token to its caller, and ours leaves the choice to the
    first agent's option.
    """

    def __init__(self, id: str = "chat_start", *, emit_events: bool | Literal["run"] | None = "run") -> None:
        self._emit = emit_events
        sends = (_MESSAGES, TurnToken)
        super().__init__(
            id,
            (
                Handler(str, self._on_text, sends),
                Handler(Message, self._on_message, sends),
                Handler(_MESSAGES, self._on_messages, sends),
                Handler(TurnToken, self._on_token, sends),
            ),
        )

    async def _on_text(self, text: str, ctx: Context) -> None:
        self._start([user(text)], ctx)

    async def _on_message(self, message: Message, ctx: Context) -> None:
        self._start([message], ctx)

    async def _on_messages(self, messages: Sequence[Message], ctx: Context) -> None:
        self._start(list(messages), ctx)

    async def _on_token(self, token: TurnToken, ctx: Context) -> None:
        """An input that is a token is one already."""
        ctx.send(token, purpose="token")

    def _start(self, messages: list[Message], ctx: Context) -> None:
        ctx.send(messages, purpose="forward")
        emit = (None if ctx.streaming else True) if self._emit == "run" else self._emit
        ctx.send(TurnToken(emit), purpose="token")


class _Collecting(Executor):
    """Keeps the lists of a turn until its token."""

    def __init__(self, id: str, handlers: Sequence[Handler]) -> None:
        self._turn: list[list[Message]] = []
        super().__init__(id, handlers)

    async def _add(self, messages: Sequence[Message], ctx: Context) -> None:
        self._turn.append(list(messages))
        if ctx.scope.emit is not None:
            ctx.emit_named("collected", {"messages": len(messages)})

    def _taken(self) -> list[list[Message]]:
        turn, self._turn = self._turn, []
        return turn

    async def save(self) -> dict[str, Any]:
        """The lists of the turn so far."""
        return {"turn": [list(batch) for batch in self._turn]} if self._turn else {}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Takes the lists over; none if nothing is saved."""
        self._turn = [list(batch) for batch in state.get("turn", ())]


class TurnRouter(_Collecting):
    """Sends a whole turn, its token included, to the targets that ``select`` names for its messages.

    Requests that an agent sends to its followers need an answer before the turn can end: they go on at once, to all.
    """

    def __init__(self, id: str, select: Select) -> None:
        self._select = select
        sends = (_MESSAGES, TurnToken, ApprovalRequest, ToolCall)
        super().__init__(
            id,
            (
                Handler(_MESSAGES, self._add, sends),
                Handler(TurnToken, self._route, sends),
                Handler(UnionOf(ApprovalRequest, ToolCall), self._pass_on, sends),
            ),
        )

    async def _pass_on(self, request: ApprovalRequest | ToolCall, ctx: Context) -> None:
        ctx.send(request, purpose="request")

    async def _targets(self, messages: list[Message], ctx: Context) -> Sequence[str]:
        """The ids that get this turn."""
        selected = self._select(messages)
        return await selected if inspect.isawaitable(selected) else selected

    async def _route(self, token: TurnToken, ctx: Context) -> None:
        targets = await self._targets([message for batch in self._turn for message in batch], ctx)
        turn = self._taken()
        for target in targets:
            for batch in turn:
                ctx.send(list(batch), target, purpose="response")
            ctx.send(token, target, purpose="token")


class TurnCollector(_Collecting):
    """Sends a whole turn as exactly one list; goes between a turn-token agent and a join."""

    def __init__(self, id: str) -> None:
        super().__init__(id, (Handler(_MESSAGES, self._add, ()), Handler(TurnToken, self._send, (_MESSAGES,))))

    async def _send(self, token: TurnToken, ctx: Context) -> None:
        ctx.send([message for batch in self._taken() for message in batch], purpose="response")


class TurnJoin(Executor):
    """Target of a join of collected turns: one list of all of them, and the token of the next turn."""

    def __init__(self, id: str) -> None:
        super().__init__(id, (Handler(ListOf(_MESSAGES), self._join, (_MESSAGES, TurnToken)),))

    async def _join(self, turns: Sequence[Sequence[Message]], ctx: Context) -> None:
        ctx.send([message for turn in turns for message in turn], purpose="response")
        ctx.send(TurnToken(), purpose="token")
