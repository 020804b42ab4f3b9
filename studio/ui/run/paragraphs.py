"""Cuts an answer into paragraphs and fenced code while it streams: each character is looked at once."""

from __future__ import annotations

import re
from dataclasses import dataclass

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})([^`\n]*)$")
_MOST = 2500
"""Characters after which a paragraph without an empty line is cut at the end of a line, so that no piece of work grows
with the answer."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A finished one, as it was written; fences are left out."""

    text: str
    code: bool = False


class Paragraphs:
    """``start`` is where the unfinished paragraph begins, ``code`` whether a fence is open around it."""

    def __init__(self) -> None:
        self.start = 0
        self._read = 0
        """End of the last whole line."""
        self._fence = ""

    @property
    def code(self) -> bool:
        """Whether what is unfinished stands in a fence."""
        return bool(self._fence)

    def feed(self, text: str) -> list[Paragraph]:
        """Takes all the text so far; gives the paragraphs that it finished."""
        found: list[Paragraph] = []
        while (end := text.find("\n", self._read)) >= 0:
            line, begin = text[self._read : end], self._read
            self._read = end + 1
            if self._fence:
                if _closes(line, self._fence):
                    found.append(Paragraph(text[self.start : begin].rstrip("\n"), code=True))
                    self._fence, self.start = "", self._read
                elif self._read - self.start > _MOST:
                    found.append(Paragraph(text[self.start : end], code=True))
                    self.start = self._read
                continue
            fence = _FENCE.match(line)
            blank = not line.strip()
            if fence is not None or blank or self._read - self.start > _MOST:
                before = text[self.start : begin if fence is not None else end].rstrip()
                if before:
                    found.append(Paragraph(before))
                self.start = self._read
            if fence is not None:
                self._fence = fence[1]
        return found

    def end(self, text: str) -> list[Paragraph]:
        """Nothing follows: what is unfinished is finished as it is."""
        found = self.feed(text)
        rest = text[self.start :]
        last = rest.rpartition("\n")
        if self._fence and _closes(last[2], self._fence):
            rest = last[0]
        if rest.strip():
            found.append(Paragraph(rest.rstrip() if not self._fence else rest.rstrip("\n"), code=bool(self._fence)))
        self.start = self._read = len(text)
        self._fence = ""
        return found


def _closes(line: str, fence: str) -> bool:
    marks = line.strip()
    return len(marks) >= len(fence) and not marks.strip(fence[0])
