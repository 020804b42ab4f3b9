"""What the compare view shows, line by line: rows of a comparison, folded or not, and their texts. No Qt."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from studio.debugger.run_comparison import Detail, Row

LONGEST = 3000
"""Characters of a text that are shown; *Show all* opens the rest."""


@dataclass(frozen=True, slots=True)
class ShownLine:
    """A row, or one of its texts. ``depth``: how often it is inside a folded row; ``number``: place of its row."""

    row: Row
    path: tuple[int, ...]
    detail: Detail | None = None
    depth: int = 0
    open: bool = False


def shown_lines(rows: Sequence[Row], *, only_different: bool, opened: Collection[tuple[int, ...]]) -> list[ShownLine]:
    """The lines in order. A row that differs shows its texts unless it is in ``opened`` (toggled); one that is the same
    or folded shows them only if it is."""
    found: list[ShownLine] = []
    for at, row in enumerate(rows):
        _add(found, row, (at,), 0, only_different, opened)
    return found


def _add(
    found: list[ShownLine],
    row: Row,
    path: tuple[int, ...],
    depth: int,
    only_different: bool,
    opened: Collection[tuple[int, ...]],
) -> None:
    if only_different and row.kind == "same":
        return
    toggled = path in opened
    is_open = toggled if row.children or row.kind != "different" else not toggled
    found.append(ShownLine(row, path, None, depth, is_open))
    if not is_open:
        return
    found += [ShownLine(row, path, detail, depth) for detail in row.details]
    for at, child in enumerate(row.children):
        _add(found, child, (*path, at), depth + 1, False, opened)


def shortened(text: str) -> str:
    """A text as it is shown."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} …"


def counts(rows: Sequence[Row]) -> tuple[int, int]:
    """How many rows differ, and how many there are."""
    return sum(row.differs for row in rows), len(rows)
