"""Blocking functions as tools: run in a thread, without losing them when the turn is cancelled."""

from __future__ import annotations

import asyncio
import contextvars
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


async def in_thread(function: Callable[[], T], *, abandon_after: float | None = None) -> T:
    """The function's value. A thread cannot be stopped: when cancelled, this waits until it has ended, then raises.

    After ``abandon_after`` seconds of waiting the thread is left to itself; in every case its value is dropped.
    """
    context = contextvars.copy_context()
    running = asyncio.get_running_loop().run_in_executor(None, context.run, function)
    try:
        return await asyncio.shield(running)
    except asyncio.CancelledError:
        await _ended(running, abandon_after)
        raise


async def _ended(running: asyncio.Future[Any], seconds: float | None) -> None:
    """Waits however often the waiting itself is cancelled."""
    loop = asyncio.get_running_loop()
    until = None if seconds is None else loop.time() + seconds
    while not running.done():
        left = None if until is None else until - loop.time()
        if left is not None and left <= 0:
            running.add_done_callback(lambda done: done.cancelled() or done.exception())
            return
        try:
            await asyncio.wait({running}, timeout=left)
        except asyncio.CancelledError:
            continue
    if not running.cancelled():
        running.exception()  # noted, so that it is not reported as never retrieved


def threaded(
    function: Callable[[dict[str, Any]], Any], *, abandon_after: float | None = None
) -> Callable[[dict[str, Any]], Awaitable[Any]]:
    """``Tool.run`` of a blocking function."""

    async def run(arguments: dict[str, Any]) -> Any:
        return await in_thread(lambda: function(arguments), abandon_after=abandon_after)

    return run
