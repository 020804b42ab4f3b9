"""Waiting for what threads and processes do."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

GENEROUS = 60.0
"""Seconds: the machine may be busy with other things."""


async def until(condition: Callable[[], object], what: str = "it happens") -> None:
    """Lets the loop turn until something is so; fails with its name."""
    end = time.monotonic() + GENEROUS
    while not condition():
        assert time.monotonic() < end, what
        await asyncio.sleep(0.01)
