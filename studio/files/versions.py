"""Kept versions: what a save replaced, the last :data:`KEPT` of each workflow, in the state folder."""

from __future__ import annotations

import contextlib
import os
import time
from dataclasses import dataclass
from pathlib import Path

from studio.files.atomic import write_bytes
from studio.files.folders import state_folder

KEPT = 20
_ENDING = ".workflow.json"


@dataclass(frozen=True, slots=True)
class Version:
    """One kept version. ``replaced`` is unix time of the save that took its place, ``saved`` of its own save; ``size``
    in bytes."""

    path: Path
    replaced: float
    saved: float
    size: int


def _folder(workflow_id: str, *, make: bool = False) -> Path:
    safe = "".join(c if c.isalnum() or c in "-_" else "_" for c in workflow_id)[:100] or "_"
    folder = state_folder("versions") / safe
    if make:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    return folder


def kept_versions(workflow_id: str) -> tuple[Version, ...]:
    """The kept versions of a workflow, newest first."""
    found = []
    for path in _folder(workflow_id).glob(f"*{_ENDING}"):
        with contextlib.suppress(ValueError, OSError):
            nanoseconds = int(path.name.removesuffix(_ENDING))
            status = path.stat()
            found.append(Version(path, nanoseconds / 1e9, status.st_mtime, status.st_size))
    return tuple(sorted(found, key=lambda v: v.path.name, reverse=True))


def keep(workflow_id: str, content: bytes, saved: float | None = None) -> None:
    """Keeps what a save is about to replace; the oldest beyond :data:`KEPT` goes. Equal to the newest: nothing.

    ``saved`` is the unix time when it was written; None: now.
    """
    kept = kept_versions(workflow_id)
    if kept and kept[0].size == len(content) and kept[0].path.read_bytes() == content:
        return
    path = _folder(workflow_id, make=True) / f"{time.time_ns():020d}{_ENDING}"
    write_bytes(path, content)
    if saved is not None:
        os.utime(path, (saved, saved))
    for old in kept[KEPT - 1 :]:
        old.path.unlink(missing_ok=True)
