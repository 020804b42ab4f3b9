"""Random graphs on our engine and on the installed framework: the same outputs, events, model calls and state."""

from __future__ import annotations

import json
import os
import random
import time
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from studio.engine.workflow import Order

from tests.conformance.adapter import CaseRun
from tests.conformance.random_cases import cases, pairs, sees_order

pytestmark = [pytest.mark.filterwarnings("ignore")]
CI, LONG = 450, 20_000
"""Graphs; of the CI's a few are not comparable, at least 300 always are."""

Form = Mapping[str, Any]


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _runs(superstep: Form) -> list[str]:
    """Invocations with all their events, in no order: what happens at the same time has none."""
    runs: dict[str, list[list[Any]]] = {}
    loose: list[Any] = []
    for event in superstep["events"]:
        event = {k: v for k, v in event.items() if k not in ("request", "error")}
        executor = event.get("executor")
        if executor is None:
            loose.append([event])
            continue
        found = runs.setdefault(executor, [])
        if event["type"] == "executor_invoked" or not found:
            found.append([])
        found[-1].append(event)
    return sorted(map(_key, [run for every in runs.values() for run in every] + loose))


def _failed_inside(step: Form) -> bool:
    supersteps = step["trace"]["supersteps"]
    return bool(supersteps) and not supersteps[-1]["completed"]


def comparable(step: Form) -> dict[str, Any]:
    """A step so that only differences that matter remain. A superstep that failed is left out: which of the other
    nodes came to an end in it is a matter of time."""
    supersteps = step["trace"]["supersteps"]
    failed = _failed_inside(step)
    if failed:
        supersteps = supersteps[:-1]
    error = step.get("error")
    shown = {
        "before": [{k: v for k, v in e.items() if k != "error"} for e in step["trace"]["before"]],
        "supersteps": [[s["superstep"], s["completed"], _runs(s)] for s in supersteps],
        "after": [{k: v for k, v in e.items() if k != "error"} for e in step["trace"]["after"]],
        "error": None if error is None else [error["family"], error.get("message")],
        "final_state": step["final_state"],
        "shared_state": _key(step["shared_state"]),
    }
    if not failed:
        done = {call["superstep"] for call in step["model_calls"]}
        shown |= {
            "outputs": sorted(map(_key, step["outputs"])),
            "intermediate": sorted(map(_key, step.get("intermediate_outputs", []))),
            "model_calls": sorted(map(_key, step["model_calls"])) if done else [],
            "undelivered": sorted(_key({**m, "answers": ""}) for m in step.get("undelivered", [])),
            "pending": len(step["pending_requests"]),
        }
    return shown


def is_concurrent(result: Form) -> bool:
    """Whether any superstep had more than one invocation."""
    return any(
        sum(e["type"] == "executor_invoked" for e in s["events"]) > 1
        for step in result["steps"]
        for s in step["trace"]["supersteps"]
    )


def differences(theirs: Form, ours: Form, *, nested: bool = False) -> list[str]:
    """What is not the same, step by step.

    After a failed superstep with several nodes (also of a nested workflow) it is a matter of time which of the others
    had sent something, and with it whether the instance refuses another run: steps after it are not compared.
    """
    if "build_error" in theirs or "build_error" in ours:
        families = [r.get("build_error", {}).get("family") for r in (theirs, ours)]
        return [] if families[0] == families[1] else [f"build: {theirs.get('build_error')} | {ours.get('build_error')}"]
    found = []
    for at, (a, b) in enumerate(zip(theirs["steps"], ours["steps"], strict=True)):
        one, other = comparable(a), comparable(b)
        found += [
            f"step {at}, {part}: theirs {_key(one.get(part))[:700]}\n          ours {_key(other.get(part))[:700]}"
            for part in sorted({*one, *other})
            if one.get(part) != other.get(part)
        ]
        if _failed_inside(a) and (nested or is_concurrent(theirs)):
            break
    return found


def forks_inside(graph: Form) -> bool:
    """Whether a nested workflow may run several nodes at once: the framework gives its outputs on as they arrive."""
    for node in graph["nodes"]:
        if node["kind"] == "workflow":
            edges = node["graph"]["edges"]
            sources = Counter(source for edge in edges for source in {pair[0] for pair in pairs(edge)})
            if any(edge["kind"] == "fan_out" for edge in edges) or any(count > 1 for count in sources.values()):
                return True
    return False


class Tally(Counter[str]):
    """How many graphs were the same, and how many cannot be compared because order within a superstep shows."""


async def compared(case: Form, tally: Tally) -> list[str]:
    """Runs the case on both and compares; our both orders are tried where the order may show."""
    from tests.conformance.framework import FrameworkRun

    theirs = await FrameworkRun(case).run()
    orders: tuple[Order, ...] = ("arrival", "delivery")
    problems: list[str] = []
    for order in orders:
        ours = await CaseRun(case, None, order).run()  # type: ignore[arg-type]
        nested = any(node["kind"] == "workflow" for node in case["graph"]["nodes"])
        problems = differences(theirs, ours, nested=nested)
        if not problems:
            tally["refused" if "build_error" in theirs else "same"] += 1
            return []
        if "build_error" in theirs or "build_error" in ours:
            return problems
    # Several nodes at once are not enough: something must also see the order in which they came to an end.
    at_once = is_concurrent(theirs) or forks_inside(case["graph"])
    if at_once and sees_order(case["graph"]):
        tally["order shows"] += 1
        return []
    return problems


def test_two_writers_of_one_key_of_shared_state_show_the_order_and_one_does_not() -> None:
    def writer(id: str, key: str) -> Form:
        writes = {"accepts": "str", "do": [{"op": "set_state", "key": key}, {"op": "send"}]}
        return {"id": id, "kind": "function", "handlers": [writes]}

    edges: list[Form] = [{"kind": "direct", "from": "a", "to": "b"}]
    assert sees_order({"nodes": [writer("a", "k"), writer("b", "k")], "edges": edges})
    assert not sees_order({"nodes": [writer("a", "k"), writer("b", "l")], "edges": edges})


@pytest.mark.parametrize("count", [CI, pytest.param(LONG, marks=pytest.mark.long)])
def test_random_graphs(count: int, capsys: pytest.CaptureFixture[str]) -> None:
    import asyncio

    number = int(os.environ.get("DIFFERENTIAL_SEED", random.randrange(2**32)))
    tally, started = Tally(), time.perf_counter()
    with asyncio.Runner() as runner:

        @seed(number)
        @settings(
            max_examples=count,
            deadline=None,
            database=None,
            derandomize=False,
            suppress_health_check=list(HealthCheck),
            phases=(Phase.generate, Phase.shrink),
            print_blob=False,
        )
        @given(cases())
        def run(case: dict[str, Any]) -> None:
            problems = runner.run(compared(case, tally))
            assert not problems, "\n".join([f"seed {number}", json.dumps(case), *problems])
            if not tally.total() % 1000:
                with capsys.disabled():
                    print(f"seed {number}: {dict(tally)}", flush=True)

        run()
    with capsys.disabled():
        seconds = time.perf_counter() - started
        print(f"\ndifferential: seed {number}, {dict(tally)} in {seconds:.0f} s")
    assert tally["same"] + tally["refused"] >= count * 3 // 4
