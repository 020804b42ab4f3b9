"""Comparisons of n8n as readable rules."""

from __future__ import annotations

import json
import re
from typing import Any

from studio.importers.comparisons import condition, test
from studio.importers.draft import Rule
from studio.importers.reading import items, mapping, text

_EXPRESSION = re.compile(r"=\s*\{\{\s*(.*?)\s*\}\}\s*\Z", re.DOTALL)
_PATH = re.compile(r"\$json((?:\.[A-Za-z_]\w*|\[\"[^\"]+\"\]|\['[^']+'\])+)\Z")
_STEP = re.compile(r"\.([A-Za-z_]\w*)|\[[\"']([^\"']+)[\"']\]")


def rule(given: dict[str, Any]) -> Rule:
    """The rule of an ``if`` or of one output of a ``switch``."""
    block = mapping(given.get("conditions"))
    entries = [mapping(e) for e in items(block.get("conditions"))]
    word = text(block.get("combinator")) or "and"
    if not entries:
        entries, word = _older(given, block)
    written: list[str] = []
    tests: list[str | None] = []
    for entry in entries:
        operator = mapping(entry.get("operator"))
        operation = text(operator.get("operation")) or "equals"
        left = _shown(entry.get("leftValue"))
        right = entry.get("rightValue")
        unary = operator.get("singleValue") is True or operation in (
            "true",
            "false",
            "empty",
            "notEmpty",
            "exists",
            "notExists",
        )
        name = f"is {operation}" if operation in ("true", "false") else operation
        shown = "" if unary or right in (None, "") else f" {json.dumps(right, ensure_ascii=False)}"
        written.append(f"{left} {name}{shown}")
        where = _where(left)
        literal = not (isinstance(right, str) and right.startswith("="))
        tests.append(test(where, operation, None if unary else right) if where and literal else None)
    rule_text = f" {word} ".join(written)
    found = condition(tests, word)
    return Rule(rule_text or None, "n8n", "translated" if found else "kept", found)


def _shown(value: Any) -> str:
    found = _EXPRESSION.match(value) if isinstance(value, str) else None
    return found.group(1) if found else text(value).removeprefix("=")


def _where(left: str) -> str | None:
    """``$json.a.b`` as a field of the message."""
    found = _PATH.match(left)
    if found is None:
        return None
    return "value" + "".join(f"[{(a or b)!r}]" for a, b in _STEP.findall(found.group(1)))


def _older(given: dict[str, Any], block: dict[str, Any]) -> tuple[list[dict[str, Any]], str]:
    """``conditions: {string: [{value1, operation, value2}]}`` of the first versions."""
    entries = [
        {
            "leftValue": e.get("value1"),
            "rightValue": e.get("value2"),
            "operator": {"operation": text(e.get("operation")) or ("true" if kind == "boolean" else "equals")},
        }
        for kind, listed in block.items()
        for e in map(mapping, items(listed))
    ]
    return entries, "or" if text(given.get("combineOperation")) == "any" else "and"


def v1_conditions(given: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    """A rule of an older ``switch`` in the newer form."""
    operator = {"operation": text(entry.get("operation")) or "equals"}
    one = {"leftValue": given.get("value1"), "rightValue": entry.get("value2"), "operator": operator}
    return {"conditions": {"conditions": [one], "combinator": "and"}}
