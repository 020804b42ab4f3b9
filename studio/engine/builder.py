"""Puts a graph together and makes a workflow of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from studio.engine.errors import BuildArgumentError
from studio.engine.executor import Executor
from studio.engine.graph import Condition, DirectEdge, Edge, FanInEdge, FanOutEdge, Selection, SwitchCase, SwitchEdge
from studio.engine.validation import Intermediate, Outputs, roles, validate
from studio.engine.workflow import Order, Workflow


@dataclass(frozen=True, slots=True)
class Case:
    """A case of a switch. ``condition`` None is the default."""

    condition: Condition | None
    target: Executor
    name: str = "condition"
    case_id: str | None = None


Designation = Sequence[str | Executor] | Literal["all", "all_other"] | None


def _ids(designation: Designation) -> tuple[str, ...] | Literal["all", "all_other"] | None:
    if designation is None or designation == "all" or designation == "all_other":
        return designation
    return tuple(d.id if isinstance(d, Executor) else d for d in designation)


class WorkflowBuilder:
    """Collects nodes and edges. Nodes join the workflow in this order: start, then both ends of each edge.

    ``outputs`` and ``intermediate`` name nodes (ids or executors), see :func:`studio.engine.validation.roles`.
    ``order``: how messages and conflicting writes of one superstep are ordered, see :data:`Order`.
    """

    def __init__(
        self,
        start: Executor,
        *,
        name: str,
        max_supersteps: int = 100,
        outputs: Designation = None,
        intermediate: Designation = None,
        order: Order = "delivery",
    ) -> None:
        self._start = start
        self._name = name
        self._max_supersteps = max_supersteps
        self._outputs = _ids(outputs)
        self._intermediate = _ids(intermediate)
        self._order: Order = order
        self._executors: dict[str, Executor] = {}
        self._edges: list[Edge] = []
        self._add(start)

    def edge(
        self,
        source: Executor,
        target: Executor,
        condition: Condition | None = None,
        *,
        name: str = "condition",
        edge_id: str | None = None,
    ) -> WorkflowBuilder:
        """One edge; with a condition it delivers only what the condition holds for."""
        self._add(source, target)
        self._edges.append(DirectEdge(edge_id or f"{source.id}->{target.id}", source.id, target.id, condition, name))
        return self

    def chain(self, executors: Sequence[Executor]) -> WorkflowBuilder:
        """Direct edges between consecutive nodes."""
        if len(executors) < 2:
            raise BuildArgumentError("A chain needs at least two nodes")
        for source, target in pairwise(executors):
            self.edge(source, target)
        return self

    def fan_out(
        self,
        source: Executor,
        targets: Sequence[Executor],
        selection: Selection | None = None,
        *,
        name: str = "selection",
        edge_id: str | None = None,
    ) -> WorkflowBuilder:
        """One group to several targets, or those that the selection names."""
        self._add(source, *targets)
        if len(targets) < 2:
            raise BuildArgumentError(f"The fan-out of node {source.id!r} needs at least two targets", [source.id])
        ids = tuple(t.id for t in targets)
        self._edges.append(FanOutEdge(edge_id or f"{source.id}=>{'+'.join(ids)}", source.id, ids, selection, name))
        return self

    def fan_in(self, sources: Sequence[Executor], target: Executor, *, edge_id: str | None = None) -> WorkflowBuilder:
        """A barrier: ``target`` gets one list as soon as every source sent something."""
        self._add(*sources, target)
        if len(sources) < 2:
            raise BuildArgumentError(f"The fan-in of node {target.id!r} needs at least two sources", [target.id])
        ids = tuple(s.id for s in sources)
        self._edges.append(FanInEdge(edge_id or f"{'+'.join(ids)}=>{target.id}", ids, target.id))
        return self

    def switch(
        self,
        source: Executor,
        cases: Sequence[Case],
        default: Executor | None = None,
        *,
        edge_id: str | None = None,
        default_id: str | None = None,
    ) -> WorkflowBuilder:
        """The first case that holds. ``default`` comes last; a ``Case`` without condition is a default in its place."""
        every = [*cases, *([Case(None, default, case_id=default_id)] if default is not None else [])]
        self._add(source, *(case.target for case in every))
        if len(every) < 2:
            raise BuildArgumentError(f"The switch of node {source.id!r} needs at least two cases", [source.id])
        if sum(case.condition is None for case in every) != 1:
            raise BuildArgumentError(f"The switch of node {source.id!r} needs exactly one default", [source.id])
        kept = tuple(SwitchCase(c.condition, c.target.id, c.name, c.case_id) for c in every)
        self._edges.append(SwitchEdge(edge_id or f"{source.id}?>", source.id, kept))
        return self

    def build(self) -> Workflow:
        """The workflow. Raises the first :class:`~studio.engine.errors.WorkflowValidationError`."""
        outputs: Outputs = None if self._outputs == "all_other" else self._outputs
        intermediate: Intermediate = self._intermediate
        validate(self._start.id, self._executors, self._edges, outputs, intermediate)
        return Workflow(
            start=self._start.id,
            executors=self._executors,
            edges=self._edges,
            roles=roles(self._executors, outputs, intermediate),
            name=self._name,
            max_supersteps=self._max_supersteps,
            order=self._order,
        )

    def _add(self, *executors: Executor) -> None:
        for executor in executors:
            if not executor.id:
                raise BuildArgumentError("A node needs an id")
            known = self._executors.setdefault(executor.id, executor)
            if known is not executor:
                raise BuildArgumentError(f"Two nodes have the id {executor.id!r}", [executor.id])
