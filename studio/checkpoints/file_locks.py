"""Locks of whole files that the system gives up when their process ends, however it ends."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int, *, shared: bool) -> None:
        del shared  # Windows has one kind; a probe then looks like an owner for a moment
        os.lseek(handle, 1 << 20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(handle: int, *, shared: bool) -> None:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)


class OwnerFile:
    """A file that is locked as long as this object is open. Its text says who has it."""

    def __init__(self, path: Path, text: str) -> None:
        self.path = path
        # Locked under another name first: nobody may find it without its lock and take it for one left behind. Windows
        # cannot rename a file that is open, and does not let it be deleted either.
        first = path if sys.platform == "win32" else path.with_name(f".{path.name}")
        self._handle: int | None = _made(first)
        try:
            os.write(self._handle, text.encode())
            _lock(self._handle, shared=False)
            if first != path:
                first.rename(path)
        except BaseException:
            self.close()
            first.unlink(missing_ok=True)
            raise

    def close(self) -> None:
        """Gives the lock up and takes the file away; twice is allowed."""
        handle, self._handle = self._handle, None
        if handle is not None:
            if sys.platform == "win32":
                os.close(handle)
                self.path.unlink(missing_ok=True)
            else:
                self.path.unlink(missing_ok=True)
                os.close(handle)
            with contextlib.suppress(OSError):  # others still have theirs in it
                self.path.parent.rmdir()


def _made(path: Path) -> int:
    """A new file, open. Its folder may go at any moment: whoever leaves last takes it away."""
    for _ in range(20):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with contextlib.suppress(FileNotFoundError):
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    raise FileNotFoundError(path)


def text_of_living(path: Path) -> str | None:
    """The text of an owner's file whose process lives; None if it is gone (what it left is taken away)."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return None
    try:
        _lock(handle, shared=True)
    except OSError:
        os.lseek(handle, 0, os.SEEK_SET)
        return os.read(handle, 4096).decode(errors="replace")
    finally:
        os.close(handle)
    with contextlib.suppress(OSError):
        path.unlink()
    return None
