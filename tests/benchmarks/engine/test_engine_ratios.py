"""A quick part of the benchmark: the engine beside Agent Framework on the same work, in the same seconds."""

from __future__ import annotations

import statistics
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.engine.measure import once

pytestmark = pytest.mark.benchmark


def ratio(scenario: str, params: dict[str, Any], key: str) -> float:
    """Product to peer, medians of three interleaved measurements."""
    values: dict[str, list[float]] = {"product": [], "maf": []}
    for _ in range(3):
        for adapter, found in values.items():
            result = once(adapter, scenario, params, Path(sys.executable))
            assert result is not None, adapter
            found.append(result["elapsed"] / result[key])
    return statistics.median(values["product"]) / statistics.median(values["maf"])


def test_a_superstep_costs_a_fraction() -> None:
    assert ratio("ring", {"steps": 300, "nodes": 5, "store": "none"}, "steps") < 0.3


def test_a_durable_superstep_costs_a_fraction() -> None:
    assert ratio("ring", {"steps": 150, "nodes": 5, "store": "disk"}, "steps") < 0.4


def test_a_message_of_a_wide_fan_costs_a_fraction() -> None:
    assert ratio("fan", {"n": 300}, "messages") < 0.5


def test_a_conversation_costs_bytes_in_proportion() -> None:
    sizes = []
    for steps in (100, 400):
        params = {"agents": 5, "steps": steps, "size": 500, "store": "disk", "budget": 20}
        result = once("product", "conv_fn", params, Path(sys.executable))
        assert result is not None
        sizes.append(result["bytes"])
    assert sizes[1] / sizes[0] <= 4.2
    assert sizes[1] <= 1.45 * 400 * 500
