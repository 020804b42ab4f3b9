"""Eight agents stream side by side in the real window: how late tokens are painted, how long the loop stands still."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

AGENTS, RATE, SECONDS = 8, 200, 5
FIRST_TOKEN_GOAL = 100.0
STALL_GOAL = 16.0
"""Of the 99th percentile, in milliseconds."""


def figures(where: Place, seconds: int = SECONDS) -> Iterator[Figure]:
    """The latency of first and of all tokens, and the time between two beats of a 5 ms timer; the floor is a window
    whose loop has nothing else to do."""
    measured(where, "stream_child", 2, RATE, 1)  # leaves byte code behind
    floor = measured(where, "stream_floor", seconds)
    found = measured(where, "stream_child", AGENTS, RATE, seconds)
    load = {key: found[key] for key in ("lanes_seen", "tokens", "rate")} | {"platform": where.platform}
    painted: Mapping[str, float] = floor["paint"]
    yield Figure("stream.first_token", max(found["first"]), painted["max"], goal=FIRST_TOKEN_GOAL, more=load)
    yield Figure("stream.token.median", found["late"]["median"], painted["median"])
    yield Figure("stream.token.p99", found["late"]["p99"], painted["p99"])
    for part in ("median", "p99", "max"):
        goal = STALL_GOAL if part == "p99" else None
        yield _stall(f"stream.stall.{part}", found["beats"], floor["beats"], part, goal)
    yield Figure("stream.busy", found["busy"], None, unit="CPU s per s", more={"note": "model, client and window"})
    for phase in ("start", "end", "warm_up"):
        yield _stall(f"stream.{phase}.max", found[phase], floor["beats"], "max", None)


def _stall(name: str, product: Mapping[str, Any], peer: Mapping[str, Any], part: str, goal: float | None) -> Figure:
    more = {"beats": product["count"], "over_16": product["over_16"], "peer_name": "no-op timer in a bare window"}
    return Figure(name, product[part], peer[part], goal=goal, more=more)
