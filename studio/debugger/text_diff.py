"""Two texts word by word: what only one of them has."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_MANY = 3000
"""Words from which whole lines are compared first: comparing words is quadratic."""


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text. ``only``: the other text has it not."""

    text: str
    only: bool = False


def word_diff(a: str, b: str) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Both texts as stretches that are joined the texts again."""
    if a == b:
        return _whole(a), _whole(b)
    words = _TOKEN.findall(a), _TOKEN.findall(b)
    if max(map(len, words)) > _MANY:
        return _by_lines(_LINE.findall(a), _LINE.findall(b))
    return _spans(*words)


def _whole(text: str) -> tuple[Span, ...]:
    return (Span(text),) if text else ()


def _by_lines(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    """Lines that differ are compared word by word if they are short enough, else shown as they are."""
    left: list[Span] = []
    right: list[Span] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        one, other = "".join(a[a0:a1]), "".join(b[b0:b1])
        if tag == "equal":
            left.append(Span(one))
            right.append(Span(other))
            continue
        words = _TOKEN.findall(one), _TOKEN.findall(other)
        if max(map(len, words)) <= _MANY:
            spans = _spans(*words)
            left += spans[0]
            right += spans[1]
        else:
            left.append(Span(one, only=True))
            right.append(Span(other, only=True))
    return _joined(left), _joined(right)


def _spans(a: Sequence[str], b: Sequence[str]) -> tuple[tuple[Span, ...], tuple[Span, ...]]:
    left: list[Span] = []
    right: list[Span] = []
    for tag, a0, a1, b0, b1 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        same = tag == "equal" or (tag == "replace" and "".join((*a[a0:a1], *b[b0:b1])).isspace())
        left.append(Span("".join(a[a0:a1]), not same))
        right.append(Span("".join(b[b0:b1]), not same))
    return _joined(left), _joined(right)


def _joined(spans: Sequence[Span]) -> tuple[Span, ...]:
    """Neighbours of one kind become one; a lone space between two that differ belongs to them."""
    kept = [span for span in spans if span.text]
    found: list[Span] = []
    for at, span in enumerate(kept):
        between = 0 < at < len(kept) - 1 and kept[at - 1].only and kept[at + 1].only
        only = span.only or (between and span.text.isspace() and "\n" not in span.text)
        if found and found[-1].only == only:
            found[-1] = Span(found[-1].text + span.text, only)
        else:
            found.append(Span(span.text, only))
    return tuple(found)
