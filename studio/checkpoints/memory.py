"""Checkpoints in memory: gone with the process, for scripts and tests."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from studio.checkpoints.checkpoint import Checkpoint, CheckpointInfo, info_of
from studio.checkpoints.snapshot import copied
from studio.checkpoints.store import CheckpointNotFound, Codec, StoreError

_JSON = (str, int, float, bool, type(None), bytes)


class MemoryStore:
    """Keeps snapshots that share everything immutable with the run, so a long conversation is not copied."""

    def __init__(self, codec: Codec) -> None:
        self._codec = codec
        self._saved: dict[str, tuple[Checkpoint, CheckpointInfo]] = {}
        self._known: dict[int, object] = {}

    async def save(self, checkpoint: Checkpoint) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.save`; the size is always 0."""
        if checkpoint.id in self._saved:
            raise StoreError(f"A checkpoint with the id {checkpoint.id!r} is there already")
        kept = _fresh(checkpoint)
        self._check(kept.messages)
        self._check(kept.requests)
        for part in (kept.state, kept.executors, kept.fan_in):
            self._check(part)
        self._saved[checkpoint.id] = (kept, info_of(checkpoint, 0))
        return 0

    async def load(self, id: str) -> Checkpoint:
        """See :meth:`studio.checkpoints.store.CheckpointStore.load`."""
        try:
            return _fresh(self._saved[id][0])
        except KeyError:
            raise CheckpointNotFound(id) from None

    async def infos(self, run: str | None = None) -> list[CheckpointInfo]:
        """See :meth:`studio.checkpoints.store.CheckpointStore.infos`."""
        return [info for _, info in self._saved.values() if run is None or info.run == run]

    async def latest(self, run: str | None = None) -> CheckpointInfo | None:
        """See :meth:`studio.checkpoints.store.CheckpointStore.latest`."""
        return next((info for _, info in reversed(self._saved.values()) if run is None or info.run == run), None)

    async def delete(self, ids: Collection[str]) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.delete`."""
        found = [id for id in dict.fromkeys(ids) if id in self._saved]
        for id in found:
            del self._saved[id]
        if found:
            self._known.clear()  # it holds what was saved; what is still there is looked through once more
        return len(found)

    async def prune(self, keep: int, run: str | None = None) -> int:
        """See :meth:`studio.checkpoints.store.CheckpointStore.prune`."""
        infos = await self.infos(run)
        return await self.delete([info.id for info in infos[: max(len(infos) - keep, 0)]])

    async def close(self) -> None:
        """Nothing to give up."""

    def _check(self, value: Any) -> None:
        """Refuses what a store on disk would refuse, so that a script finds out early."""
        if isinstance(value, _JSON) or id(value) in self._known:
            return
        if isinstance(value, Mapping):
            for item in value.values():
                self._check(item)
        elif isinstance(value, list | tuple):
            for item in value:
                self._check(item)
        else:
            for item in self._codec.open(value)[1].values():
                self._check(item)
            self._known[id(value)] = value  # the reference keeps the id taken


def _fresh(checkpoint: Checkpoint) -> Checkpoint:
    return replace(
        checkpoint,
        messages=tuple(replace(m, data=copied(m.data)) for m in checkpoint.messages),
        requests=tuple(replace(r, data=copied(r.data)) for r in checkpoint.requests),
        state=copied(dict(checkpoint.state)),
        executors={node: copied(dict(state)) for node, state in checkpoint.executors.items()},
        fan_in={key: tuple(replace(m, data=copied(m.data)) for m in ms) for key, ms in checkpoint.fan_in.items()},
    )
