"""Sixteen streams in the run panel of the real window: stalls of the loop, memory, and how soon a keystroke is seen."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

AGENTS, RATE, SECONDS = 16, 200, 60
STALL_GOAL, MEMORY_GOAL, KEY_GOAL = 16.0, 150.0, 50.0
"""Milliseconds, megabytes, milliseconds."""


def figures(where: Place, agents: int = AGENTS, seconds: int = SECONDS) -> Iterator[Figure]:
    """The floor is a window whose loop has nothing else to do."""
    measured(where, "run_panel_child", 2, RATE, 1)  # leaves byte code behind
    floor = measured(where, "stream_floor", min(seconds, 5))
    found = measured(where, "run_panel_child", agents, RATE, seconds, seconds=120 + 3 * seconds)
    load = {key: found[key] for key in ("tokens", "lanes_seen")} | {"platform": where.platform}
    beats = found["beats"]
    for part in ("median", "p99", "max", "own_p99", "own_max"):
        goal = STALL_GOAL if part in ("p99", "own_p99") else None
        more = load | {"beats": beats["count"], "over_16": beats["over_16"]}
        yield Figure(f"run_panel.stall.{part}", beats[part], floor["beats"][part], goal=goal, more=more)
    yield Figure("run_panel.memory", found["grown"], None, unit="MB", goal=MEMORY_GOAL, more=load)
    keys = found["keys"]
    yield Figure("run_panel.key.p99", keys["p99"], floor["paint"]["p99"], goal=KEY_GOAL, more={"keys": keys["count"]})
    yield Figure("run_panel.key.max", keys["max"], floor["paint"]["max"])
    yield Figure("run_panel.key.own_p99", keys["own_p99"], None, goal=KEY_GOAL)
