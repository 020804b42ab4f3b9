"""Checks of conditions: finished, readable, and none that hides the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from studio.document.code import body_problem
from studio.document.conditions import Condition, Rule
from studio.document.facts import Facts
from studio.document.lines import leg_id
from studio.document.model import DirectEdge, Edge, FanOutEdge, SwitchEdge
from studio.document.patterns import PatternError, compiled
from studio.document.problems import Problem

_NEEDS_VALUE = ("contains", "matches", "compares", "type_is")
_STATE = re.compile(r"\bstate\b")


def condition_problems(facts: Facts) -> Iterator[Problem]:
    """What is wrong with the conditions of edges, cases and selections."""
    for edge in facts.workflow.edges:
        match edge:
            case DirectEdge(condition=Condition()):
                named: tuple[str, ...] = (edge.source, edge.target)
            case SwitchEdge():
                named = (edge.id,)
            case FanOutEdge(selection=dict() as selection):
                named = (edge.id, *selection)
            case _:
                continue
        asked = tuple(facts.names.get(item) for item in named)
        yield from facts.memory.each("conditions", edge, asked, partial(_of_edge, facts, edge))


def _of_edge(facts: Facts, edge: Edge) -> Iterator[Problem]:
    match edge:
        case DirectEdge(condition=Condition() as condition):
            where = f"The edge from {facts.name(edge.source)} to {facts.name(edge.target)}"
            yield from _condition(condition, edge.id, where)
            if reads_state(condition):
                message = f"{where} reads shared state, but an edge sees the message alone: use a switch."
                yield Problem("condition_state", message, edge.id, "condition")
        case SwitchEdge():
            yield from _switch(facts, edge)
        case FanOutEdge(selection=dict() as selection):
            for target, condition in selection.items():
                where = f"The rule of {facts.name(edge.id)} for {facts.name(target)}"
                yield from _condition(condition, leg_id(edge.id, target), where)


def _switch(facts: Facts, edge: SwitchEdge) -> Iterator[Problem]:
    for number, case in enumerate(edge.cases, 1):
        where = f"Case {number} of the switch {facts.name(edge.id)}"
        if case.condition is None:
            yield Problem("no_condition", f"{where} has no condition.", case.id, "condition")
            continue
        yield from _condition(case.condition, case.id, where)
        if _always(case.condition) and number < len(edge.cases):
            message = f"{where} is always true: the cases after it are never tried."
            yield Problem("case_hides_others", message, case.id, "condition", "warning")


def _always(condition: Condition) -> bool:
    return condition.kind == "rules" and condition.rule is not None and condition.rule.op == "always"


def reads_state(condition: Condition) -> bool:
    """Whether a condition looks at shared state."""
    if condition.kind == "expression":
        return bool(_STATE.search(re.sub(r"'[^']*'|\"[^\"]*\"", "", condition.expression)))
    if condition.kind == "rules" and condition.rule is not None:
        return any(rule.path.split(".")[0] == "state" for rule in _all_rules(condition.rule))
    if condition.kind == "python":
        return _names_state(condition.body)
    return False


def _names_state(body: str) -> bool:
    try:
        tree = ast.parse(body)
    except SyntaxError:
        return False
    return any(isinstance(node, ast.Name) and node.id == "state" for node in ast.walk(tree))


def _all_rules(rule: Rule) -> Iterator[Rule]:
    if not rule.rules:
        yield rule
    for inner in rule.rules:
        yield from _all_rules(inner)


def _condition(condition: Condition, place: str, where: str) -> Iterator[Problem]:
    match condition.kind:
        case "rules" if condition.rule is None:
            yield Problem("no_condition", f"{where} has no rule yet.", place, "condition")
        case "rules":
            assert condition.rule is not None
            yield from _rule(condition.rule, place, where)
        case "expression":
            from studio.document.expressions import ExpressionError, parsed  # loads with the first expression

            try:
                parsed(condition.expression)
            except ExpressionError as error:
                column = f" (column {error.column})" if error.column else ""
                message = f"{where}: {str(error).rstrip('.')}{column}."
                yield Problem("expression", message, place, "condition")
        case "python":
            found = body_problem(condition.body)
            if not condition.body.strip():
                yield Problem("no_condition", f"{where} has no code yet.", place, "condition")
            elif found is not None:
                message = f"{where} has code that cannot be read: {found.message}, line {found.line}."
                yield Problem("syntax", message, place, "condition")


def _rule(rule: Rule, place: str, where: str) -> Iterator[Problem]:
    if rule.op in ("and", "or", "not"):
        if not rule.rules or (rule.op == "not" and len(rule.rules) > 1):
            yield Problem("incomplete_rule", f"{where} has “{rule.op}” without a rule to it.", place, "condition")
        for inner in rule.rules:
            yield from _rule(inner, place, where)
    elif rule.op in _NEEDS_VALUE and rule.value in (None, "", []):
        yield Problem("incomplete_rule", f"{where} is not finished: say what to compare with.", place, "condition")
    elif rule.op == "matches":
        try:
            compiled(str(rule.value), rule.ignore_case)
        except PatternError as error:
            yield Problem("pattern", f"{where}: {error}", place, "condition")
    elif rule.op != "always" and rule.path.split(".")[0] not in ("text", "value", "type", "state"):
        yield Problem(
            "rule_path", f"{where} looks at {rule.path or 'nothing'}, which no message has.", place, "condition"
        )
