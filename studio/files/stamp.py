"""What was read from a file or written to it, so that a change by another program is seen before the next save."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Stamp:
    """One content of a file: time of change in nanoseconds, size in bytes, SHA-256."""

    mtime_ns: int
    size: int
    sha256: str

    @classmethod
    def of(cls, content: bytes, status: os.stat_result) -> Stamp:
        """``status`` is that of the file when it had this content."""
        return cls(status.st_mtime_ns, status.st_size, hashlib.sha256(content).hexdigest())

    def differs(self, path: Path) -> bool:
        """Whether the file has other content now. Touched but equal: no. Gone or unreadable: no, nothing is lost."""
        try:
            status = path.stat()
            if (status.st_mtime_ns, status.st_size) == (self.mtime_ns, self.size):
                return False
            return hashlib.sha256(path.read_bytes()).hexdigest() != self.sha256
        except OSError:
            return False
