"""Why a message did not take an edge, with what was measured: "score 6 is not ≥ 8"."""

from __future__ import annotations

from collections.abc import Mapping

from studio.assembly.texts import scope_of, type_name
from studio.document.conditions import Condition, evaluate, explain
from studio.document.lines import lines, name_of
from studio.document.model import Workflow
from studio.document.types import accepts, in_words


class Refusals:
    """The conditions and accepted types of one document."""

    def __init__(self, workflow: Workflow) -> None:
        self._workflow = workflow
        self._groups: dict[str, str] = {}
        self._conditions: dict[tuple[str, str], Condition] = {}
        self._kinds: dict[str, set[str]] = {}
        for line in lines(workflow):
            self._groups[line.id] = line.edge
            self._kinds.setdefault(line.edge, set()).add(line.kind)
            if line.condition is not None:
                self._conditions.setdefault((line.edge, line.target), line.condition)

    def words(self, reason: str, edge: str, target: str, data: object, state: Mapping[str, object]) -> str:
        """The reason in words, "" if there is nothing to add to the engine's word ``reason``. ``edge`` is an edge group
        or a line of one."""
        if reason == "type":
            return self._misfit(target, data)
        if reason not in ("condition", "selection"):
            return ""
        group = self._groups.get(edge, edge)
        condition = self._conditions.get((group, target))
        if condition is None:
            return "an earlier case was taken" if reason == "selection" and self._chooses_one(group) else ""
        if condition.kind == "python":  # code of the user: it ran in the worker and is not run again
            return f"false: {explain(condition, scope_of(data, state))}"
        scope = scope_of(data, state)
        if not evaluate(condition, scope):
            return explain(condition, scope)
        return "an earlier case was taken" if reason == "selection" and self._chooses_one(group) else ""

    def _chooses_one(self, group: str) -> bool:
        return bool(self._kinds.get(group, set()) & {"case", "default"})

    def _misfit(self, target: str, data: object) -> str:
        """What the target takes, and what came instead."""
        node = self._workflow.node(target)
        taken = accepts(node) if node is not None else ()
        if not taken or taken == ("any",):
            return ""
        name = name_of(self._workflow, target)
        return f"{name} takes {in_words(taken)}, this is {in_words((type_name(data),))}"
