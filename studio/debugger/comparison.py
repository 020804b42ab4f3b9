"""A checkpoint beside the drawing as it is now."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.checkpoints import Checkpoint, RunStore
from studio.debugger.drift import Drift, compare
from studio.document.fingerprint import document_fingerprint
from studio.document.model import Workflow
from studio.files import FileProblem, loads


@dataclass(frozen=True, slots=True)
class Comparison:
    """``old`` and ``drift`` are None if the drawing of the run was not kept or cannot be read."""

    checkpoint: Checkpoint
    old: Workflow | None = None
    drift: Drift | None = None


NOT_KEPT = "The drawing of this run was not kept; prompts cannot be compared."


@dataclass(frozen=True, slots=True)
class Ahead:
    """What a person must know before a run goes on from a checkpoint: how the drawing differs from that of the run, in
    sentences, and in one what reaches outside ("": nothing). ``old``: the drawing of the run, if it was kept."""

    differs: tuple[str, ...] = ()
    outside: str = ""
    old: Workflow | None = None

    def __bool__(self) -> bool:
        return bool(self.differs or self.outside)


def ahead_of(found: Comparison | None, outside: str) -> Ahead:
    """The same from what was looked up; ``found`` None: the checkpoint is of no run that is known."""
    if found is None:
        return Ahead(outside=outside)
    differs = tuple(found.drift.sentences()) if found.drift is not None else (NOT_KEPT,)
    return Ahead(differs, outside, found.old)


def drift_of(old: Workflow, new: Workflow, *, same_graph: bool, same_run: bool) -> Drift:
    """How two drawings differ. ``same_run``: a run of either would be recorded with the same fingerprint, linked files
    included."""
    drift = compare(old, new, same_graph=same_graph)
    if same_run or document_fingerprint(old) != document_fingerprint(new):
        return drift
    return replace(drift, linked=True)


async def old_document(store: RunStore, fingerprint: str) -> Workflow | None:
    """The drawing that a run ran, if it was kept."""
    try:
        return loads(await store.load_document(fingerprint))
    except (KeyError, FileProblem):
        return None
