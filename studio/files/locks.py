"""A lock that another process sees and that its end releases, however it ends."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType


class FileLock:
    """Holds a file of its own. :meth:`acquire` says whether it was free; it never waits."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._handle: int | None = None

    def acquire(self) -> bool:
        """Takes the lock if nobody has it."""
        handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            _lock(handle)
        except OSError:
            os.close(handle)
            return False
        self._handle = handle
        return True

    def release(self, *, remove: bool = False) -> None:
        """Gives the lock back; ``remove`` takes the file away too."""
        if self._handle is not None:
            if remove and sys.platform != "win32":
                self.path.unlink(missing_ok=True)
            os.close(self._handle)
            self._handle = None
            if remove and sys.platform == "win32":
                self.path.unlink(missing_ok=True)

    def __enter__(self) -> FileLock:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self.release()


if sys.platform == "win32":

    def _lock(handle: int) -> None:
        import msvcrt

        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)

else:

    def _lock(handle: int) -> None:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
