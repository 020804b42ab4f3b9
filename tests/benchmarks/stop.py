"""*Stop* while a model streams and while user code loops: how long until the state is *cancelled*, the server sees the
connection close, the worker is dead and everything is gone."""

from __future__ import annotations

from collections.abc import Iterator

from tests.benchmarks.children import Place, measured
from tests.benchmarks.figures import Figure

GOALS = {"connection": 200.0, "model": 200.0, "worker": 500.0, "all": 1000.0}
"""Milliseconds, of the slowest of all times."""
TIMES = 10


def figures(where: Place, times: int = TIMES) -> Iterator[Figure]:
    """The slowest and the middle time of each; the floors are a bare socket that is closed and a bare child that is
    killed and waited for."""
    found = measured(where, "stop_child", times)
    for name, goal in GOALS.items():
        spent = sorted(found[name])
        more = {"median": round(spent[len(spent) // 2], 1), "times": times}
        yield Figure(f"stop.{name}", spent[-1], max(found["floor"][name]), goal=goal, more=more)
