"""Two texts of a file as one: lines that stay, lines that go, lines that come."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Mark = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class ChangedLines:
    """``marks``: line (from 1) of ``text`` -> whether it comes or goes; ``first`` is the first of them, 0 if none."""

    text: str
    marks: dict[int, Mark]

    @property
    def first(self) -> int:
        return min(self.marks, default=0)

    @property
    def counts(self) -> tuple[int, int]:
        """How many lines come and how many go."""
        come = sum(mark == "in" for mark in self.marks.values())
        return come, len(self.marks) - come


def changed_lines(before: str, after: str) -> ChangedLines:
    """What goes stands before what comes in its place."""
    old, new = _lines(before), _lines(after)
    found: list[str] = []
    marks: dict[int, Mark] = {}

    def add(lines: list[str], mark: Mark | None) -> None:
        if mark is not None:
            marks.update(dict.fromkeys(range(len(found) + 1, len(found) + len(lines) + 1), mark))
        found.extend(lines)

    for tag, a1, a2, b1, b2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            add(old[a1:a2], None)
        else:
            add(old[a1:a2], "out")
            add(new[b1:b2], "in")
    return ChangedLines("\n".join(found), marks)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []
