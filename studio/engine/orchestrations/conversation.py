"""What the ready-made workflows share: inputs as messages, replies without tool parts, designation of participants."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal

from studio.agents.messages import Data, Message, Part, Text, user
from studio.engine.context import Context
from studio.engine.executor import Executor, Handler
from studio.engine.types import ListOf, Type, UnionOf

Participants = Sequence[Executor]
Outputs = Sequence[str] | Literal["all"] | None
Intermediate = Sequence[str] | Literal["all", "all_other"] | None
Termination = Callable[[list[Message]], bool | Awaitable[bool]]
OnMessages = Callable[[tuple[Message, ...], Context], Awaitable[None]]

INPUTS: tuple[Type, ...] = (str, Message, ListOf(UnionOf(str, Message)))


def messages_of(data: str | Message | Sequence[str | Message]) -> tuple[Message, ...]:
    """An input as messages; a text is a user message."""
    items = [data] if isinstance(data, str | Message) else data
    return tuple(user(item) if isinstance(item, str) else item for item in items)


def input_handlers(run: OnMessages, sends: tuple[Type, ...], yields: tuple[Type, ...] = ()) -> list[Handler]:
    """Handlers for texts, messages and lists of both."""

    async def handle(data: str | Message | list[str | Message], ctx: Context) -> None:
        await run(messages_of(data), ctx)

    return [Handler(kind, handle, sends, yields) for kind in INPUTS]


def without_tool_parts(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Texts only (of users also data); messages that are then empty are gone. Providers refuse foreign tool parts."""
    kept = []
    for message in messages:
        parts = tuple(part for part in message.parts if _is_said(part, message.role == "user"))
        if parts:
            kept.append(Message(message.role, parts, message.author, None, message.extra))
    return tuple(kept)


def _is_said(part: Part, by_user: bool) -> bool:
    return bool(part.text) if isinstance(part, Text) else by_user and isinstance(part, Data)


def designation(
    participants: Participants, outputs: Outputs, intermediate: Intermediate, default: Sequence[str]
) -> tuple[list[str], list[str] | None]:
    """Ids of output and intermediate nodes; ``default`` are the outputs of the pattern."""
    ids = [p.id for p in participants]
    between: list[str] = []
    if intermediate is not None and not isinstance(intermediate, str):
        between = list(intermediate)
    if outputs == "all":
        out = ids
    elif outputs is not None:
        out = list(outputs)
    elif isinstance(intermediate, str):
        out = []
    else:
        out = [id for id in default if id not in between]
    if intermediate == "all":
        between = ids
    elif intermediate == "all_other":
        between = [id for id in ids if id not in out]
    return out, between or None
