"""One vertex of a graph: handlers by type of message, response handlers by type of question and answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.checkpoints import PendingRequest
from studio.engine.types import Type, fits
from studio.engine.values import Record

if TYPE_CHECKING:
    from studio.engine.context import Context

Run = Callable[[Any, "Context"], Awaitable[None]]
RunResponse = Callable[[Any, Any, "Context"], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Handler:
    """Takes messages of one type. ``sends`` and ``yields`` are what validation knows; None: not declared."""

    accepts: Type
    run: Run
    sends: tuple[Type, ...] | None = None
    yields: tuple[Type, ...] = ()


@dataclass(frozen=True, slots=True)
class ResponseHandler:
    """Takes answers of one type to questions of one type: ``run(question, answer, ctx)``."""

    request: Type
    response: Type
    run: RunResponse
    sends: tuple[Type, ...] | None = None
    yields: tuple[Type, ...] = ()


class Executor:
    """Base of all nodes. A subclass gives handlers, and ``save``/``restore`` if it has state of its own."""

    def __init__(self, id: str, handlers: Iterable[Handler] = (), responses: Iterable[ResponseHandler] = ()) -> None:
        self.id = id
        self.handlers = tuple(handlers)
        self.responses = tuple(responses)
        self._by_class: dict[type, Handler | None] = {}

    @property
    def kind(self) -> str:
        """The name of the class, as the graph signature has it."""
        return type(self).__name__

    @property
    def signature(self) -> Any:
        """What the graph signature says about this node."""
        return self.kind

    @property
    def accepts(self) -> tuple[Type, ...]:
        """Types of messages this node takes."""
        return tuple(h.accepts for h in self.handlers)

    @property
    def sends(self) -> tuple[Type, ...]:
        """Types this node may send; empty if nothing is declared."""
        handlers: tuple[Handler | ResponseHandler, ...] = (*self.handlers, *self.responses)
        return _union(h.sends or () for h in handlers)

    @property
    def yields(self) -> tuple[Type, ...]:
        """Types this node may yield; empty: it never yields."""
        handlers: tuple[Handler | ResponseHandler, ...] = (*self.handlers, *self.responses)
        return _union(h.yields for h in handlers)

    async def save(self) -> dict[str, Any]:
        """State for a checkpoint: containers of its own, so that later changes do not reach it."""
        return {}

    async def restore(self, state: Mapping[str, Any]) -> None:
        """Takes the state of a checkpoint over; an empty one by default changes nothing."""

    async def cancel_request(self, request: PendingRequest, ctx: Context) -> None:
        """A request of this node was cancelled; it is no longer pending."""

    def handler_for(self, data: Any) -> Handler | None:
        """The first handler that accepts ``data``. Remembered by class, but for values whose items decide."""
        kind = type(data)
        try:
            return self._by_class[kind]
        except KeyError:
            found = next((h for h in self.handlers if fits(data, h.accepts)), None)
            if not issubclass(kind, list | Record):
                self._by_class[kind] = found
            return found

    def response_for(self, question: Any, answer: Any) -> ResponseHandler | None:
        """The first response handler for this question and answer."""
        return next((r for r in self.responses if fits(question, r.request) and fits(answer, r.response)), None)


def _union(parts: Iterable[tuple[Type, ...]]) -> tuple[Type, ...]:
    return tuple(dict.fromkeys(kind for part in parts for kind in part))
