"""A large workflow on the canvas of the real window, beside a plain canvas and a node editor that others use."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tests.benchmarks.canvas_file import write_large
from tests.benchmarks.children import Place, measured
from tests.benchmarks.engine.environments import interpreter
from tests.benchmarks.figures import Figure

SIZES = (1000, 5000)
STEP_GOAL = 8.0
"""Milliseconds: half a frame."""
GOALS: Mapping[int, Mapping[str, float]] = {
    1000: {"open": 400.0},
    5000: {"open": 1500.0, "undo_delete_all": 60.0},
}
WITHOUT_GOAL = {1000: ("delete_all",), 5000: ("delete_all", "move_all_end")}
PEER = "NodeGraphQt"
_PEER_SECONDS = 1200


def figures(where: Place, sizes: Sequence[int] = SIZES, *, peer: bool = True) -> Iterator[Figure]:
    """The same steps on all of them, in views of the same size: one line for the floor, one for the peer."""
    for nodes in sizes:
        yield from _figures(where, nodes, peer=peer)


def _figures(where: Place, nodes: int, *, peer: bool) -> Iterator[Figure]:
    file = where.home / f"large{nodes}.workflow.json"
    edges = write_large(file, nodes)
    found = measured(where, "canvas_child", str(file), seconds=300)
    width, height = found["size"]
    others = {"plain QGraphicsView": measured(where, "canvas_floor", str(file), width, height)["steps"]}
    if peer:
        others[PEER] = _peer(where, str(file), width, height)
    for name, value in found["steps"].items():
        for other, steps in others.items():
            more: dict[str, Any] = {"nodes": nodes, "edges": edges, "peer_name": other, "platform": where.platform}
            wanted = None if name in WITHOUT_GOAL.get(nodes, ()) else GOALS.get(nodes, {}).get(name, STEP_GOAL)
            goal = wanted if nodes in GOALS and other != PEER else None
            yield Figure(f"canvas.{nodes}.{name}", value, steps.get(name), goal=goal, more=more)


def _peer(where: Place, file: str, width: int, height: int) -> dict[str, float]:
    """What the peer needs; nothing if it cannot be installed or is too slow to be measured."""
    python = interpreter("nodegraphqt")
    if python is None:
        return {}
    try:
        found = measured(where, "canvas_peer", file, width, height, seconds=_PEER_SECONDS, python=python)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.stderr.write(f"{PEER} is missing: {error}\n")
        return {}
    steps: dict[str, float] = found["steps"]
    return steps
