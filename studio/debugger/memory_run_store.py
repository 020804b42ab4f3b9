"""Branches in memory, for a run that nobody wants to keep."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.checkpoints import Codec, Mark, MemoryStore, RunRecord
from studio.checkpoints.runs import free
from studio.debugger.memory_upkeep import MemoryUpkeep


class MemoryRunStore(MemoryStore, MemoryUpkeep):
    """Branches and checkpoints in memory: gone with the process."""

    def __init__(self, codec: Codec) -> None:
        MemoryStore.__init__(self, codec)
        MemoryUpkeep.__init__(self)
        self._records: dict[str, RunRecord] = {}
        self._logs: dict[str, list[Any]] = {}
        self._documents: dict[str, str] = {}
        self._marks: dict[str, Mark] = {}
        self._drafts: dict[str, Any] = {}

    async def start_run(self, record: RunRecord) -> RunRecord:
        """Keeps a new branch, and gives it as it is kept."""
        record = free(record, ((r.number, r.name) for r in self._records.values()))
        self._records[record.id] = record
        return record

    async def update_run(self, id: str, **fields: Any) -> None:
        """Changes fields of a branch."""
        self._records[id] = replace(self._records[id], **fields)

    async def runs(self) -> list[RunRecord]:
        """All branches, oldest first."""
        return list(self._records.values())

    async def append_events(self, run: str, events: Sequence[Any]) -> None:
        """Adds to the log of a branch."""
        self._logs.setdefault(run, []).extend(events)

    async def load_events(self, run: str) -> list[Any]:
        """The whole log of a branch."""
        return list(self._logs.get(run, ()))

    async def save_document(self, fingerprint: str, text: str) -> None:
        """Keeps a document that ran."""
        self._documents[fingerprint] = text

    async def load_document(self, fingerprint: str) -> str:
        """The document with this fingerprint."""
        return self._documents[fingerprint]

    async def delete_run(self, id: str) -> int:
        """Removes a branch with its checkpoints, their marks and its log."""
        checkpoints = [info.id for info in await self.infos(id)]
        self._records.pop(id, None)
        self._logs.pop(id, None)
        for checkpoint in checkpoints:
            self._marks.pop(checkpoint, None)
        return await self.delete(checkpoints)

    async def set_mark(self, checkpoint: str, mark: Mark) -> None:
        """Keeps what a person wrote on a checkpoint; an empty mark takes it away."""
        self._marks[checkpoint] = mark
        if not mark:
            del self._marks[checkpoint]

    async def set_drafts(self, drafts: Mapping[str, Any]) -> None:
        """Keeps answers that were begun; None takes one away."""
        self._drafts.update(drafts)
        self._drafts = {request: value for request, value in self._drafts.items() if value is not None}

    async def drafts(self) -> dict[str, Any]:
        """All answers that were begun."""
        return dict(self._drafts)

    async def marks(self) -> dict[str, Mark]:
        """All marks by checkpoint."""
        return dict(self._marks)
