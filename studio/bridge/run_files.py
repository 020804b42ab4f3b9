"""The file of runs of a workflow: opened, opened as far as it can be read, put aside; or none at all."""

from __future__ import annotations

import time
from pathlib import Path

from studio.bridge.window_store import WindowStore
from studio.checkpoints import Codec, RunStore, UnusableStore
from studio.document.model import Workflow
from studio.settings.places import run_store

_BESIDE = ("", "-wal", "-shm")


async def open_runs(workflow: Workflow, codec: Codec) -> RunStore:
    """The runs of a workflow, in memory for one that keeps no message on disk.

    Raises :class:`studio.checkpoints.UnusableStore` for a file that is none of ours.
    """
    if not workflow.runs_on_disk:
        from studio.debugger.memory_run_store import MemoryRunStore

        return MemoryRunStore(codec)
    path = run_store(workflow.id)
    try:
        return WindowStore(path, codec)
    except UnusableStore as problem:
        if problem.kind != "damaged":
            raise
        return await salvaged(path, codec)


async def salvaged(path: Path, codec: Codec) -> RunStore:
    """What can be read of a damaged file."""
    from studio.checkpoints.salvage import salvage

    return await salvage(path, codec)


def set_aside(path: Path) -> Path:
    """Gives a file that cannot be used another name, with what SQLite keeps beside it. Nothing is deleted."""
    stem = f"{path.stem}.aside-{time.strftime('%Y%m%d-%H%M%S')}"
    for end in _BESIDE:
        part = path.with_name(path.name + end)
        if part.exists():
            part.rename(path.with_name(f"{stem}{path.suffix}{end}"))
    return path.with_name(f"{stem}{path.suffix}")


def remove_runs(path: Path) -> None:
    """Deletes the runs of a workflow from disk, after somebody said so."""
    for end in _BESIDE:
        path.with_name(path.name + end).unlink(missing_ok=True)


def runs_size(path: Path) -> int:
    """Bytes that the runs of a workflow take on disk."""
    parts = (path.with_name(path.name + end) for end in _BESIDE)
    return sum(part.stat().st_size for part in parts if part.exists())
