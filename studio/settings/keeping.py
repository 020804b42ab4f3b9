"""Small settings files: written whole and atomically; a file that cannot be read is set aside, never an obstacle.

Each window is a process of its own and all write the same files: who changes a file reads and writes it in one turn
(:func:`alone`), and changes only what it means to change (:func:`merged`).
"""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

_TURN_S = 2.0
"""A turn takes milliseconds. Whoever has it longer hangs, and keeps nobody from ending its own window."""


@contextlib.contextmanager
def alone(path: Path) -> Iterator[None]:
    """Holds others off a file from reading it to writing what was made of it; the system ends the turn of a process
    that dies. Without a turn in :data:`_TURN_S` seconds, or where nothing can be locked, it goes on as it is."""
    handle = -1
    with contextlib.suppress(OSError):  # a folder that takes nothing is told by what is to be written there
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _TURN_S
        while handle >= 0 and not _locked(handle) and time.monotonic() < end:
            time.sleep(0.002)
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _locked(handle: int) -> bool:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def merged(
    before: Mapping[_Key, _Value], mine: Mapping[_Key, _Value], stored: Mapping[_Key, _Value]
) -> dict[_Key, _Value]:
    """What is to be stored of a table that others change too: of entries that ``mine`` changed since ``before`` mine
    (none, where it took one away), of all others what is stored."""
    nothing = object()
    changed = {key for key in {**before, **mine} if before.get(key, nothing) != mine.get(key, nothing)}
    kept = {key: value for key, value in stored.items() if key not in changed or key in mine}
    return kept | {key: value for key, value in mine.items() if key in changed}


def read(path: Path, parse: Callable[[str], _Value], default: _Value) -> tuple[_Value, str]:
    """What ``parse`` makes of the file, else ``default`` and a sentence that says why.

    A file that exists but cannot be parsed is copied to ``NAME.broken`` first, so that nothing is lost when the
    defaults are written over it.
    """
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        return default, ""
    except OSError as error:
        return default, f"{path.name} cannot be read ({error.strerror}); defaults are used."
    try:
        return parse(raw.decode("utf-8")), ""
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        broken = path.with_name(path.name + ".broken")
        with contextlib.suppress(OSError):
            broken.write_bytes(raw)
            broken.chmod(0o600)
        return default, f"{path.name} is damaged; defaults are used. The damaged file was kept as {broken.name}."


def write(path: Path, text: str) -> None:
    """Replaces the file at once, readable by the user alone. Raises ``OSError``."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
