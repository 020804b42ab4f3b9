"""A quick part of the benchmark: the engine beside Agent Framework on the same work, in one process each."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.engine.measure import once

pytestmark = pytest.mark.benchmark

RUNS: dict[str, tuple[str, dict[str, Any], str, float]] = {
    "a superstep": ("ring", {"steps": 200, "nodes": 5, "store": "none"}, "steps", 0.3),
    "a durable superstep": ("ring", {"steps": 100, "nodes": 5, "store": "disk"}, "steps", 0.4),
    "a message of a wide fan": ("fan", {"n": 200}, "messages", 0.5),
    "a token": ("stream", {"n": 1000, "paced": False}, "tokens", 0.4),
}
"""Scenario, its parameters, what it counts, and the part of the peer's time that it may take: four times what is
measured on a quiet machine, or more."""


def best(adapter: str) -> Mapping[str, float]:
    """Seconds per item: the best of three rounds, since a busy machine only ever makes a round slower."""
    runs = [[scenario, params] for scenario, params, _, _ in RUNS.values()]
    result = once(adapter, "several", {"rounds": 3, "runs": runs}, Path(sys.executable))
    assert result is not None, adapter
    pairs = zip(RUNS.items(), result["results"], strict=True)
    return {name: min(r["elapsed"] / r[key] for r in found) for (name, (_, _, key, _)), found in pairs}


def test_work_costs_a_fraction_of_what_it_costs_the_peer() -> None:
    product, peer = best("product"), best("maf")
    ratios = {name: product[name] / peer[name] for name in RUNS}
    print({name: round(ratio, 3) for name, ratio in ratios.items()})
    assert [name for name, (*_, limit) in RUNS.items() if ratios[name] >= limit] == []


def test_a_conversation_costs_bytes_in_proportion() -> None:
    common = {"agents": 5, "size": 500, "store": "disk", "budget": 20}
    runs = [["conv_fn", {**common, "steps": steps}] for steps in (100, 400)]
    result = once("product", "several", {"rounds": 1, "runs": runs}, Path(sys.executable))
    assert result is not None
    short, long = (found[0]["bytes"] for found in result["results"])
    assert long / short <= 4.2
    assert long <= 1.45 * 400 * 500
