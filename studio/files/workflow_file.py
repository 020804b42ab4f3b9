"""Reading and writing workflow files."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from studio.document.model import Workflow
from studio.files.atomic import write_bytes
from studio.files.embedding import PICTURES, found_in
from studio.files.format import MAX_BYTES, decode, dumps, loads, too_large
from studio.files.problems import FileProblem
from studio.files.stamp import Stamp
from studio.files.versions import keep


def read_workflow(path: Path) -> Workflow:
    """The document in a file. Raises :class:`FileProblem`; runs no code."""
    return read_stamped(path)[0]


def read_stamped(path: Path) -> tuple[Workflow, Stamp]:
    """The document in a file or in a picture of one, and what the file was.

    Raises :class:`FileProblem`; runs no code.
    """
    path = Path(path)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size > MAX_BYTES:
                raise too_large(status.st_size)
            raw = file.read()
    except IsADirectoryError as error:
        raise FileProblem(f"{path.name or path} is a folder.", "Choose a workflow file in it.") from error
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"{path.name or path} cannot be opened: {reason}."
        raise FileProblem(message, "Check that it is there and that you may read it.") from error
    return loads(_text(path, raw)), Stamp.of(raw, status)


def _text(path: Path, raw: bytes) -> str:
    """The text of the file, or of the workflow that is kept in a picture."""
    if path.suffix.lower() not in PICTURES:
        return decode(raw)
    try:
        found = found_in(raw)
    except ValueError as error:
        raise FileProblem(
            f"The workflow in {path.name} cannot be read: {error}.", "Export the picture again."
        ) from None
    if found is None:
        way_out = "Open one that was exported with the workflow inside, or the workflow file itself."
        raise FileProblem(f"{path.name} is a picture without a workflow in it.", way_out)
    return found


def write_workflow(workflow: Workflow, path: Path) -> Stamp:
    """Saves a document: all of it or nothing. What it replaces is kept as a version. Raises :class:`FileProblem`.

    Returns what the file is then.
    """
    path = Path(path)
    content = dumps(workflow).encode("utf-8")
    with contextlib.suppress(OSError, FileProblem):  # a full state folder must not keep anyone from saving
        status = path.stat()
        if status.st_size <= MAX_BYTES:
            keep(workflow.id, path.read_bytes(), status.st_mtime)
    return Stamp.of(content, write_bytes(path, content))
