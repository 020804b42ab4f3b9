"""The timeline with 5,000 checkpoints in 200 branches: opening, scrolling, searching, rules, comparing, compacting."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

CHECKPOINTS, BRANCHES = 5000, 200
TURNS = 50
GOALS = {"open": 300.0, "open_held": 8.0, "scroll_p95": 16.7}
"""Milliseconds: from the file to painted rows; the longest piece of work on the loop meanwhile; a frame of a scroll."""
CHAT_GOALS = {"factor": 1.3, "held": 8.0}
"""Bytes of the file per byte that was said; milliseconds of work on the loop in one piece."""


def figures(where: Place, checkpoints: int = CHECKPOINTS, branches: int = BRANCHES) -> Iterator[Figure]:
    """The window's model and panel on a file of that size; the peer of *open* is reading the rows with plain SQL."""
    found = measured(where, "timeline_child", checkpoints, branches, seconds=300)
    more = {"checkpoints": checkpoints, "branches": branches, "platform": where.platform}
    for name, value in found["steps"].items():
        peer = found["floor"].get(name)
        yield Figure(f"timeline.{name}", value, peer, goal=GOALS.get(name), more=more)
    yield Figure("timeline.file", found["bytes"] / 1000, None, "kB", more=more)
    yield Figure("timeline.file_after", found["bytes_after"] / 1000, None, "kB", more=more)
    chat = measured(where, "timeline_chat", TURNS)
    for name, value in chat.items():
        unit = "x payload" if name == "factor" else "ms"
        yield Figure(f"timeline.chat_{name}", value, None, unit, goal=CHAT_GOALS.get(name), more={"turns": TURNS})
