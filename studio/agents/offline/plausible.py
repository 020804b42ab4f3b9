"""Answers where nobody wrote a script: clearly labelled, and of the asked form."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

LABEL = "[Offline answer]"

_DEEPEST = 8


def answer(instructions: str, message: str) -> str:
    """A text from the agent's instructions and the last message."""
    task = _first_sentence(instructions.strip(), 140)
    topic = _shortened(message.replace(LABEL, "").strip(), 160)
    follows = f"My instructions say: “{task}” " if task else ""
    about = f"I was asked: “{topic}” " if topic else ""
    return (
        f"{LABEL} {follows}{about}"
        "No language model was asked: this text was made on this machine. "
        "Write a script for this node or choose a provider to get another one."
    )


def pieces(text: str) -> tuple[str, ...]:
    """The text in words, each with the blanks after it; joined they are the text."""
    return tuple(re.findall(r"\s*\S+\s*?(?=\s|$)|\s+$", text)) if text.strip() else ((text,) if text else ())


def sample(schema: Mapping[str, Any]) -> Any:
    """A value that fits a JSON Schema of the usual kinds, the same every time."""
    return _sample(schema, schema, 0)


def _sample(schema: Mapping[str, Any], root: Mapping[str, Any], depth: int) -> Any:
    schema = _resolved(schema, root)
    for key in ("const", "default"):
        if key in schema:
            return schema[key]
    if schema.get("enum"):
        return schema["enum"][0]
    for key in ("anyOf", "oneOf", "allOf"):
        options = schema.get(key)
        if options:
            return _sample(options[0], root, depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((k for k in kind if k != "null"), "null")
    if kind == "object" or (kind is None and "properties" in schema):
        if depth > _DEEPEST:
            return {}
        return {name: _sample(inner, root, depth + 1) for name, inner in schema.get("properties", {}).items()}
    if kind == "array":
        count = max(int(schema.get("minItems", 1)), 1) if depth <= _DEEPEST else 0
        return [_sample(schema.get("items") or {}, root, depth + 1) for _ in range(count)]
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    if kind == "boolean":
        return True
    return None if kind == "null" else "offline answer"


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    reference = schema.get("$ref")
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return schema
    found: Any = root
    for step in reference[2:].split("/"):
        found = found.get(step, {}) if isinstance(found, Mapping) else {}
    return found if isinstance(found, Mapping) else {}


def _first_sentence(text: str, limit: int) -> str:
    line = text.split("\n", 1)[0]
    end = re.search(r"[.!?](?=\s|$)", line)
    return _shortened(line[: end.end()] if end else line, limit)


def _shortened(text: str, limit: int) -> str:
    text = re.sub(r"\s+", " ", text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
