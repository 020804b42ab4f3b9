"""A checkpoint beside the drawing as it is now."""

from __future__ import annotations

from dataclasses import dataclass

from studio.checkpoints import Checkpoint, RunStore
from studio.debugger.drift import Drift
from studio.document.model import Workflow
from studio.files import FileProblem, loads


@dataclass(frozen=True, slots=True)
class Comparison:
    """``old`` and ``drift`` are None if the drawing of the run was not kept or cannot be read."""

    checkpoint: Checkpoint
    old: Workflow | None = None
    drift: Drift | None = None


async def old_document(store: RunStore, fingerprint: str) -> Workflow | None:
    """The drawing that a run ran, if it was kept."""
    try:
        return loads(await store.load_document(fingerprint))
    except (KeyError, FileProblem):
        return None
