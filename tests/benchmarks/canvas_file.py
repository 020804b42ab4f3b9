"""A large workflow: a grid of agents with about one and a half edges each."""

from __future__ import annotations

import math
from pathlib import Path

from studio.document.model import AgentNode, DirectEdge, Place, Workflow
from studio.files import write_workflow

STEP_X, STEP_Y = 280, 140


def write_large(file: Path, count: int) -> int:
    """Writes it; returns the number of edges."""
    columns = max(1, math.ceil(math.sqrt(count)))
    names = [f"node_{i}" for i in range(count)]
    pairs = [(i, i + 1) for i in range(count - 1) if (i + 1) % columns]
    pairs += [(i, i + columns) for i in range(0, count - columns, 2)]
    workflow = Workflow(
        id="bench-canvas",
        name="Large",
        start=names[0],
        nodes=tuple(AgentNode(id=n, name=f"Agent {i}", instructions=f"Do part {i}.") for i, n in enumerate(names)),
        edges=tuple(DirectEdge(id=f"e{a}_{b}", source=names[a], target=names[b]) for a, b in pairs),
        places={n: Place(x=STEP_X * (i % columns), y=STEP_Y * (i // columns)) for i, n in enumerate(names)},
    )
    write_workflow(workflow, file)
    return len(pairs)
