"""Conditions in words: the chip on an edge, and the reason why one was false."""

from __future__ import annotations

import json

from studio.document.conditions import Condition, Rule, Scope, look_up, rule_holds

LONGEST = 48
_EXPLAINED = 96
_LONGEST_VALUE = 28
_SIGNS = {"<": "<", "<=": "≤", ">": ">", ">=": "≥", "==": "=", "!=": "≠"}


def describe(condition: Condition | None) -> str:
    """A short label: "score ≥ 8", "contains “approve”", "always"."""
    if condition is None:
        return "always"
    if condition.kind == "expression":
        return _short(" ".join(condition.expression.split()) or "no expression yet")
    if condition.kind == "python":
        first = next((line.strip() for line in condition.body.splitlines() if line.strip()), "no code yet")
        return _short(f"python: {first}")
    return _short(describe_rule(condition.rule)) if condition.rule is not None else "no rule yet"


def written_out(condition: Condition) -> str:
    """A condition in words with nothing left out, values neither: for the code that it becomes."""
    if condition.kind == "rules" and condition.rule is not None:
        return " ".join(describe_rule(condition.rule, whole=True).split())
    if condition.kind == "expression" and condition.expression.strip():
        return " ".join(condition.expression.split())
    return describe(condition)


def describe_rule(rule: Rule, *, inner: bool = False, whole: bool = False) -> str:
    """One rule in words, not shortened; ``inner`` puts "and" and "or" in brackets, ``whole`` shortens no value."""
    match rule.op:
        case "always":
            return "always"
        case "and" | "or":
            words = f" {rule.op} ".join(describe_rule(r, inner=True, whole=whole) for r in rule.rules) or "no rule yet"
            return f"({words})" if inner and len(rule.rules) > 1 else words
        case "not":
            return f"not {describe_rule(rule.rules[0], inner=True, whole=whole)}" if rule.rules else "no rule yet"
        case "type_is":
            return f"type is {_type(rule.value)}"
        case "compares":
            wanted = _value(rule.value, whole=whole)
            return f"{_subject(rule.path) or 'text'} {_SIGNS[rule.compare]} {wanted}"
    verb = {"contains": "contains", "equals": "is", "matches": "matches"}[rule.op]
    return f"{_subject(rule.path)} {verb} {_value(rule.value, rule.op, whole=whole)}".strip()


def explain(condition: Condition | None, scope: Scope) -> str:
    """Why a condition was true or false for a message: "score 6 is not ≥ 8"; of an expression what was measured first,
    "value.score 6: not value.score >= 8", as there may be little room. Python: its label."""
    if condition is not None and condition.kind == "expression":
        return _explain_expression(condition, scope)
    if condition is None or condition.kind != "rules" or condition.rule is None:
        return describe(condition)
    return _explain_rule(condition.rule, scope)


def _explain_expression(condition: Condition, scope: Scope) -> str:
    from studio.document.conditions import evaluate
    from studio.document.expressions import measured  # the evaluator loads with the first expression

    names = {"text": scope.text, "value": scope.value, "type": scope.type, "state": scope.state or {}}
    found = measured(condition.expression, names)
    told = ", ".join(f"{part} {_measured(value)}" for part, value in found.items())
    label = describe(condition)
    held = evaluate(condition, scope)
    words = label if held else f"not {label}"
    return _short(f"{told}: {words}", _EXPLAINED) if told else label


def _measured(value: object) -> str:
    shown = " ".join(value.split()) if isinstance(value, str) else value
    return "is missing" if value is None else _value(shown)


def _explain_rule(rule: Rule, scope: Scope) -> str:
    if rule.op == "always" or (rule.op in ("and", "or", "not") and not rule.rules):
        return describe_rule(rule)
    held = rule_holds(rule, scope)
    if rule.op in ("and", "or"):
        deciding = [r for r in rule.rules if rule_holds(r, scope) == held] or list(rule.rules)
        return " and ".join(_explain_rule(r, scope) for r in (deciding[:1] if held == (rule.op == "or") else deciding))
    if rule.op == "not":
        return _explain_rule(rule.rules[0], scope)
    subject = _subject(rule.path) or "text"
    if rule.op == "type_is":
        return f"type {scope.type} is {'' if held else 'not '}{_type(rule.value)}"
    found = look_up(rule.path, scope)
    if found is None:
        return f"{subject} is missing"
    if rule.op == "compares":
        return f"{subject} {_value(found)} is {'' if held else 'not '}{_SIGNS[rule.compare]} {_value(rule.value)}"
    verbs = {
        "contains": ("contains", "does not contain"),
        "equals": ("is", "is not"),
        "matches": ("matches", "does not match"),
    }
    return _short(f"{subject} {verbs[rule.op][not held]} {_value(rule.value, rule.op)}")


def _subject(path: str) -> str:
    """How a path is called: ``value.review.score`` -> "score"; the text itself needs no name."""
    return "" if path == "text" else path.split(".")[-1]


def _type(value: object) -> str:
    return " or ".join(str(v) for v in value) if isinstance(value, list) else str(value or "…")


def _value(value: object, op: str = "", *, whole: bool = False) -> str:
    if value is None:
        return "…"
    if isinstance(value, str):
        return f"/{value}/" if op == "matches" else f"“{value if whole else _short(value, _LONGEST_VALUE)}”"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    shown = json.dumps(value, ensure_ascii=False, default=str)
    return shown if whole else _short(shown, _LONGEST_VALUE)


def _short(text: str, longest: int = LONGEST) -> str:
    return text if len(text) <= longest else f"{text[: longest - 1]}…"
