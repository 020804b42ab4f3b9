"""The fields of texts with braces: template nodes and questions to people.

A field is ``{text}`` (``{input}`` is the same), ``{value}``, ``{value.path}`` or ``{state.key}``. What is in braces and
is no such name, as in JSON, stays as it is written. The filling itself is in ``studio.assembly.texts``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

FIELDS = ("{text}", "{input}", "{value.path}", "{state.key}")
_FIELD = re.compile(r"\{([A-Za-z_][\w.]*)\}")


def fields(text: str) -> Iterator[str]:
    """The names in braces, in order, known or not: ``text``, ``value.score`` ..."""
    yield from (found.group(1) for found in _FIELD.finditer(text))


def is_known(name: str) -> bool:
    """Whether something fills this field."""
    root, dot, rest = name.partition(".")
    return (root in ("text", "input") and not dot) or root == "value" or (root == "state" and bool(rest))
