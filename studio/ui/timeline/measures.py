"""Where columns and rows of the timeline are, in pixels."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Measures:
    """``band`` is the height of the fixed band of headings, ``label`` their baseline; ``above`` and ``below`` are what
    a row takes around its line; ``leg`` is where a fork leaves its parent's row, ``shift`` where an edit stands."""

    left: int
    pitch: int
    top: int
    row: int
    label: int
    band: int
    above: int
    below: int
    leg: int
    shift: int = 42

    def beside(self, *, splits: bool) -> int:
        """How far right of the last checkpoint of a branch its ending is written: behind the forks that leave there."""
        return self.leg + 8 if splits else 20

    def rows_hidden(self, rows: int, height: int) -> int:
        """How many rows must go under the band so that the last one is whole."""
        missing = self.top + (rows - 1) * self.row + self.below - height
        return min(max(0, -(-missing // self.row)), max(0, rows - 1))


STRIP = Measures(96, 124, 38, 38, 15, 22, 16, 22, 34)
TREE = Measures(150, 88, 64, 76, 17, 26, 38, 42, 30)
