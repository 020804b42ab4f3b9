"""The run database of a window: what can be long is read in a thread with a connection of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from studio.checkpoints import CheckpointInfo, Codec, Mark, RunRecord, SqliteStore

if TYPE_CHECKING:
    from studio.checkpoints.upkeep import Sizes
    from studio.checkpoints.usage import Weight

_Read = TypeVar("_Read")


class WindowStore(SqliteStore):
    """Lists branches and checkpoints and reads logs without holding up the window."""

    program = "another window"

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

    async def freed_by(self, checkpoints: Iterable[str], runs: Iterable[str] = ()) -> int:
        """The bytes that only these need."""
        return await self._apart(lambda store: store.freed_by(checkpoints, runs))

    async def sizes(self) -> Sizes:
        """What the file takes."""
        return await self._apart(lambda store: store.sizes())

    async def weight(self, id: str) -> Weight:
        """What a checkpoint takes."""
        return await self._apart(lambda store: store.weight(id))

    async def _apart(self, read: Callable[[SqliteStore], Awaitable[_Read]]) -> _Read:
        async def inside() -> _Read:
            store = SqliteStore(self._file, self._file_codec)
            try:
                return await read(store)
            finally:
                await store.close()

        return await asyncio.to_thread(asyncio.run, inside())
