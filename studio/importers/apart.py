"""A file is read in a process of its own, which may take so much time and memory and no more.

Reading runs nothing of the file, but parsers can be led to work for very long: nobody waits for such a file, and the
window is not slowed down by it. What comes back is made by this program's own code.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from studio.importers import Imported, ImportProblem, read
from studio.importers.opening import opened

SECONDS = 10
"""Of processor time, which does not depend on what else the machine does."""
MOST_SECONDS = 120.0
"""In all, for systems that do not count it."""
MEMORY = 4 << 30
_LOOK = 0.1
"""Seconds until it is looked again whether anybody waits."""


def read_apart(path: Path, kind: str | None, choice: str | None, stop: threading.Event) -> Imported:
    """What a file is as it is opened; ``stop``, set from another thread, ends the reading.

    Raises :class:`ImportProblem`, also if the limits were reached.
    """
    with subprocess.Popen(
        # -P: nothing in the folder where the program was started stands in for a module
        [sys.executable, "-P", "-m", "studio.importers.apart"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tempfile.gettempdir(),
    ) as process:
        try:
            answer, said = _communicated(process, pickle.dumps((path.absolute(), kind, choice)), stop)
        finally:
            process.kill()
    found = pickle.loads(answer) if process.returncode == 0 else _problem(process.returncode, said)
    if isinstance(found, Imported):
        return found
    raise found


def _communicated(process: subprocess.Popen[bytes], given: bytes, stop: threading.Event) -> tuple[bytes, bytes]:
    """What the process answers and what it complains of; ended if nobody waits for it, or if it takes too long."""
    left, unsent = MOST_SECONDS, [given]
    while True:
        try:
            return process.communicate(unsent.pop() if unsent else None, timeout=_LOOK)
        except subprocess.TimeoutExpired:
            left -= _LOOK
            if left <= 0 or stop.is_set():
                process.kill()


def _problem(code: int, said: bytes) -> ImportProblem:
    last = said.decode("utf-8", "replace").strip().rpartition("\n")[2]
    if code > 0 and not last.startswith("MemoryError"):
        return ImportProblem(f"Reading the file failed: {last[:300]}.", "Please report this with the file.")
    message = f"Reading the file took more than {SECONDS} s, or more memory than it may."
    return ImportProblem(message, "Split the workflow in the program it comes from.")


def _limited() -> None:
    """Less time and memory, where the system has such limits."""
    with suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main() -> None:
    """Reads what standard input names; the answer goes to standard output."""
    _limited()
    path, kind, choice = pickle.load(sys.stdin.buffer)
    answer: Imported | ImportProblem
    try:
        answer = opened(read(path, kind, choice=choice), path.name)
    except ImportProblem as problem:
        answer = problem
    with os.fdopen(os.dup(1), "wb") as out:
        pickle.dump(answer, out)


if __name__ == "__main__":
    main()
