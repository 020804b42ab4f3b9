"""The workflow templates that come with the program."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from studio.document.model import SubWorkflowNode, Workflow
from studio.settings.places import data_dir, resource

_log = logging.getLogger(__name__)


Shelf = Literal["patterns", "complete", "yours"]

_PATTERNS = ("sequential", "concurrent", "handoff", "group-chat")
_ORDER = (
    *("research-brief", *_PATTERNS, "approval-gate", "support-triage", "write-and-critique"),
    *("extract-and-file", "interview", "fact-check"),
)
"""The order on the page; another follows by name."""


@dataclass(frozen=True, slots=True)
class Template:
    """A workflow file to start from; ``own``: the user put it into the templates folder."""

    file: Path
    workflow: Workflow
    own: bool = False

    @property
    def shelf(self) -> Shelf:
        """Where the welcome page puts it."""
        return "yours" if self.own else "patterns" if _stem(self.file) in _PATTERNS else "complete"

    @property
    def nested(self) -> bool:
        """Whether a workflow is inside it."""
        return any(isinstance(node, SubWorkflowNode) for node in self.workflow.nodes)


def _stem(file: Path) -> str:
    return file.name.partition(".")[0]


def _rank(file: Path) -> tuple[int, str]:
    stem = _stem(file)
    return (_ORDER.index(stem) if stem in _ORDER else len(_ORDER), stem)


def templates() -> Iterator[Template]:
    """All templates, the program's own first, each read when it is asked for; one that cannot be read is left out."""
    own = data_dir() / "templates"
    files = [(f, False) for f in sorted(resource("templates").glob("*.workflow.json"), key=_rank)]
    files += [(f, True) for f in sorted(own.glob("*.workflow.json"))]
    for file, mine in files:
        workflow = _read(file, file.stat().st_mtime_ns)
        if workflow is not None:
            yield Template(file, workflow, mine)


@cache
def _read(file: Path, _changed: int) -> Workflow | None:
    from studio.files import FileProblem, read_workflow

    try:
        return read_workflow(file)
    except (FileProblem, OSError) as problem:
        _log.warning("The template %s cannot be read: %s", file.name, problem)
        return None
