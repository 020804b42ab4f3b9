"""Where branches are kept beside their checkpoints: the record of each, its event log, the documents they ran."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from studio.checkpoints import CheckpointStore, Codec, MemoryStore


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One branch. ``number`` counts runs of the workflow from 1, forks share it. Times are unix seconds.

    ``state`` is a :class:`studio.debugger.states.RunState`; ``input`` the text a person typed.
    """

    id: str
    number: int
    name: str
    parent_checkpoint: str | None = None
    input: str = ""
    state: str = "preparing"
    started: float = 0.0
    ended: float | None = None
    note: str = ""
    document_fingerprint: str = ""


class RunStore(CheckpointStore, Protocol):
    """A checkpoint store that also keeps branches."""

    async def start_run(self, record: RunRecord) -> None: ...
    async def update_run(self, id: str, **fields: Any) -> None: ...
    async def runs(self) -> list[RunRecord]: ...
    async def append_events(self, run: str, events: Sequence[Any]) -> None: ...
    async def load_events(self, run: str) -> list[Any]: ...
    async def save_document(self, fingerprint: str, text: str) -> None: ...
    async def load_document(self, fingerprint: str) -> str: ...


class MemoryRunStore(MemoryStore):
    """Branches and checkpoints in memory: gone with the process."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self._records: dict[str, RunRecord] = {}
        self._logs: dict[str, list[Any]] = {}
        self._documents: dict[str, str] = {}

    async def start_run(self, record: RunRecord) -> None:
        """Keeps a new branch."""
        self._records[record.id] = record

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
