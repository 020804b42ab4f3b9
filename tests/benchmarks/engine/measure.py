"""What is measured, and the medians of it."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.benchmarks.engine.environments import interpreter
from tests.benchmarks.figures import Figure

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
FLOOR = "minimal_task"
"""A bare loop with a task per handler, typed events and a type check: the honest floor of an engine."""

Result = Mapping[str, Any]


def _per(key: str) -> Callable[[Result], float]:
    return lambda r: float(r["elapsed"]) / float(r[key]) * 1e6


def _payload(r: Result) -> float:
    return float(r["bytes"]) / 500 / float(r["steps"])


def _flat(r: Result) -> float:
    """Time per step in the last quarter to that in the second: the first still warms up."""
    curve = [point for point in r["curve"] if point[0] >= 10]
    steps = curve[-1][0]

    def rate(low: float, high: float) -> float:
        inside = [p for p in curve if low * steps <= p[0] <= high * steps]
        return float((inside[-1][2] - inside[0][2]) / (inside[-1][0] - inside[0][0]))

    return rate(0.74, 1.0) / rate(0.24, 0.51)


@dataclass(frozen=True, slots=True)
class Measure:
    """One figure: a scenario of the adapters and what is read from it."""

    name: str
    scenario: str
    params: Mapping[str, Any]
    read: Callable[[Result], float]
    unit: str
    goal: float
    peers: tuple[str, ...] = ()
    floor: str = FLOOR
    rounds: int = 3
    more: Mapping[str, str] = field(default_factory=dict)


def _conversation(scenario: str, agents: int, steps: int) -> dict[str, Any]:
    return {"agents": agents, "steps": steps, "size": 500, "store": "disk", "budget": 45}


_RING = {"steps": 1000, "nodes": 10}
_ALL = ("maf", "langgraph", "burr", "autogen")

MEASURES: tuple[Measure, ...] = (
    Measure("superstep", "ring", {**_RING, "store": "none"}, _per("steps"), "us", 15, _ALL),
    Measure("superstep_durable", "ring", {**_RING, "store": "disk"}, _per("steps"), "us", 40, _ALL),
    Measure("fan_message", "fan", {"n": 1000}, _per("messages"), "us", 6, ("maf", "langgraph")),
    Measure("token_suspending", "stream", {"n": 10_000, "paced": True}, _per("tokens"), "us", 8, ("maf", "langgraph")),
    Measure("token_burst", "stream", {"n": 10_000, "paced": False}, _per("tokens"), "us", 2, ("maf", "langgraph")),
    Measure(
        "conversation_800_size", "conv_fn", _conversation("conv_fn", 50, 800), _payload, "x payload", 1.3,
        ("langgraph_delta",), "minimal", 1,
    ),
    Measure(
        "conversation_3200_size", "conv_fn", _conversation("conv_fn", 50, 3200), _payload, "x payload", 1.3, (),
        "minimal", 1,
    ),
    Measure(
        "agents_800_size", "conv", _conversation("conv", 5, 800), _payload, "x payload", 1.3, ("langgraph_delta",),
        "minimal", 1,
    ),
    Measure("conversation_800_flat", "conv_fn", _conversation("conv_fn", 50, 800), _flat, "x", 1.3, (), "", 3),
    Measure("conversation_3200_flat", "conv_fn", _conversation("conv_fn", 50, 3200), _flat, "x", 1.3, (), "", 3),
    Measure(
        "resume_2000", "resume", {"messages": 2000}, lambda r: r["elapsed"] * 1e3, "ms", 6, ("maf", "burr"), "minimal"
    ),
    Measure("latest_of_5000", "listing", {"count": 5000}, lambda r: r["latest"] * 1e3, "ms", 0.2, (), "minimal"),
    Measure("list_of_5000", "listing", {"count": 5000}, lambda r: r["full"] * 1e3, "ms", 6, (), "minimal"),
    Measure("import_engine", "import", {}, lambda r: r["elapsed"] * 1e3, "ms", 70, ("maf", "burr"), "minimal", 5),
)  # fmt: skip

REFERENCE = {
    "superstep": 161.0,
    "superstep_durable": 1076.0,
    "fan_message": 50.0,
    "token_suspending": 66.0,
    "token_burst": 52.0,
    "resume_2000": 154.0,
    "import_engine": 143.0,
}
"""What Agent Framework needed where the goals were set: a goal is a ratio to it, whatever this machine does."""


def once(adapter: str, scenario: str, params: Mapping[str, Any], python: Path, seconds: float = 120) -> Result | None:
    """One process; None if the adapter cannot do it."""
    if scenario == "import":
        return _imported(adapter, python)
    environment = {**os.environ, "PYTHONHASHSEED": "0", "LANGSMITH_TRACING": "false", "PYTHONPATH": str(ROOT)}
    command = [str(python), str(HERE / "worker.py"), adapter, scenario, json.dumps(params)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, env=environment, check=False)
    except subprocess.TimeoutExpired:
        return None
    lines = [line for line in done.stdout.splitlines() if line.startswith("RESULT ")]
    result: Result = json.loads(lines[-1][7:]) if lines else {"ok": False}
    return result if result["ok"] else None


_IMPORTS = {
    "product": "import studio.engine",
    "minimal": "import asyncio, sqlite3",
    "maf": "import agent_framework; from agent_framework import WorkflowBuilder, Agent",
    "burr": "from burr.core import ApplicationBuilder, action",
}


def _imported(adapter: str, python: Path) -> Result | None:
    code = f"import time; t = time.perf_counter()\n{_IMPORTS[adapter]}\nprint(time.perf_counter() - t)"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([str(python), "-c", code], capture_output=True, text=True, env=environment, check=False)
    return None if done.returncode else {"elapsed": float(done.stdout.split()[-1])}


def figures(names: Sequence[str]) -> Iterator[Figure]:
    """The figures of these names, all for none. Raises KeyError for an unknown name."""
    unknown = set(names) - {m.name for m in MEASURES}
    if unknown:
        raise KeyError(f"There is no figure {', '.join(sorted(unknown))}")
    for measure in MEASURES:
        if not names or measure.name in names:
            yield _figure(measure)


def _figure(measure: Measure) -> Figure:
    adapters = ["product", *([measure.floor] if measure.floor else []), *measure.peers]
    pythons = {adapter: interpreter(adapter) for adapter in adapters}
    values: dict[str, list[float]] = {adapter: [] for adapter in adapters}
    for turn in range(measure.rounds):
        for adapter in adapters[turn % len(adapters) :] + adapters[: turn % len(adapters)]:
            python = pythons[adapter]
            result = None if python is None else once(adapter, measure.scenario, measure.params, python)
            if result is not None:
                values[adapter].append(measure.read(result))
    median = {adapter: statistics.median(found) for adapter, found in values.items() if found}
    if "product" not in median:
        raise RuntimeError(f"The product could not be measured: {measure.name}")
    peers = {peer: median[peer] for peer in measure.peers if peer in median}
    best = min(peers.values(), default=None)
    more: dict[str, object] = {"peers": {peer: round(value, 3) for peer, value in peers.items()}}
    reference = REFERENCE.get(measure.name)
    if reference is not None and "maf" in peers:
        ratio, wanted = median["product"] / peers["maf"], measure.goal / reference
        more["as_ratio"] = {"to_maf": round(ratio, 3), "goal": round(wanted, 3), "met": ratio <= wanted}
    if measure.floor in median:
        floor = median[measure.floor]
        more |= {"floor": round(floor, 3), "to_floor": round(median["product"] / floor, 2)}
    missing = [adapter for adapter in adapters if adapter not in median]
    if missing:
        more["missing"] = missing
    return Figure(measure.name, median["product"], best, measure.unit, measure.goal, more)
