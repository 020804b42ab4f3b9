"""The engine beside a bare loop (the floor) and other frameworks: the same work, one process per measurement.

``run([])`` measures everything, ``run(["superstep", "resume"])`` some; one JSON line per figure. Adapters are
interleaved in every round, so that all of one figure was measured in the same minute.
"""

from __future__ import annotations

from collections.abc import Sequence

from tests.benchmarks.engine.measure import figures


def run(names: Sequence[str]) -> int:
    """Prints the figures; 1 if a goal is missed, 2 for a name that does not exist."""
    missed = False
    for figure in figures(list(names)):
        print(figure.line(), flush=True)
        missed |= figure.goal is not None and figure.product > figure.goal
    return int(missed)
