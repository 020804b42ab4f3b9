"""Edge groups as data, and the signature of a graph."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from studio.engine.executor import Executor

Condition = Callable[[Any], "bool | Awaitable[bool]"]
Selection = Callable[[Any, list[str]], "Sequence[str] | Awaitable[Sequence[str]]"]


@dataclass(frozen=True, slots=True)
class DirectEdge:
    """One edge. ``name`` is the name of the condition, part of the graph signature."""

    id: str
    source: str
    target: str
    condition: Condition | None = None
    name: str = "condition"

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.target,)


@dataclass(frozen=True, slots=True)
class FanOutEdge:
    """Several targets; a selection may choose among them."""

    id: str
    source: str
    targets: tuple[str, ...]
    selection: Selection | None = None
    name: str = "selection"

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.source,)


@dataclass(frozen=True, slots=True)
class SwitchCase:
    """One case; without condition it is the default."""

    condition: Condition | None
    target: str
    name: str = "condition"
    id: str | None = None


@dataclass(frozen=True, slots=True)
class SwitchEdge:
    """The first case that holds decides; a default placed earlier hides the cases after it."""

    id: str
    source: str
    cases: tuple[SwitchCase, ...]

    @property
    def sources(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def targets(self) -> tuple[str, ...]:
        return tuple(case.target for case in self.cases)


@dataclass(frozen=True, slots=True)
class FanInEdge:
    """The barrier: the target gets one list, source by source."""

    id: str
    sources: tuple[str, ...]
    target: str

    @property
    def targets(self) -> tuple[str, ...]:
        return (self.target,)

    @property
    def key(self) -> str:
        """Names its buffer in checkpoints: made from the ends, so that it outlives new edge ids."""
        return json.dumps([sorted(self.sources), self.target], ensure_ascii=False)


Edge = DirectEdge | FanOutEdge | SwitchEdge | FanInEdge


def pairs(edge: Edge) -> list[tuple[str, str]]:
    """All (source, target) of a group."""
    return [(source, target) for source in edge.sources for target in edge.targets]


def _described(edge: Edge) -> dict[str, Any]:
    condition = edge.name if isinstance(edge, DirectEdge) and edge.condition is not None else None
    described: dict[str, Any] = {
        "kind": type(edge).__name__,
        "sources": sorted(edge.sources),
        "targets": sorted(edge.targets),
        "edges": sorted([source, target, condition or ""] for source, target in pairs(edge)),
    }
    if isinstance(edge, FanOutEdge):
        described["selection"] = edge.name if edge.selection is not None else None
    return described


def signature(start: str, executors: Mapping[str, Executor], edges: Sequence[Edge]) -> str:
    """A fingerprint of the topology. What conditions do, designations, limits and the name are not in it."""
    described = {
        "start": start,
        "nodes": {id: executor.signature for id, executor in executors.items()},
        "edges": sorted((_described(edge) for edge in edges), key=lambda e: json.dumps(e, sort_keys=True)),
    }
    text = json.dumps(described, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
