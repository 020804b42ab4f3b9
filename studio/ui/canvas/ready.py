"""The ready groups of the palette, read from the templates that come with the program."""

from __future__ import annotations

from functools import cache

from studio.document.model import Workflow
from studio.document.ready_groups import PATTERNS, size_with_frame


@cache
def ready_group(kind: str) -> Workflow:
    """The workflow of a pattern. Raises ``FileProblem`` or ``OSError`` if the installation is damaged."""
    from studio.files import read_workflow
    from studio.settings.places import resource

    return read_workflow(resource("templates") / f"{kind.replace('_', '-')}.workflow.json")


def room_for(kind: str) -> tuple[float, float] | None:
    """Width and height of a pattern with its frame; None for anything else."""
    return size_with_frame(ready_group(kind)) if kind in PATTERNS else None
