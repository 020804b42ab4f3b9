"""A large workflow on the canvas of the real window: opening, painting, zooming, moving, beside a plain canvas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.benchmarks.canvas_file import write_large
from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

NODES = 1000
OPEN_GOAL = 1000.0
"""File to first paint, in milliseconds."""


def figures(where: Place, nodes: int = NODES) -> Iterator[Figure]:
    """The same steps on both canvases, in windows of the same size."""
    file = where.home / "large.workflow.json"
    edges = write_large(file, nodes)
    found = measured(where, "canvas_child", str(file))
    width, height = found["size"]
    floor: dict[str, Any] = measured(where, "canvas_floor", str(file), width, height)
    more = {"nodes": nodes, "edges": edges, "peer_name": "plain QGraphicsView", "platform": where.platform}
    for name, value in found["steps"].items():
        goal = OPEN_GOAL if name == "open" else None
        yield Figure(f"canvas.{name}", value, floor["steps"].get(name), goal=goal, more=more)
