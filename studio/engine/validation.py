"""What a graph must fulfil before it is a workflow. The first error wins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal

from studio.engine.errors import (
    EdgeDuplicationError,
    GraphConnectivityError,
    OutputDesignationError,
    TypeCompatibilityError,
)
from studio.engine.executor import Executor
from studio.engine.graph import Edge, FanInEdge, pairs
from studio.engine.types import ListOf, Type, compatible, type_name

Outputs = Sequence[str] | Literal["all"] | None
Intermediate = Sequence[str] | Literal["all", "all_other"] | None
Role = Literal["output", "intermediate"]


def validate(
    start: str,
    executors: Mapping[str, Executor],
    edges: Sequence[Edge],
    outputs: Outputs,
    intermediate: Intermediate,
) -> None:
    """Raises the first error, in the order of the framework."""
    out, between = _designated(executors, outputs, intermediate)
    if outputs is not None or intermediate is not None:
        _designation(out, between)
    _duplicates(edges)
    for edge in edges:
        for source, target in pairs(edge):
            _types(executors[source], executors[target], joined=isinstance(edge, FanInEdge))
    _reachable(start, executors, edges)
    for ids in (out, between):
        _able_to_yield(ids, executors)


def roles(executors: Mapping[str, Executor], outputs: Outputs, intermediate: Intermediate) -> dict[str, Role]:
    """What a yield of each node becomes; nodes without a role give no event."""
    if outputs is None and intermediate is None:
        return dict.fromkeys(executors, "output")
    out, between = _designated(executors, outputs, intermediate)
    found: dict[str, Role] = dict.fromkeys(between, "intermediate")
    found.update(dict.fromkeys(out, "output"))
    return found


def _designated(
    executors: Mapping[str, Executor], outputs: Outputs, intermediate: Intermediate
) -> tuple[list[str], list[str]]:
    """The ids that the designations stand for."""
    able = [id for id, executor in executors.items() if executor.yields]
    out = able if outputs == "all" else list(outputs or ())
    if intermediate == "all":
        return out, able
    if intermediate == "all_other":
        taken = set(out)
        return out, [id for id in able if id not in taken]
    return out, list(intermediate or ())


def _designation(outputs: Sequence[str], intermediate: Sequence[str]) -> None:
    """Ids after "all" was spelled out: that is when the framework looks for nodes in both."""
    if not outputs and not intermediate:
        raise OutputDesignationError(
            "No node is designated for outputs or intermediate outputs; leave both out instead"
        )
    for what, ids in (("outputs", outputs), ("intermediate", intermediate)):
        double = sorted(id for id, count in Counter(ids).items() if count > 1)
        if double:
            raise OutputDesignationError(f"Designated twice as {what}: {', '.join(double)}", double)
    both = sorted(set(outputs) & set(intermediate))
    if both:
        raise OutputDesignationError(f"Both output and intermediate: {', '.join(both)}", both)


def _duplicates(edges: Sequence[Edge]) -> None:
    seen: set[tuple[str, str]] = set()
    for edge in edges:
        for pair in pairs(edge):
            if pair in seen:
                raise EdgeDuplicationError(f"Two edges lead from {pair[0]!r} to {pair[1]!r}", pair)
            seen.add(pair)


def _types(source: Executor, target: Executor, *, joined: bool) -> None:
    sent, accepted = source.sends, target.accepts
    if not sent or not accepted:
        return
    offered: list[Type] = [ListOf(kind) for kind in sent] if joined else list(sent)
    if not any(compatible(o, a) for o in offered for a in accepted):
        raise TypeCompatibilityError(
            f"Node {source.id!r} sends {_listed(offered)}, but node {target.id!r} takes {_listed(accepted)}",
            [source.id, target.id],
        )


def _listed(types: Sequence[Type]) -> str:
    return ", ".join(type_name(kind) for kind in types)


def _reachable(start: str, executors: Mapping[str, Executor], edges: Sequence[Edge]) -> None:
    following: dict[str, list[str]] = {}
    for edge in edges:
        for source, target in pairs(edge):
            following.setdefault(source, []).append(target)
    reached, stack = {start}, [start]
    while stack:
        for target in following.get(stack.pop(), ()):
            if target not in reached:
                reached.add(target)
                stack.append(target)
    missing = sorted(set(executors) - reached)
    if missing:
        raise GraphConnectivityError(
            f"Not reachable from the start node {start!r}: {', '.join(missing)}", [start, *missing]
        )


def _able_to_yield(ids: Sequence[str], executors: Mapping[str, Executor]) -> None:
    for id in ids:
        executor = executors.get(id)
        if executor is None:
            raise OutputDesignationError(f"Node {id!r} is designated but not part of the workflow", [id])
        if not executor.yields:
            raise OutputDesignationError(f"Node {id!r} is designated but never yields an output", [id])
