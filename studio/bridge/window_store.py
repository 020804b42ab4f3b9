"""The run database of a window: what can be long is read in a thread with a connection of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeVar

from studio.checkpoints import CheckpointInfo, Codec, Mark, RunRecord, SqliteStore

_Read = TypeVar("_Read")


class WindowStore(SqliteStore):
    """Lists branches and checkpoints and reads logs without holding up the window."""

    def __init__(self, path: Path, codec: Codec) -> None:
        super().__init__(path, codec)
        self._file = path
        self._file_codec = codec

    async def runs(self) -> list[RunRecord]:
        """All branches, oldest first."""
        return await self._apart(lambda store: store.runs())

    async def infos(self, run: str | None = None) -> list[CheckpointInfo]:
        """All checkpoints (of one branch), in the order they were saved."""
        return await self._apart(lambda store: store.infos(run))

    async def load_events(self, run: str) -> list[Any]:
        """The whole log of a branch."""
        return await self._apart(lambda store: store.load_events(run))

    async def marks(self) -> dict[str, Mark]:
        """All marks by checkpoint."""
        return await self._apart(lambda store: store.marks())

    async def _apart(self, read: Callable[[SqliteStore], Awaitable[_Read]]) -> _Read:
        async def inside() -> _Read:
            store = SqliteStore(self._file, self._file_codec)
            try:
                return await read(store)
            finally:
                await store.close()

        return await asyncio.to_thread(asyncio.run, inside())
