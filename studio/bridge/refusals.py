"""Why a message did not take an edge, with what was measured: "score 6 is not ≥ 8"."""

from __future__ import annotations

from collections.abc import Mapping

from studio.assembly.texts import scope_of
from studio.document.conditions import Condition, evaluate, explain
from studio.document.lines import lines
from studio.document.model import Workflow


class Refusals:
    """The conditions of one document; rules only, other kinds say no more than their label."""

    def __init__(self, workflow: Workflow) -> None:
        self._groups: dict[str, str] = {}
        self._conditions: dict[tuple[str, str], Condition] = {}
        for line in lines(workflow):
            self._groups[line.id] = line.edge
            if line.condition is not None and line.condition.kind == "rules":
                self._conditions.setdefault((line.edge, line.target), line.condition)

    def words(self, edge: str, target: str, data: object, state: Mapping[str, object]) -> str:
        """The reason in words, "" if there is nothing to add: no rule, or one that was true (an earlier case of a
        switch was taken). ``edge`` is an edge group or a line of one."""
        condition = self._conditions.get((self._groups.get(edge, edge), target))
        if condition is None:
            return ""
        scope = scope_of(data, state)
        return "" if evaluate(condition, scope) else explain(condition, scope)
