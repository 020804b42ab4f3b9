"""Conditions as data, and the one evaluator for engine, truth table, breakpoints and watches.

``evaluate`` never raises for what a message holds: a missing field is None, comparing None or unlike types is False.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from studio.document import patterns
from studio.document.frozen import Model


class Rule(Model):
    """One node of a rule tree. ``path`` is ``text``, ``value``, ``value.a.b``, ``state.key`` or ``type``; a missing
    field is None."""

    op: Literal["always", "contains", "equals", "matches", "compares", "type_is", "and", "or", "not"] = "contains"
    path: str = "text"
    compare: Literal["<", "<=", ">", ">=", "==", "!="] = ">="
    value: JsonValue = None
    ignore_case: bool = False
    rules: tuple[Rule, ...] = ()


class Condition(Model):
    """A condition: a rule tree, an expression for the kept evaluator, or a Python predicate body for the worker.

    ``name`` is stable: made once from the id of the edge or case; it is part of the graph signature and of the code.
    """

    kind: Literal["rules", "expression", "python"] = "rules"
    name: str = ""
    rule: Rule | None = None
    expression: str = ""
    body: str = ""


@dataclass(frozen=True, slots=True)
class Scope:
    """What a condition sees: the text of a message, its value (structured reply or record as plain data), the name of
    its type, and shared state (None where an edge decides: an edge sees the message alone)."""

    text: str
    value: object = None
    type: str = "text"
    state: Mapping[str, object] | None = None


class NeedsWorker(Exception):
    """A ``python`` condition is code of the user: it runs in the worker, never here."""


def evaluate(condition: Condition | None, scope: Scope) -> bool:
    """Whether the condition is true for a message. None is always true; an unfinished rule is false."""
    if condition is None:
        return True
    if condition.kind == "python":
        raise NeedsWorker(condition.name)
    if condition.kind == "expression":
        from studio.document.expressions import holds  # the evaluator loads with the first expression

        names = {"text": scope.text, "value": scope.value, "type": scope.type, "state": scope.state or {}}
        return holds(condition.expression, names)
    return condition.rule is not None and rule_holds(condition.rule, scope)


def look_up(path: str, scope: Scope) -> object:
    """The value at a path of a rule; None if anything on the way is missing."""
    head, *rest = path.split(".")
    roots: dict[str, object] = {"text": scope.text, "value": scope.value, "type": scope.type, "state": scope.state}
    found = roots.get(head)
    for part in rest:
        if isinstance(found, Mapping):
            found = found.get(part)
        elif isinstance(found, Sequence) and not isinstance(found, str | bytes) and part.isdecimal():
            found = found[int(part)] if int(part) < len(found) else None
        else:
            return None
    return found


def rule_holds(rule: Rule, scope: Scope) -> bool:
    """Whether one rule is true."""
    match rule.op:
        case "always":
            return True
        case "and":
            return bool(rule.rules) and all(rule_holds(r, scope) for r in rule.rules)
        case "or":
            return any(rule_holds(r, scope) for r in rule.rules)
        case "not":
            return bool(rule.rules) and not rule_holds(rule.rules[0], scope)
        case "type_is":
            wanted = rule.value if isinstance(rule.value, list) else [rule.value]
            return scope.type in wanted
    return _TESTS[rule.op](look_up(rule.path, scope), rule)


def _folded(value: object, rule: Rule) -> object:
    return value.casefold() if rule.ignore_case and isinstance(value, str) else value


def _equal(a: object, b: object) -> bool:
    return isinstance(a, bool) == isinstance(b, bool) and a == b


def _contains(found: object, rule: Rule) -> bool:
    wanted = _folded(rule.value, rule)
    if wanted is None or wanted == "":
        return False
    if isinstance(found, str):
        return str(wanted) in str(_folded(found, rule)) if not isinstance(wanted, dict | list) else False
    if isinstance(found, Mapping):
        return isinstance(wanted, str) and any(_folded(key, rule) == wanted for key in found)
    if isinstance(found, Sequence):
        return any(_equal(_folded(item, rule), wanted) for item in found)
    return False


def _equals(found: object, rule: Rule) -> bool:
    return _equal(_folded(found, rule), _folded(rule.value, rule))


def _matches(found: object, rule: Rule) -> bool:
    if not isinstance(found, str) or not isinstance(rule.value, str) or not rule.value:
        return False
    return patterns.search(rule.value, found, rule.ignore_case)


_COMPARE: Mapping[str, Callable[..., object]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


def _compares(found: object, rule: Rule) -> bool:
    a, b = _folded(found, rule), _folded(rule.value, rule)
    if isinstance(a, bool) or isinstance(b, bool):
        alike = isinstance(a, bool) and isinstance(b, bool) and rule.compare in ("==", "!=")
    else:
        alike = (isinstance(a, int | float) and isinstance(b, int | float)) or (
            isinstance(a, str) and isinstance(b, str)
        )
    return alike and bool(_COMPARE[rule.compare](a, b))


_TESTS: Mapping[str, Callable[[object, Rule], bool]] = {
    "contains": _contains,
    "equals": _equals,
    "matches": _matches,
    "compares": _compares,
}


def describe(condition: Condition | None) -> str:
    """A short label for a chip: "score ≥ 8", "contains “approve”", "always"."""
    from studio.document import wording  # it reads the classes above

    return wording.describe(condition)


def explain(condition: Condition | None, scope: Scope) -> str:
    """Why it was true or false for a message: "score 6 is not ≥ 8"."""
    from studio.document import wording

    return wording.explain(condition, scope)
