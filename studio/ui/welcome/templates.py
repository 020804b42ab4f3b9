"""The workflow templates that come with the program."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from studio.document.model import Workflow
from studio.settings.places import data_dir, resource

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Template:
    """A workflow file to start from; ``own``: the user put it into the templates folder."""

    file: Path
    workflow: Workflow
    own: bool = False


def templates() -> list[Template]:
    """All templates, the program's own first; a file that cannot be read is left out."""
    own = data_dir() / "templates"
    files = [(f, False) for f in sorted(resource("templates").glob("*.workflow.json"))]
    files += [(f, True) for f in sorted(own.glob("*.workflow.json"))]
    found = []
    for file, mine in files:
        workflow = _read(file, file.stat().st_mtime_ns)
        if workflow is not None:
            found.append(Template(file, workflow, mine))
    return found


@cache
def _read(file: Path, _changed: int) -> Workflow | None:
    from studio.files import FileProblem, read_workflow

    try:
        return read_workflow(file)
    except (FileProblem, OSError) as problem:
        _log.warning("The template %s cannot be read: %s", file.name, problem)
        return None
