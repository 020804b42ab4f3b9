"""Runs and their forks, as they are listed: kept beside the checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol

from studio.checkpoints.marks import Mark
from studio.checkpoints.store import CheckpointStore

if TYPE_CHECKING:
    from studio.checkpoints.retention import RetentionRules
    from studio.checkpoints.upkeep import Compaction, Discarded, Sizes, Stop
    from studio.checkpoints.usage import Weight


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
    usage: str = ""
    """What its own model calls took, in the words of whoever keeps the record; "": not known."""


def free(record: RunRecord, taken: Iterable[tuple[int, str]]) -> RunRecord:
    """The record with a number, or for a fork a name, that no other run has: two programs that began at the same moment
    had chosen the same. ``taken``: numbers and names of the others."""
    others = set(taken)
    if (record.number, record.name) not in others:
        return record
    if record.parent_checkpoint is None:
        return replace(record, number=max(number for number, _ in others) + 1)
    names = (f"{record.name} {n}" for n in count(2))
    return replace(record, name=next(name for name in names if (record.number, name) not in others))


class RunStore(CheckpointStore, Protocol):
    """A checkpoint store that also keeps runs, their event logs and the documents they ran."""

    async def start_run(self, record: RunRecord) -> RunRecord:
        """Keeps a new run, and gives it as it is kept: see :func:`free`."""

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

    async def set_drafts(self, drafts: Mapping[str, Any]) -> None:
        """Keeps answers that were begun, JSON values by request; None takes one away."""

    async def drafts(self) -> dict[str, Any]:
        """All answers that were begun."""

    async def claim_run(self, id: str) -> None:
        """Makes this process the only one that works on a run, until it is released or the process ends, killed or not.

        Raises :class:`studio.checkpoints.leases.RunIsElsewhere`.
        """

    async def release_run(self, id: str) -> None:
        """Gives a run up."""

    async def owners(self) -> dict[str, str]:
        """The runs that other living processes work on, and who these are in words."""

    def changed_elsewhere(self) -> bool:
        """Whether another process wrote since the last call."""

    async def retention(self) -> RetentionRules:
        """Which checkpoints are kept."""

    async def set_retention(self, rules: RetentionRules) -> None:
        """Other rules; they take nothing away by themselves."""

    async def discard(self, text: str, at: float, checkpoints: Collection[str] = (), runs: Collection[str] = ()) -> int:
        """Takes checkpoints and runs away until they are put back; :meth:`compact` makes it final. Gives a number.

        ``text`` says what it was, ``at`` is the time in unix seconds.
        """

    async def put_back(self, number: int) -> None:
        """Undoes one :meth:`discard`."""

    async def discarded(self) -> list[Discarded]:
        """Everything that can be put back, oldest first."""

    async def sizes(self) -> Sizes:
        """What the store takes, and how much of it compacting gives back."""

    async def freed_by(self, checkpoints: Iterable[str], runs: Iterable[str] = ()) -> int:
        """The bytes that only these need."""

    async def weight(self, id: str) -> Weight:
        """What a checkpoint takes, alone and together with others."""

    async def compact(self, say: Callable[[str], None], stop: Stop) -> Compaction:
        """Removes for good what was discarded, and gives the room back. ``say`` may be called from a thread.

        Raises :class:`studio.checkpoints.upkeep.Stopped` if ``stop`` came before anything was removed.
        """
