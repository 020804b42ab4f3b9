"""Updates of a streamed answer on their way through hooks, in their order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from types import TracebackType

from studio.agents.messages import AgentUpdate

UpdateSink = Callable[[AgentUpdate], None]
UpdateHook = Callable[[AgentUpdate], "AgentUpdate | None"]
"""Gives an update in its place; None drops it."""
UpdatesHook = Callable[[Sequence[AgentUpdate]], Awaitable[Sequence[AgentUpdate]]]
"""Takes its time: gets all updates that came meanwhile, and gives those in their place."""


@dataclass(frozen=True, slots=True)
class Slow:
    """Marks a hook that takes its time."""

    hook: UpdatesHook


class HookedUpdates:
    """Use as ``async with``: gives the sink for the updates, and ends when all of them are through.

    Without a hook that takes its time an update is through at once. ``hooks``: in the order in which they apply.
    """

    def __init__(self, hooks: Sequence[UpdateHook | Slow], sink: UpdateSink) -> None:
        self._hooks = hooks
        self._sink = sink
        self._slow = any(isinstance(hook, Slow) for hook in hooks)
        self._waiting: list[AgentUpdate] = []
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> UpdateSink:
        if not self._hooks:
            return self._sink
        return self._queue if self._slow else self._give

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if error is None:
                await self.through()
        finally:
            task, self._task = self._task, None
            if task is not None:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def through(self) -> None:
        """Waits until every update so far is through. Raises what a hook raised."""
        if self._task is not None:
            await self._task

    def _give(self, update: AgentUpdate) -> None:
        for hook in self._hooks:
            assert not isinstance(hook, Slow)
            changed = hook(update)
            if changed is None:
                return
            update = changed
        self._sink(update)

    def _queue(self, update: AgentUpdate) -> None:
        """Raises what a hook raised: the stream ends there."""
        self._waiting.append(update)
        if self._task is None or self._task.done():
            if self._task is not None:
                self._task.result()
            self._task = asyncio.get_running_loop().create_task(self._work())

    async def _work(self) -> None:
        while self._waiting:
            updates: Sequence[AgentUpdate] = self._waiting
            self._waiting = []
            for hook in self._hooks:
                if isinstance(hook, Slow):
                    updates = await hook.hook(updates)
                else:
                    updates = [changed for update in updates if (changed := hook(update)) is not None]
            for update in updates:
                self._sink(update)
