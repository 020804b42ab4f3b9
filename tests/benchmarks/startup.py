"""Time from the start of the process to a window that is painted and takes input."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from statistics import median
from typing import Any

from tests.benchmarks.children import ROOT, Place, measured
from tests.benchmarks.figures import Figure

GOAL = 2000.0
"""A second start, in milliseconds."""
LATE = ("openai", "httpx2", "mcp", "keyring", "networkx", "pygments")
"""Packages that no window needs before it is shown."""
_TEMPLATE = ROOT / "resources" / "templates" / "research-brief.workflow.json"


def figures(where: Place, times: int = 5, first: int = 1) -> Iterator[Figure]:
    """Starts of the program, empty and with a workflow, each beside one of a bare window; ``first`` are not counted."""
    starts: dict[str, list[dict[str, Any]]] = {"startup.empty": [], "startup.workflow": []}
    floors: list[dict[str, Any]] = []
    workflow = where.home / "brief.workflow.json"
    workflow.write_bytes(_TEMPLATE.read_bytes())
    for turn in range(first + times):
        measurements = (
            measured(where, "startup_floor"),
            measured(where, "startup_child"),
            measured(where, "startup_child", str(workflow)),
        )
        if turn >= first:
            for kept, values in zip((floors, *starts.values()), measurements, strict=True):
                kept.append(values)
    floor = median(values["interactive"] for values in floors)
    for name, found in starts.items():
        product = median(values["interactive"] for values in found)
        more = {"peer_name": "bare QMainWindow", "platform": where.platform, "after_main": _middle(found, "imported")}
        yield Figure(name, product, floor, goal=GOAL, more=more)
    for name, found in starts.items():
        yield _modules(f"{name}.modules", found[-1]["modules"], floors[-1]["modules"])


def too_early(modules: Sequence[str]) -> list[str]:
    """Which of :data:`LATE` are among loaded modules."""
    return [name for name in LATE if name in modules]


def _modules(name: str, product: Sequence[str], floor: Sequence[str]) -> Figure:
    """How many modules are loaded before the window is shown, by package."""
    counts: dict[str, int] = {}
    for module in set(product) - set(floor):
        package = module.partition(".")[0]
        counts[package] = counts.get(package, 0) + 1
    shown = dict(sorted(counts.items(), key=lambda item: -item[1])[:12])
    more = {"too_early": too_early(product), "most": shown}
    return Figure(name, len(product), len(floor), unit="modules", more=more)


def _middle(found: Sequence[dict[str, Any]], key: str) -> float:
    return round(float(median(values[key] for values in found)), 1)
