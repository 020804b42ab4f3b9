"""A rule written as an expression that is true for the same messages, where there is one."""

from __future__ import annotations

import json
import keyword

from studio.document.conditions import Rule
from studio.document.expressions import MAX_LENGTH, TEXT_METHODS

_ROOTS = ("text", "value", "type", "state")


def as_expression(rule: Rule | None) -> str:
    """The expression; "" where none means exactly the same (case left aside, a place in a list), or the rule is
    unfinished."""
    written = _written(rule) if rule is not None else None
    return written if written is not None and len(written) <= MAX_LENGTH else ""


def _written(rule: Rule) -> str | None:
    match rule.op:
        case "always":
            return "true"
        case "and" | "or":
            parts = [_part(r) for r in rule.rules]
            return f" {rule.op} ".join(p for p in parts if p) if parts and all(parts) else None
        case "not":
            inner = _part(rule.rules[0]) if rule.rules else None
            return inner and f"not {inner}"
        case "type_is":
            return _of_type(rule.value)
    path = _path(rule.path)
    return _test(rule, path) if path and not rule.ignore_case else None


def _part(rule: Rule) -> str | None:
    """In brackets where it would be read otherwise."""
    written = _written(rule)
    return f"({written})" if written and rule.op in ("and", "or", "not") else written


def _of_type(value: object) -> str | None:
    names = value if isinstance(value, list) else [value]
    if not names or not all(isinstance(name, str) for name in names):
        return None
    return f"type == {_text(names[0])}" if len(names) == 1 else f"type in [{', '.join(map(_text, names))}]"


def _test(rule: Rule, path: str) -> str | None:
    value = rule.value
    if rule.op == "equals":
        return f"{path} == {_literal(value)}" if value is None or _literal(value) else None
    if rule.op == "compares":
        # Unlike values are neither equal nor unequal to a rule; an expression calls them unequal.
        written = _literal(value) if value is not None and rule.compare != "!=" else None
        return written and f"{path} {rule.compare} {written}"
    if not isinstance(value, str) or not value:
        return None
    return f"{_text(value)} in {path}" if rule.op == "contains" else f"matches({path}, {_text(value)})"


def _literal(value: object) -> str | None:
    if value is None or isinstance(value, bool | int | float):
        return json.dumps(value)
    return _text(value) if isinstance(value, str) else None


def _text(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _path(path: str) -> str | None:
    root, *parts = path.split(".")
    if root not in _ROOTS or (parts and root not in ("value", "state")):
        return None
    for part in parts:
        if not part.isidentifier() or keyword.iskeyword(part) or part in TEXT_METHODS:
            return None
    return path
