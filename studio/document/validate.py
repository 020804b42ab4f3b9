"""Validation: every reason why a document would be refused or would not do what it shows, as values.

Live, after each change; nothing in here runs code of the user.
"""

from __future__ import annotations

from studio.document import checks_agents, checks_conditions, checks_design, checks_graph, checks_nodes, checks_turns
from studio.document.facts import Facts, Memory
from studio.document.model import Workflow
from studio.document.problems import Problem

_CHECKS = (
    checks_graph.start_problems,
    checks_graph.id_problems,
    checks_graph.edge_problems,
    checks_graph.junction_problems,
    checks_graph.designation_problems,
    checks_conditions.condition_problems,
    checks_nodes.node_problems,
    checks_agents.agent_problems,
    checks_nodes.declaration_problems,
    checks_graph.reach_problems,
    checks_graph.loop_problems,
    checks_graph.output_problems,
    checks_design.join_problems,
    checks_turns.turn_problems,
    checks_design.unused_output_problems,
    checks_design.state_problems,
    checks_nodes.offline_problems,
)
_ORDER = ("error", "warning", "info")


def problems(workflow: Workflow, memory: Memory | None = None) -> tuple[Problem, ...]:
    """All problems, errors first, then warnings, then hints; a document with an error cannot run."""
    facts = Facts.of(workflow, memory)
    found = [problem for check in _CHECKS for problem in check(facts)]
    return tuple(problem for severity in _ORDER for problem in found if problem.severity == severity)


class Validation:
    """Validates one document again and again: after an edit only what it touched is looked at closely."""

    def __init__(self) -> None:
        self._memory: Memory | None = None

    def problems(self, workflow: Workflow) -> tuple[Problem, ...]:
        """The same as :func:`problems`. May be called in any thread."""
        memory = Memory(self._memory)
        found = problems(workflow, memory)
        self._memory = memory
        return found


def reachable(workflow: Workflow) -> frozenset[str]:
    """The nodes that take part in a run; the others are left out of it."""
    return Facts.of(workflow).reached
