"""Simple comparisons of visual builders as readable rules and as conditions of ours."""

from __future__ import annotations

from studio.document.conditions import Condition
from studio.document.expressions import ExpressionError, parsed

_SIGNS = {
    "equals": "=",
    "equal": "=",
    "is": "=",
    "=": "=",
    "==": "=",
    "isequal": "=",
    "notequals": "!=",
    "notequal": "!=",
    "isnot": "!=",
    "≠": "!=",
    "!=": "!=",
    "larger": ">",
    "gt": ">",
    ">": ">",
    "greaterthan": ">",
    "smaller": "<",
    "lt": "<",
    "<": "<",
    "lessthan": "<",
    "largerequal": ">=",
    "gte": ">=",
    "≥": ">=",
    ">=": ">=",
    "greaterthanorequal": ">=",
    "smallerequal": "<=",
    "lte": "<=",
    "≤": "<=",
    "<=": "<=",
    "lessthanorequal": "<=",
    "contains": "contains",
    "notcontains": "not contains",
    "startwith": "startswith",
    "startswith": "startswith",
    "endwith": "endswith",
    "endswith": "endswith",
    "empty": "empty",
    "isempty": "empty",
    "null": "empty",
    "notempty": "not empty",
    "isnotempty": "not empty",
    "notnull": "not empty",
    "exists": "not empty",
    "notexists": "empty",
    "true": "true",
    "false": "false",
    "istrue": "true",
    "isfalse": "false",
    "regex": "matches",
    "matchesregex": "matches",
    "matches": "matches",
}


def _plain(operator: str) -> str:
    return "".join(c for c in operator.lower() if c not in " _-") or operator


def test(left: str, operator: str, right: object) -> str | None:
    """The expression of a comparison; ``left`` is an expression already. None for operators that are not known."""
    sign = _SIGNS.get(_plain(operator))
    number = isinstance(right, int | float) and not isinstance(right, bool)
    value = repr(right) if right is not None else "''"
    match sign:
        case "=" | "!=" if right is not None:
            return f"{left} {'==' if sign == '=' else '!='} {value}"
        case ">" | "<" | ">=" | "<=":
            shown = value if number else _number(right)
            return f"number({left}) {sign} {shown}" if shown else None
        case "contains":
            return f"contains({left}, {value})"
        case "not contains":
            return f"not contains({left}, {value})"
        case "startswith" | "endswith":
            return f"({left}).{sign}({value})"
        case "empty":
            return f"({left} is None or {left} == '')"
        case "not empty":
            return f"({left} is not None and {left} != '')"
        case "true" | "false":
            return f"{left} == {sign == 'true'}"
        case "matches":
            return f"matches({left}, {value})"
    return None


def _number(value: object) -> str:
    try:
        return repr(float(str(value)))
    except ValueError:
        return ""


def condition(tests: list[str | None], word: str = "and") -> Condition | None:
    """Several tests as one condition; None if any of them is not translated."""
    known = [t for t in tests if t is not None]
    if not known or len(known) < len(tests):
        return None
    expression = f" {word} ".join(f"({t})" if len(known) > 1 else t for t in known)
    try:
        parsed(expression)
    except ExpressionError:
        return None
    return Condition(kind="expression", expression=expression)
