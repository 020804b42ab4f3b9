"""Runs and their forks, as they are listed: kept beside the checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from studio.checkpoints.marks import Mark
from studio.checkpoints.store import CheckpointStore


@dataclass(frozen=True, slots=True)
class RunRecord:
    """One run or one fork of it. ``number`` counts runs from 1, forks share it. Times are unix seconds."""

    id: str
    number: int
    name: str
    parent_checkpoint: str | None = None
    """The checkpoint it began at; None for a new input."""
    input: str = ""
    """What a person typed."""
    state: str = "preparing"
    started: float = 0.0
    ended: float | None = None
    note: str = ""
    document_fingerprint: str = ""


class RunStore(CheckpointStore, Protocol):
    """A checkpoint store that also keeps runs, their event logs and the documents they ran."""

    async def start_run(self, record: RunRecord) -> None:
        """Keeps a new run."""

    async def update_run(self, id: str, **fields: Any) -> None:
        """Changes fields of a run. Raises KeyError for an unknown run or field."""

    async def runs(self) -> list[RunRecord]:
        """All runs, oldest first."""

    async def append_events(self, run: str, events: Sequence[Any]) -> None:
        """Adds JSON values to the log of a run."""

    async def load_events(self, run: str) -> list[Any]:
        """The whole log of a run."""

    async def save_document(self, fingerprint: str, text: str) -> None:
        """Keeps a document that ran, once."""

    async def load_document(self, fingerprint: str) -> str:
        """The document with this fingerprint. Raises KeyError."""

    async def delete_run(self, id: str) -> int:
        """Removes a run with its checkpoints, their marks and its log; runs forked from it stay as they are.

        Gives how many checkpoints there were.
        """

    async def set_mark(self, checkpoint: str, mark: Mark) -> None:
        """Keeps what a person wrote on a checkpoint; an empty mark takes it away."""

    async def marks(self) -> dict[str, Mark]:
        """All marks by checkpoint."""
