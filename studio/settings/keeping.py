"""Small settings files: written whole and atomically; a file that cannot be read is set aside, never an obstacle."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

_Value = TypeVar("_Value")


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
