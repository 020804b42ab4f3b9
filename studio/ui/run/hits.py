"""Where a text stands in a lane. Looks again only at what changed while text streams in."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from typing import NamedTuple

from studio.ui.run.lane_text import LaneText


class Hit(NamedTuple):
    """Offsets into the shown text of a block; of no length: the title of a tool box."""

    block: int
    start: int
    end: int


class Hits:
    """The places of one text in one lane, in order; capital letters count as small ones."""

    def __init__(self) -> None:
        self.found: list[Hit] = []
        self.current = -1
        """Index of the one that the user is at; -1: none in this lane."""
        self._pattern: re.Pattern[str] | None = None

    @property
    def looking(self) -> bool:
        """Whether there is something to look for."""
        return self._pattern is not None

    def look_for(self, needle: str, text: LaneText) -> None:
        """Looks for another text; nothing if it is empty."""
        self._pattern = re.compile(re.escape(needle), re.IGNORECASE) if needle else None
        self.current = -1
        self.found = []
        self.look_again(text, 0)

    def look_again(self, text: LaneText, first: int) -> None:
        """The blocks from ``first`` on are new or changed."""
        if self._pattern is None:
            return
        del self.found[bisect_left(self.found, (first,)) :]
        for index in range(first, len(text.blocks)):
            block = text.blocks[index]
            if block.boxed and self._pattern.search(block.title) is not None:
                self.found.append(Hit(index, 0, 0))
            self.found += [Hit(index, m.start(), m.end()) for m in self._pattern.finditer(block.shown)]
        if self.current >= len(self.found):
            self.current = -1

    def in_block(self, index: int) -> bool:
        """Whether a block has any."""
        at = bisect_left(self.found, (index,))
        return at < len(self.found) and self.found[at].block == index

    def within(self, index: int, start: int, end: int) -> Iterator[tuple[int, int, bool]]:
        """The parts of a line that are found, and whether the user is there."""
        at = bisect_right(self.found, (index, start), key=lambda hit: (hit.block, hit.end))
        while at < len(self.found) and self.found[at].block == index and self.found[at].start < end:
            hit = self.found[at]
            yield max(start, hit.start), min(end, hit.end), at == self.current
            at += 1
