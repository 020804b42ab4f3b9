"""What is selected in a lane: from one place in the text to another."""

from __future__ import annotations

from dataclasses import dataclass

from studio.ui.run.blocks import Block
from studio.ui.run.lane_text import LaneText

Spot = tuple[int, int]
"""Index of a block, offset into its shown text."""


@dataclass(slots=True)
class Selection:
    """``anchor`` is where the mouse went down, ``head`` where it is now."""

    anchor: Spot = (0, 0)
    head: Spot = (0, 0)

    @property
    def empty(self) -> bool:
        """Nothing is selected."""
        return self.anchor == self.head

    @property
    def span(self) -> tuple[Spot, Spot]:
        """The ends, first one first."""
        return (self.anchor, self.head) if self.anchor <= self.head else (self.head, self.anchor)

    def within(self, block: int, start: int, end: int) -> tuple[int, int, bool] | None:
        """The part of a line that is selected, and whether it goes on after the line."""
        first, last = self.span
        if self.empty or block < first[0] or block > last[0]:
            return None
        left = max(start, first[1]) if block == first[0] else start
        right = min(end, last[1]) if block == last[0] else end
        if left > right or (left == right and left == end and block == last[0] and last[1] <= start):
            return None
        if block == first[0] and first[1] > end:
            return None
        return left, max(left, right), block < last[0] or last[1] > end

    def covers_block(self, block: int) -> bool:
        """Whether a folded box lies inside."""
        first, last = self.span
        return not self.empty and first[0] <= block <= last[0]

    def text(self, lane: LaneText) -> str:
        """What *Copy* takes; boxes are taken whole."""
        if self.empty:
            return ""
        first, last = self.span
        parts: list[tuple[Block, str]] = []
        for index in range(first[0], min(last[0] + 1, len(lane.blocks))):
            block = lane.blocks[index]
            if block.boxed and not block.open:
                parts.append((block, block.copied))
                continue
            shown = block.shown
            start = first[1] if index == first[0] else 0
            end = last[1] if index == last[0] else len(shown)
            marker = f"{block.marker} " if block.marker and not start else ""
            parts.append((block, marker + shown[start:end]))
        return "\n".join(part for _, part in parts)
