"""Texts with fields in braces, for template nodes and questions to people.

A field is ``{text}``, ``{input}`` (the same), ``{type}``, ``{value}``, ``{value.path}`` or ``{state.key}``. Braces
around anything that is not a name, as in JSON, are text; ``{{text}}`` writes ``{text}``.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from studio.document.conditions import Scope, look_up

ROOTS = ("text", "input", "type", "value", "state")
_FIELD = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*(?:\.\w+)*)\}")


def fields(text: str) -> Iterator[str]:
    """The names of the fields in a template, in order."""
    yield from (name for name in (found.group(1) for found in _FIELD.finditer(text)) if name)


def fill(text: str, scope: Scope) -> str:
    """The template with its fields filled. A missing value gives nothing; an unknown field stays as it is written."""

    def filled(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            return found.group(0)[0]
        root = name.split(".")[0]
        if root not in ROOTS:
            return found.group(0)
        return in_text(look_up(f"text{name[len('input') :]}" if root == "input" else name, scope))

    return _FIELD.sub(filled, text)


def in_text(value: object) -> str:
    """A value in a text: texts as they are, None as nothing, anything else as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
