"""The autosave journal: what was edited since the last save, so that a killed program loses next to nothing.

One file of JSON lines per open document: a snapshot first, then what each edit changed. A line is handed to the system
as soon as the edit is made, so ``kill -9`` loses at most the line being written. A long journal is compacted into a new
snapshot. A document that is saved or closed leaves no journal; one that is left over belongs to a program that died.
"""

from __future__ import annotations

import contextlib
import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from studio.document.model import Workflow
from studio.files.atomic import write_bytes
from studio.files.deltas import apply_difference, difference
from studio.files.folders import state_folder
from studio.files.format import loads, to_text
from studio.files.locks import FileLock
from studio.files.migrations import FORMAT, VERSION
from studio.files.plain import Plain, plain_workflow
from studio.files.problems import FileProblem

COMPACT_ABOVE = 512_000
"""A journal longer than this many bytes, and than eight of its snapshots, is written anew."""

_ENDING = ".journal"


class Journal:
    """The journal of one open document. Nothing is written before the first change.

    Writing never raises: if the folder cannot be written, :attr:`problem` says so and editing goes on.
    """

    def __init__(self, workflow_id: str, folder: Path | None = None) -> None:
        self.workflow_id = workflow_id
        self.problem: FileProblem | None = None
        self._folder = folder or state_folder("journals")
        self._file: Path | None = None
        self._lock: FileLock | None = None
        self._path: Path | None = None
        self._base: Workflow | None = None
        self._written: Workflow | None = None
        self._size = self._snapshot_size = 0

    def begin(self, workflow: Workflow | None, path: Path | None = None) -> None:
        """Says what the document is now, equal to its file or new; later changes are recorded from here. None: all of
        it is to be recorded."""
        self._base, self._path = workflow, path

    def record(self, workflow: Workflow) -> None:
        """Writes what changed; call it after each edit, undo and redo."""
        if self._written is None and workflow is self._base:
            return
        try:
            if self._written is None or self._size > max(COMPACT_ABOVE, 8 * self._snapshot_size):
                self._write_snapshot(workflow)
            else:
                self._append({"t": time.time(), "change": difference(self._written, workflow)})
            self._written = workflow
            self.problem = None
        except (OSError, FileProblem) as error:
            reason = error.message if isinstance(error, FileProblem) else error.strerror or type(error).__name__
            message = f"Unsaved changes cannot be kept for the case of a crash: {reason.rstrip('.')}."
            self.problem = FileProblem(message, "Save the file yourself.")

    def saved(self, workflow: Workflow, path: Path | None) -> None:
        """Says that the file has everything: the journal goes, and begins anew with the next change."""
        self.discard()
        self.begin(workflow, path)

    def recover(self) -> Recovery | None:
        """What a program that died left of this document, newest first; None if nothing."""
        return next((r for r in recoverable(self._folder) if r.workflow_id == self.workflow_id), None)

    def discard(self) -> None:
        """Takes the journal away: saved, closed without saving, or undone to what the file has."""
        if self._file is not None:
            with contextlib.suppress(OSError):
                self._file.unlink(missing_ok=True)
        if self._lock is not None:
            with contextlib.suppress(OSError):
                self._lock.release(remove=True)
        self._file, self._lock, self._written = None, None, None

    def _write_snapshot(self, workflow: Workflow) -> None:
        file = self._own_file()
        head = {
            "journal": 1,
            "t": time.time(),
            "path": str(self._path) if self._path else None,
            "snapshot": plain_workflow(workflow),
        }
        content = (to_text(head, indent=None) + "\n").encode("utf-8")
        write_bytes(file, content)
        self._size = self._snapshot_size = len(content)

    def _append(self, line: Plain) -> None:
        if not line["change"]:
            return
        content = (to_text(line, indent=None) + "\n").encode("utf-8")
        with open(self._own_file(), "ab") as file:
            file.write(content)
        self._size += len(content)

    def _own_file(self) -> Path:
        """A file that no other program and no left-over journal has."""
        if self._file is not None:
            return self._file
        self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        number = 0
        while True:
            number += 1
            file = self._folder / f"{_safe(self.workflow_id)}.{number}{_ENDING}"
            lock = FileLock(_lock_path(file))
            if file.exists() or not lock.acquire():
                continue
            if file.exists():  # left over by a program that died in between
                lock.release()
                continue
            self._file, self._lock = file, lock
            return file


@dataclass(frozen=True, slots=True)
class Recovery:
    """A journal whose program died. ``path`` is the file that was edited (None: never saved), ``changed`` unix time
    of the last edit, ``edits`` how many are in it."""

    workflow_id: str
    name: str
    path: Path | None
    changed: float
    edits: int
    file: Path

    def workflow(self) -> Workflow:
        """The document as it was at the last edit. Raises :class:`FileProblem`."""
        found = _replayed(self.file)
        if found is None:
            raise FileProblem("The journal holds no document.", "Discard it.")
        return found.workflow

    def discard(self) -> None:
        """Takes the journal away."""
        self.file.unlink(missing_ok=True)
        _lock_path(self.file).unlink(missing_ok=True)


@dataclass(frozen=True, slots=True)
class _Replayed:
    workflow: Workflow
    path: Path | None
    changed: float
    edits: int


def recoverable(folder: Path | None = None) -> tuple[Recovery, ...]:
    """What programs that died left, newest first. Journals of documents that are open somewhere are not shown."""
    found = []
    for file in (folder or state_folder("journals")).glob(f"*{_ENDING}"):
        if _in_use(file):
            continue
        replayed = _replayed(file)
        if replayed is not None:
            workflow = replayed.workflow
            found.append(Recovery(workflow.id, workflow.name, replayed.path, replayed.changed, replayed.edits, file))
    return tuple(sorted(found, key=lambda r: r.changed, reverse=True))


def _safe(workflow_id: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in workflow_id)[:100] or "_"


def _lock_path(file: Path) -> Path:
    return file.with_suffix(".lock")


def _in_use(file: Path) -> bool:
    lock = FileLock(_lock_path(file))
    if not lock.acquire():
        return True
    lock.release()
    return False


def _replayed(file: Path) -> _Replayed | None:
    """The document at the end of a journal; a line that is cut off or damaged ends it there. None: not even a start."""
    data: Plain | None = None
    path: Path | None = None
    changed, edits = 0.0, 0
    damage = (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError)
    with contextlib.suppress(*damage), open(file, "rb") as lines:
        for raw in lines:
            line: dict[str, Any] = json.loads(raw)
            if "snapshot" in line:
                data, path = line["snapshot"], Path(line["path"]) if line.get("path") else None
            elif data is not None:
                apply_difference(data, line["change"])
            changed, edits = float(line["t"]), edits + 1
    if data is None:
        return None
    try:
        workflow = loads(to_text({"format": FORMAT, "version": VERSION, **data}))
    except (FileProblem, ValueError):
        return None
    return _Replayed(workflow, path, changed, edits)
