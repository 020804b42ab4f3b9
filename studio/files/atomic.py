"""Writing a file so that there is always a whole one: the old or the new."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from studio.files.problems import FileProblem


def write_bytes(path: Path, content: bytes) -> os.stat_result:
    """Temporary file beside the target, flushed to the disk, then put in its place. Raises :class:`FileProblem`.

    A link is followed, so that it stays a link; the rights of an existing file are kept. Returns the status of what was
    written, even if another program has replaced it since.
    """
    target = Path(os.path.realpath(path))
    temporary = target.with_name(f".{target.name[:100]}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
            written = os.fstat(file.fileno())
        if target.exists():
            os.chmod(temporary, stat.S_IMODE(target.stat().st_mode))
        os.replace(temporary, target)
        _sync_folder(target.parent)
        return written
    except OSError as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        reason = error.strerror or type(error).__name__
        raise FileProblem(
            f"{path.name} cannot be written: {reason}.", "Save it under another name or folder."
        ) from error


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable; where folders cannot be opened (Windows) the system does it."""
    if os.name != "posix":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError:
        pass  # some file systems cannot; the file itself is written
    finally:
        os.close(handle)
