"""Watch expressions: what they give now, and what they gave before the superstep. No Qt."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from studio.bridge.run_views import begun
from studio.bridge.state_history import ABSENT
from studio.document.lines import Line, lines
from studio.document.model import Workflow

if TYPE_CHECKING:
    from studio.bridge.shown_run import ShownRun

_IN = re.compile(r"(?<=\w)\.in\b")
"""``join.in``: a word of Python, so it is read as ``join.inbox``."""


@dataclass(frozen=True, slots=True)
class WatchView:
    """One row. ``before`` is :data:`studio.bridge.state_history.ABSENT` if it is not known; ``problem``: why there is
    no value."""

    expression: str
    value: Any = None
    before: Any = ABSENT
    problem: str = ""
    missing: bool = False
    """Whether the problem is only that a name is not there yet."""

    @property
    def changed(self) -> bool:
        """Whether the superstep changed it."""
        return not self.problem and self.before is not ABSENT and self.before != self.value


class WatchValues:
    """Remembers what each expression gave before the superstep that is shown."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[int, Any, Any]] = {}
        """Expression -> step, value, value before the step."""
        self._run: object = None

    def views(self, expressions: Iterable[str], run: ShownRun, workflow: Workflow) -> list[WatchView]:
        """The rows, in order."""
        if run.state_history is not self._run:
            self._last, self._run = {}, run.state_history
        step = begun(run.supersteps)
        now = named(run.shared_state)
        then = named(run.state_history.at(step - 1)) if step else None
        return [self._view(one, step, now, then, run, workflow) for one in expressions]

    def _view(
        self,
        expression: str,
        step: int,
        now: Mapping[str, object],
        then: Mapping[str, object] | None,
        run: ShownRun,
        workflow: Workflow,
    ) -> WatchView:
        from studio.document.expressions import (
            ExpressionError,
            UnknownName,
            names_in,
            value_of,
        )  # loads with the first watch

        read = _IN.sub(".inbox", expression)
        try:
            nodes = _nodes_of(names_in(read) - now.keys(), run, workflow)
            value = value_of(read, {**nodes, **now})
        except ExpressionError as error:
            return WatchView(expression, problem=str(error), missing=isinstance(error, UnknownName))
        last_step, last, before = self._last.get(expression, (step, value, ABSENT))
        if last_step != step:
            before = last
        self._last[expression] = step, value, before
        if not nodes and then is not None:
            try:
                before = value_of(read, then)
            except ExpressionError:  # a key that was not there yet
                before = None
        return WatchView(expression, value, before)


def named(state: Mapping[str, Any]) -> dict[str, object]:
    """Shared state as names: a key with dots is an object with fields, ``state`` is everything by its whole key."""
    found: dict[str, Any] = {"state": state}
    for key, value in state.items():
        head, *rest = key.split(".")
        if not rest:
            found[head] = value
            continue
        inner = found.get(head)
        if not isinstance(inner, dict) or inner is state.get(head):
            inner = found[head] = {**inner} if isinstance(inner, Mapping) else {}
        for part in rest[:-1]:
            step = inner.get(part)
            inner[part] = step = dict(step) if isinstance(step, Mapping) else {}
            inner = step
        inner[rest[-1]] = value
    return found


def _nodes_of(names: Iterable[str], run: ShownRun, workflow: Workflow) -> dict[str, object]:
    """Those of these names that are nodes: by id, or by name in small letters with _ for spaces."""
    found: dict[str, object] = {}
    for name in names:
        node = next((n for n in workflow.nodes if name in (n.id, slug(n.name))), None)
        if node is not None:
            found[name] = _node_value(node.id, run, workflow)
    return found


def slug(name: str) -> str:
    """A node's name as a watch writes it: "Fact check" is ``fact_check``."""
    return re.sub(r"\W+", "_", name.casefold()).strip("_")


def _node_value(node: str, run: ShownRun, workflow: Workflow) -> dict[str, object]:
    """What a watch can ask of a node: its state, runs, tokens, seconds, last text, and the texts that wait for it."""
    view = run.nodes.get(node)
    usage = view.usage if view is not None else None
    drawn = tuple(lines(workflow)) if run.queued else ()
    return {
        "status": view.status if view is not None else "idle",
        "runs": view.invocations if view is not None else 0,
        "seconds": round(view.seconds, 3) if view is not None else 0.0,
        "tokens": (usage.input or 0) + (usage.output or 0) if usage is not None else 0,
        "text": _last_text(run, node),
        "inbox": [q.text for q in run.queued if _waits_for(node, q.target, q.edges, drawn)],
    }


def _waits_for(node: str, target: str | None, edges: Iterable[str], drawn: Iterable[Line]) -> bool:
    if target is not None:
        return target == node
    ways = frozenset(edges)
    return any(line.target == node and (line.edge in ways or line.id in ways) for line in drawn)


def _last_text(run: ShownRun, node: str) -> str:
    view = next((v for v in reversed(run.invocations.values()) if v.node == node and not v.inside), None)
    return "".join(p.text for p in view.pieces if p.kind == "text") if view is not None else ""
