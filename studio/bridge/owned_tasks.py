"""Tasks that a model started and ends with it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from studio.checkpoints import ReadOnlyStore, StoreError, UnusableStore

_log = logging.getLogger(__name__)


class OwnedTasks:
    """Turns run one after the other, in the order they were asked for. ``failed`` gets a sentence if one fails."""

    def __init__(self, failed: Callable[[str], None]) -> None:
        self._failed = failed
        self._waiting: list[Callable[[], Awaitable[None]]] = []
        self._task: asyncio.Task[None] | None = None

    def turn(self, work: Callable[[], Awaitable[None]]) -> None:
        """Does this piece of work after the ones before it."""
        self._waiting.append(work)
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._work(), name="turns of a run model")

    def cancel_turn(self) -> None:
        """Takes back what has not ended yet."""
        self._waiting.clear()
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Cancels and awaits everything."""
        self.cancel_turn()
        if self._task is not None:
            await asyncio.gather(self._task, return_exceptions=True)

    async def _work(self) -> None:
        while self._waiting:
            try:
                await self._waiting.pop(0)()
            except UnusableStore as error:
                self._failed(f"{error}.")
            except ReadOnlyStore as error:
                self._failed(str(error))
            except (StoreError, OSError) as error:
                self._failed(f"The runs of this workflow cannot be read: {error}. Check the data folder.")
            except Exception as error:
                _log.exception("A command of the run failed")
                self._failed(f"This did not work: {type(error).__name__}: {error}.")
