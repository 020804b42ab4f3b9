"""What code that runs inside a node may know of the invocation: who runs, and what was changed outside."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

from studio.engine.context import Context
from studio.engine.events import RunWarned
from studio.engine.executor import Executor, Handler, ResponseHandler

running: ContextVar[Context | None] = ContextVar("running", default=None)
"""The invocation that a tool call belongs to."""
_effects: ContextVar[list[str] | None] = ContextVar("effects", default=None)


def has_effect(tool: str) -> None:
    """Notes that a tool has changed something outside in this invocation."""
    effects = _effects.get()
    if effects is not None and tool not in effects:
        effects.append(tool)


def known(executor: Executor) -> None:
    """Makes the invocations of an executor known to the tools that run inside them. Should one fail after a tool has
    changed something outside, the run says so: nothing takes that back."""
    executor.handlers = tuple(_known(handler) for handler in executor.handlers)
    executor.responses = tuple(_known_answer(response) for response in executor.responses)


@contextmanager
def _inside(ctx: Context) -> Iterator[None]:
    effects: list[str] = []
    before = running.set(ctx), _effects.set(effects)
    try:
        yield
    except BaseException:
        if effects:
            names = ", ".join(effects)
            message = f"{ctx.node} did not finish, but {names} already ran; what it did outside is not undone."
            ctx.emit(RunWarned(ctx.now(), message, ctx.node))
        raise
    finally:
        running.reset(before[0])
        _effects.reset(before[1])


def _known(handler: Handler) -> Handler:
    async def run(data: Any, ctx: Context) -> None:
        with _inside(ctx):
            await handler.run(data, ctx)

    return replace(handler, run=run)


def _known_answer(response: ResponseHandler) -> ResponseHandler:
    async def run(question: Any, answer: Any, ctx: Context) -> None:
        with _inside(ctx):
            await response.run(question, answer, ctx)

    return replace(response, run=run)
