"""Rows and bars of the invocation chart, as data. No Qt."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from studio.bridge.run_views import InvocationView

Path = tuple[str, ...]


@dataclass(slots=True)
class Row:
    """A node: its bars stand in the order of their beginnings and do not overlap, as a node handles one message at a
    time. ``starts`` are those beginnings, to search in."""

    path: Path
    name: str
    bars: list[InvocationView] = field(default_factory=list)
    starts: list[float] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """How many sub-workflows are around it."""
        return len(self.path) - 1


class Plan:
    """Grows with the run. ``name_of``: what people call the node at a path."""

    def __init__(self, name_of: Callable[[Path], str] = lambda path: path[-1]) -> None:
        self._name_of = name_of
        self._by_path: dict[Path, Row] = {}
        self._places: dict[Path, int] = {}
        self.rows: list[Row] = []
        """From top to bottom; inner nodes directly below their sub-workflow node."""
        self.steps: list[tuple[float, int]] = []
        """When supersteps began, and their numbers."""
        self.end = 0.0
        """Seconds of the latest thing that is known."""
        self.failed: list[InvocationView] = []

    def take(self, views: Iterable[InvocationView], known: set[str]) -> None:
        """Takes invocations that are new or changed; ``known`` are those that were taken before, and grows."""
        changed = False
        for view in views:
            self.end = max(self.end, view.ended if view.ended is not None else view.started)
            if view.status == "failed" and not any(view is one for one in self.failed[-8:]):
                self.failed.append(view)
            if view.invocation in known:
                continue
            known.add(view.invocation)
            changed |= self._add(view)
        if changed:
            self.rows = self._ordered()
            self._places = {row.path: at for at, row in enumerate(self.rows)}

    def row_of(self, view: InvocationView) -> Row | None:
        """The row that an invocation stands in."""
        return self._by_path.get((*view.inside, view.node))

    def place_of(self, row: Row) -> int:
        """Which row from the top it is."""
        return self._places[row.path]

    def _add(self, view: InvocationView) -> bool:
        path = (*view.inside, view.node)
        row = self._by_path.get(path)
        fresh = row is None
        if row is None:
            row = self._by_path[path] = Row(path, self._name_of(path))
        at = (
            len(row.starts)
            if not row.starts or row.starts[-1] <= view.started
            else bisect_right(row.starts, view.started)
        )
        row.starts.insert(at, view.started)
        row.bars.insert(at, view)
        if not view.inside and (not self.steps or self.steps[-1][1] != view.superstep):
            self.steps.append((view.started, view.superstep))
        return fresh

    def _ordered(self) -> list[Row]:
        """Parents before their children, else in the order in which they first ran."""
        children: dict[Path, list[Row]] = {}
        for path, row in self._by_path.items():
            children.setdefault(path[:-1], []).append(row)
        found: list[Row] = []

        def add(parent: Path) -> None:
            for row in children.get(parent, ()):
                found.append(row)
                add(row.path)

        add(())
        seen = {row.path for row in found}
        return found + [row for row in self._by_path.values() if row.path not in seen]

    def visible(self, row: Row, start: float, end: float) -> Sequence[InvocationView]:
        """The bars of a row that lie in a stretch of time; one that began before it may reach into it."""
        first = max(0, bisect_right(row.starts, start) - 1)
        return row.bars[first : bisect_left(row.starts, end)]

    def pinned(self, top: int) -> list[Row]:
        """The parents of the row at the top, outermost first, that are scrolled out of sight themselves."""
        if not 0 <= top < len(self.rows):
            return []
        path = self.rows[top].path
        parents = (path[:depth] for depth in range(1, len(path)))
        return [self._by_path[parent] for parent in parents if self._places.get(parent, top) < top]

    def at(self, row: Row, moment: float, near: float) -> InvocationView | None:
        """The bar at a moment, or one that is at most ``near`` seconds away."""
        found = [v for v in self.visible(row, moment - near, moment + near) if self._end(v) >= moment - near]
        return min(found, key=lambda v: max(v.started - moment, moment - self._end(v), 0.0), default=None)

    def next_error(self, after: InvocationView | None, by: int) -> InvocationView | None:
        """The next (1) or previous (-1) invocation that failed, from the chosen one on, around the end."""
        failed = sorted(self.failed, key=lambda v: v.started)
        if not failed:
            return None
        at = next((i for i, view in enumerate(failed) if view is after), None)
        if at is not None:
            return failed[(at + by) % len(failed)]
        if after is None:
            return failed[0] if by > 0 else failed[-1]
        later = [view for view in failed if (view.started - after.started) * by > 0]
        return (later[0] if by > 0 else later[-1]) if later else failed[0 if by > 0 else -1]

    def _end(self, view: InvocationView) -> float:
        return view.ended if view.ended is not None else self.end


def ticks(start: float, end: float, most: int) -> list[float]:
    """Round times for a ruler: at most ``most`` of them, 1, 2 or 5 times a power of ten apart."""
    span = end - start
    if span <= 0 or most < 1:
        return []
    step = 10.0**-4
    for power in range(-4, 7):
        for factor in (1, 2, 5):
            step = factor * 10.0**power
            if span / step <= most:
                first = int(start / step) + (1 if start > 0 else 0)
                return [n * step for n in range(first, int(end / step) + 1)]
    return [start]
