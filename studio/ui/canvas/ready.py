"""The ready groups of the palette, read from the templates that come with the program."""

from __future__ import annotations

from functools import cache

from studio.document.geometry import size_of_kind
from studio.document.layout import Flow
from studio.document.model import Workflow
from studio.document.ready_groups import PATTERNS, size_with_frame
from studio.document.turning import turned_to


@cache
def ready_group(kind: str, flow: Flow = "right") -> Workflow:
    """The workflow of a pattern, its lines running this way. Raises ``FileProblem`` or ``OSError`` if the installation
    is damaged."""
    from studio.files import read_workflow
    from studio.settings.places import resource

    return turned_to(read_workflow(resource("templates") / f"{kind.replace('_', '-')}.workflow.json"), flow)


def room_for(kind: str, flow: Flow = "right") -> tuple[float, float]:
    """Width and height of something new of a kind, a pattern with its frame, where lines run this way."""
    if kind in PATTERNS:
        return size_with_frame(ready_group(kind, flow))
    return size_of_kind(kind, down=flow == "down")
