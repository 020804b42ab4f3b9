"""What a lane is made of: blocks of text in one look each, with stretches of another face inside."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

Kind = Literal["text", "code", "reasoning", "tool", "result", "print", "error", "note"]
MONO = frozenset({"code", "tool", "print"})
"""Kinds in the code font."""
INSET_KINDS = frozenset({"code", "tool", "print", "error"})
"""Kinds that stand on a ground or in a box, a little in from the edge."""


class Face(NamedTuple):
    """How a stretch of text looks."""

    bold: bool = False
    italic: bool = False
    code: bool = False
    struck: bool = False
    link: bool = False


PLAIN = Face()


class Span(NamedTuple):
    """A stretch of a block that is not plain: offsets into the shown text."""

    start: int
    end: int
    face: Face


@dataclass(slots=True)
class Block:
    """One piece of a lane. ``lines`` are (start, end) offsets into :attr:`shown`, without the line break."""

    kind: Kind
    text: str = ""
    title: str = ""
    key: str = ""
    result: str | None = None
    """For a tool: what it gave."""
    failed: bool = False
    open: bool = False
    spans: tuple[Span, ...] = ()
    """In order, without overlap."""
    marker: str = ""
    """Bullet or number in front of a list item; it hangs in the indent."""
    indent: int = 0
    """How deep a list item stands."""
    quoted: int = 0
    """How many quotes are around it."""
    heading: int = 0
    """Level of a heading; 0: none."""
    gap: int = 0
    """Room below, in pixels."""
    lines: list[tuple[int, int]] = field(default_factory=list)
    top: int = 0
    height: int = 0

    @property
    def boxed(self) -> bool:
        """Whether it is drawn as a box that can be opened."""
        return self.kind == "tool"

    @property
    def shown(self) -> str:
        """The text that lines refer to: of an open box, arguments and result."""
        if not self.boxed:
            return self.text
        return f"{self.text}\n→ {self.result}" if self.result is not None else self.text

    @property
    def copied(self) -> str:
        """The text that *Copy* takes."""
        if not self.boxed:
            return f"{self.marker} {self.text}" if self.marker else self.text
        return f"{self.title}({self.text})" + (f" → {self.result}" if self.result is not None else "")

    def stretches(self, start: int, end: int) -> Sequence[Span]:
        """The part from ``start`` to ``end`` cut where the face changes."""
        if not self.spans:
            return (Span(start, end, PLAIN),)
        cut: list[Span] = []
        at = start
        for span in self.spans:
            left, right = max(at, span.start), min(end, span.end)
            if left >= right:
                continue
            if left > at:
                cut.append(Span(at, left, PLAIN))
            cut.append(Span(left, right, span.face))
            at = right
        if at < end:
            cut.append(Span(at, end, PLAIN))
        return cut
