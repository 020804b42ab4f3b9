"""Writing an exported project into a folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path, PurePosixPath, PureWindowsPath

from studio.files.atomic import write_bytes
from studio.files.problems import FileProblem


def write_project(files: Mapping[str, str], folder: Path) -> tuple[Path, ...]:
    """Writes texts under their relative paths (with ``/``), each file whole or not at all; returns the paths.

    All paths are checked before anything is written: one that would leave the folder, by ``..``, from the root or
    through a link, is a :class:`FileProblem`. Other files in the folder stay.
    """
    folder = Path(folder)
    targets = {_target(folder, name): text for name, text in files.items()}
    try:
        for target in targets:
            target.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        message = f"The folder {folder.name} cannot be written: {reason}."
        raise FileProblem(message, "Choose another folder.") from error
    for target, text in targets.items():
        write_bytes(target, text.encode("utf-8"))
    return tuple(targets)


def _target(folder: Path, name: str) -> Path:
    parts = PurePosixPath(name).parts
    unusual = "\\" in name or "\0" in name or PureWindowsPath(name).drive or PurePosixPath(name).is_absolute()
    target = folder.joinpath(*parts)
    root = os.path.realpath(folder)
    inside = os.path.commonpath([root, os.path.realpath(target)]) == root if not unusual else False
    if not parts or ".." in parts or not inside or os.path.realpath(target) == root:
        raise FileProblem(f"The export has a file outside of its folder: {name[:80]!r}.", "Nothing was written.")
    return target
