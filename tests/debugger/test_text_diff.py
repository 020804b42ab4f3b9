"""Word by word: what only one text has."""

from __future__ import annotations

import pytest
from studio.debugger.text_diff import Span, word_diff


def _marked(spans: tuple[Span, ...]) -> str:
    return "".join(f"[{s.text}]" if s.only else s.text for s in spans)


@pytest.mark.parametrize(
    ("a", "b", "left", "right"),
    [
        ("", "", "", ""),
        ("same text", "same text", "same text", "same text"),
        ("in use today.", "in use, with cost.", "in use [today].", "in use[, with cost]."),
        ("one two three", "one 2 three", "one [two] three", "one [2] three"),
        ("alpha beta gamma", "other words here", "[alpha beta gamma]", "[other words here]"),
        ("", "new", "", "[new]"),
        ("a b", "a  b", "a b", "a  b"),
        ("line one\nline two\n", "line one\nline 2\n", "line one\nline [two]\n", "line one\nline [2]\n"),
    ],
)
def test_what_only_one_has_is_marked(a: str, b: str, left: str, right: str) -> None:
    assert tuple(map(_marked, word_diff(a, b))) == (left, right)


def test_long_texts_are_compared_by_lines_first_and_stay_whole() -> None:
    a = "".join(f"line {n} has some words\n" for n in range(4000))
    b = a.replace("line 2000 has", "line 2000 had")
    left, right = word_diff(a, b)
    assert ("".join(s.text for s in left), "".join(s.text for s in right)) == (a, b)
    assert [s.text for s in left if s.only] == ["has"]
    assert [s.text for s in right if s.only] == ["had"]
