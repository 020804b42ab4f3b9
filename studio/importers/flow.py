"""A sequence of steps with branches and jumps -> edges, for formats that are written as programs."""

from __future__ import annotations

from dataclasses import dataclass, field

from studio.importers.draft import Case, Draft, DraftNode
from studio.importers.structure import add_defaults, choose_start, open_barriers, separate_pairs, unreachable


@dataclass(slots=True, eq=False)
class End:
    """A way out that is not connected yet: of a node, of one case of a decision, or (``node`` None) of the start."""

    node: str | None
    case: Case | None = None
    target: str | None = None


@dataclass(slots=True)
class Flow:
    """``ends`` are the ways out of what has been read so far; none after a jump: what follows is dead code."""

    draft: Draft
    ends: list[End] = field(default_factory=lambda: [End(None)])
    _folds: list[tuple[str, End | None]] = field(default_factory=list)

    def connect(self, ends: list[End], target: str) -> None:
        """Lets ways out lead to a node."""
        for end in ends:
            if end.target is not None:
                continue
            end.target = target
            if end.node is None:
                self.draft.start = self.draft.start or target
            elif end.case is not None:
                end.case.target = target
            else:
                self.draft.direct(end.node, target)

    def step(self, node: DraftNode) -> DraftNode:
        """Adds a node behind everything that is open, and goes on from it."""
        self.draft.add(node)
        self.arrive(node.id)
        return node

    def arrive(self, node_id: str) -> None:
        """Connects everything that is open with a node that exists, and goes on from it."""
        self.connect(self.ends, node_id)
        self.ends = [End(node_id)]

    def jump(self, target: str, item: str | None = None) -> None:
        """Lets everything that is open lead to a node; an ``item`` that said so is folded into the edge."""
        if item is not None:
            self.fold(item, self.ends)
        self.connect(self.ends, target)
        self.ends = []

    def fold(self, item: str, ends: list[End]) -> None:
        """Remembers that an item became the edge of the first of these ways out; none: the item is lost."""
        self._folds.append((item, ends[0] if ends else None))

    def finish(self) -> None:
        """Defaults, folded jumps, one edge per pair, what is unreachable."""
        choose_start(self.draft)
        add_defaults(self.draft)
        for item, end in self._folds:
            if end is None:
                self.draft.lost.append(item)
                text = "This jump stands behind another one and is never reached; it was left out."
                self.draft.note("unreachable", item, text)
                continue
            target = end.case.target if end.case else end.target
            if end.node is None:
                self.draft.fold(item, "start")
            else:
                self.draft.fold(item, f"edge {end.node} -> {target}" if target else f"no outgoing edge of {end.node}")
        separate_pairs(self.draft)
        open_barriers(self.draft)
        unreachable(self.draft)
