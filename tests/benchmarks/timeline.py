"""The timeline with 5,000 checkpoints in 200 branches: opening, scrolling, searching, rules, comparing, compacting; and
the chart of a run with 20,000 events and 5,000 invocations."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

CHECKPOINTS, BRANCHES = 5000, 200
TURNS = 50
EVENTS, INVOCATIONS = 20_000, 5000
GOALS = {"open": 300.0, "open_held": 8.0, "scroll_p95": 16.7}
"""Milliseconds: from the file to painted rows; the longest piece of work on the loop meanwhile; a frame of a scroll."""
CHAT_GOALS = {"factor": 1.3, "held": 8.0}
"""Bytes of the file per byte that was said; milliseconds of work on the loop in one piece."""
CHART_OPEN, CHART_STALL = 1000.0, 16.0
"""Milliseconds: from the file to painted bars; the longest piece of work of anything that a person does there."""


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
    yield from _chart(where)


def _chart(where: Place) -> Iterator[Figure]:
    """The peer of *open* is the processor time in it: the rest is waiting for the disk and for other processes."""
    found = measured(where, "invocations_child", EVENTS, INVOCATIONS, seconds=300)
    steps, more = found["steps"], {"events": found["events"], "invocations": INVOCATIONS}
    yield Figure("timeline.chart_open", steps.pop("open"), steps.pop("open_cpu"), goal=CHART_OPEN, more=more)
    for name, value in steps.items():
        yield Figure(f"timeline.chart_{name}", value, None, goal=CHART_STALL, more=more)
