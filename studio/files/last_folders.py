"""Which folder each workflow was last exported to."""

from __future__ import annotations

import json
from pathlib import Path

from studio.files.atomic import write_bytes
from studio.files.problems import FileProblem

_MOST = 200


def last_folder(state: Path, workflow: str) -> Path | None:
    """The folder that the workflow with this id was last exported to, if it is still there."""
    folder = _read(state).get(workflow)
    return Path(folder) if folder and Path(folder).is_dir() else None


def keep_last_folder(state: Path, workflow: str, folder: Path) -> None:
    """Remembers it, for the last 200 workflows. Raises :class:`studio.files.FileProblem`."""
    found = _read(state)
    found.pop(workflow, None)
    found[workflow] = str(folder.absolute())
    kept = dict(list(found.items())[-_MOST:])
    try:
        _file(state).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblem(f"{_file(state).parent} cannot be made: {error.strerror}.") from error
    write_bytes(_file(state), json.dumps(kept, ensure_ascii=False).encode())


def _read(state: Path) -> dict[str, str]:
    try:
        found = json.loads(_file(state).read_text(encoding="utf-8"))
        return {str(key): str(value) for key, value in found.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _file(state: Path) -> Path:
    return state / "exports" / "folders.json"
