"""When a failed call is tried again, and the waiting for it."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable

from studio.agents.client import RunHooks
from studio.agents.errors import ErrorKind, ProviderError

_KINDS: frozenset[ErrorKind] = frozenset({"unreachable", "timeout", "rate_limited", "overloaded", "server"})
_STATUSES = frozenset({408, 409, 429})
LONGEST_WAIT = 120.0
"""A provider that asks for more seconds than this is not asked again."""


class RetryPolicy:
    """Shared by all calls of one client: what one call learns of a rate limit, the others wait for too."""

    def __init__(self, tries: int, *, jitter: Callable[[], float] = random.random) -> None:
        self._tries = tries
        self._jitter = jitter
        self._quiet_until = 0.0
        self._wake = asyncio.Event()

    def wake(self) -> None:
        """Ends all waits."""
        self._quiet_until = 0.0
        self._wake.set()

    async def pass_gate(self, call: str, hooks: RunHooks) -> None:
        """Waits while another call's rate limit runs."""
        left = self._quiet_until - asyncio.get_running_loop().time()
        if left > 0:
            hooks.model_call_retried(call, 0, left, "waits for the provider's rate limit")
            await self._sleep(left)

    async def wait(self, error: ProviderError, attempt: int, call: str, hooks: RunHooks) -> bool:
        """Waits before try number ``attempt`` + 1; False if there is none."""
        wait = self.wait_for(error, attempt)
        if wait is None:
            return False
        if error.kind == "rate_limited" and error.retry_after:
            self._quiet_until = max(self._quiet_until, asyncio.get_running_loop().time() + wait)
        hooks.model_call_retried(call, attempt, wait, str(error))
        await self._sleep(wait)
        return True

    def wait_for(self, error: ProviderError, attempt: int) -> float | None:
        """Seconds to wait after failed try number ``attempt`` (from 1); None: no further try."""
        last = min(self._tries, 2) if error.parameter else self._tries
        if attempt >= last or not self._again(error):
            return None
        asked = error.retry_after
        if asked is not None and asked > 0 and math.isfinite(asked):
            return asked if asked <= LONGEST_WAIT else None
        return min(0.5 * 2.0 ** (attempt - 1), 8.0) * (1 - 0.25 * self._jitter())

    @staticmethod
    def _again(error: ProviderError) -> bool:
        if error.should_retry is not None:
            return error.should_retry
        if error.status is None:
            return error.kind in ("unreachable", "timeout")
        return error.kind in _KINDS or error.status in _STATUSES or error.status >= 500

    async def _sleep(self, seconds: float) -> None:
        self._wake.clear()
        try:
            async with asyncio.timeout(seconds):
                await self._wake.wait()
        except TimeoutError:
            pass
