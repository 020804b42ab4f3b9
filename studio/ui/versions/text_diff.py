"""Two texts as one: what stayed, what was taken out, what was put in; by words, of long texts by lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape
from typing import Literal

from studio.document.difference import FieldChange
from studio.ui.theme.tokens import Tokens
from studio.ui.versions.words import field_name, value_words

Kind = Literal["same", "out", "in"]
MOST_WORDS = 1500
"""Texts with more words are compared by lines: finding the words would take longer than a frame."""
MOST_SHOWN = 40_000
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


def stretches(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    """The texts in order; joining ``same`` and ``out`` gives ``before``, ``same`` and ``in`` gives ``after``."""
    a, b = _WORDS.findall(before), _WORDS.findall(after)
    if max(len(a), len(b)) > MOST_WORDS:
        a, b = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = SequenceMatcher(None, a, b, autojunk=len(a) + len(b) > 4000)
    for tag, a1, a2, b1, b2 in matcher.get_opcodes():
        if tag == "equal":
            yield "same", "".join(a[a1:a2])
        else:
            if a2 > a1:
                yield "out", "".join(a[a1:a2])
            if b2 > b1:
                yield "in", "".join(b[b1:b2])


def as_html(fields: tuple[FieldChange, ...], tokens: Tokens) -> str:
    """All fields of a change, each under its name, with what differs tinted, underlined or struck through."""
    styles = {
        "same": "",
        "out": f"background:{tokens.deleted};text-decoration:line-through",
        "in": f"background:{tokens.inserted};text-decoration:underline",
    }
    parts = []
    for field in fields:
        parts.append(f'<p style="color:{tokens.muted};margin:6px 0 2px 0">{escape(field_name(field.field))}</p>')
        before, after = (value_words(field.field, text)[:MOST_SHOWN] for text in (field.before, field.after))
        spans = [f'<span style="{styles[kind]}">{escape(text)}</span>' for kind, text in stretches(before, after)]
        parts.append(f'<p style="white-space:pre-wrap;margin:0">{"".join(spans)}</p>')
    return "".join(parts)
