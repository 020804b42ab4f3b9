"""Saves one file again and again, each time another whole document: ``python -m tests.crash.save_victim [POINT]``.

With a point it kills itself at that moment of its third save: ``half`` of the content written, before ``fsync``, before
``replace``, after it.
"""

from __future__ import annotations

import io
import os
import signal
import sys
from pathlib import Path
from typing import Any

from studio.document.model import AgentNode, Place, Workflow
from studio.files import atomic, write_workflow

from tests.crash.victims import say

FILE = "saved.workflow.json"
POINTS = ("half", "fsync", "replace", "replaced")
_NODES = 150


def document(number: int) -> Workflow:
    """A document whose every part carries the number."""
    nodes = tuple(AgentNode(id=f"a{i}", name=f"A{i}", instructions=f"Save {number}.") for i in range(_NODES))
    places = {node.id: Place(x=number, y=i) for i, node in enumerate(nodes)}
    return Workflow(id="saved", name=f"Saved {number}", nodes=nodes, places=places)


def number_of(workflow: Workflow) -> int:
    """Which save this is. Raises AssertionError for a mixture."""
    number = int(workflow.name.removeprefix("Saved "))
    assert workflow == document(number)
    return number


def _die(*_arguments: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class _HalfFile(io.FileIO):
    """Takes half of what it is given, then its program is gone."""

    def write(self, content: Any) -> int:
        super().write(bytes(content)[: len(content) // 2])
        _die()
        return 0


def _arm(point: str) -> None:
    """The next save of the file, not of the version that is kept beside it, ends at this point."""
    sync, replace = os.fsync, os.replace
    written: list[str] = []

    def opened(path: Path, mode: str) -> Any:
        written.append(path.name)
        return _HalfFile(path, "w") if point == "half" and FILE in path.name else open(path, mode)

    def synced(handle: int) -> None:
        _die() if point == "fsync" and FILE in written[-1] else sync(handle)

    def replaced(source: Path, target: Path) -> None:
        if point == "replace" and target.name == FILE:
            _die()
        replace(source, target)
        if point == "replaced" and target.name == FILE:
            _die()

    vars(atomic)["open"] = opened
    os.fsync, os.replace = synced, replaced  # type: ignore[assignment]


def _main(point: str) -> None:
    path = Path(FILE).absolute()
    number = 0
    write_workflow(document(number), path)
    say(begin=True)
    while True:
        number += 1
        if point and number == 3:
            _arm(point)
        say(saving=number)
        write_workflow(document(number), path)
        say(saved=number)


if __name__ == "__main__":
    _main(sys.argv[1] if len(sys.argv) > 1 else "")
