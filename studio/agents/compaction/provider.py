"""Compaction of a history around a run."""

from __future__ import annotations

from typing import Any

from studio.agents.compaction.groups import Compaction, grouped, shown
from studio.agents.context_providers import ContextProvider, RunContext
from studio.agents.session import Session


class CompactionProvider(ContextProvider):
    """Shortens what earlier providers loaded (``before``), and what the session remembers (``after``).

    ``after`` is for good: what it leaves out of the session's messages is gone for later turns.
    """

    def __init__(
        self, *, before: Compaction | None = None, after: Compaction | None = None, source_id: str = "compaction"
    ) -> None:
        super().__init__(source_id)
        self._before = before
        self._after = after

    async def before_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        if self._before is None:
            return
        source_of = {id(m): source for source, messages in context.sources.items() for m in messages}
        if not source_of:
            return
        left = shown(await self._before(grouped(context.messages())))
        last = next(iter(context.sources))
        rebuilt: dict[str, list[Any]] = {source: [] for source in context.sources}
        for message in left:  # a summary belongs to what stood before it
            last = source_of.get(id(message), last)
            rebuilt[last].append(message)
        context.sources = rebuilt

    async def after_run(self, context: RunContext, session: Session, state: dict[str, Any]) -> None:
        if self._after is not None and session.messages:
            session.messages[:] = shown(await self._after(grouped(session.messages)))
