"""Which outputs of a run have no promised order.

Nodes of one superstep run at once. What one invocation gives is in order, and so is what follows from the messages of
one invocation; what several invocations of a superstep give to one place arrives as they happen to end (the framework)
or in the order of delivery (the embedded engine).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from studio.engine import events as e


def unordered(events: Iterable[e.Event]) -> frozenset[tuple[int, str]]:
    """(superstep, node) where the order of outputs says nothing; supersteps are counted from 1 over all runs in it.

    That is a node that handled several messages in the superstep, of different sources or of a source that is itself
    unordered, and a sub-workflow in which several invocations were at work at once.
    """
    reading = _Reading()
    for event in events:
        reading.take(event)
    reading.end_superstep()
    return frozenset(reading.found)


class _Reading:
    def __init__(self) -> None:
        self.found: set[tuple[int, str]] = set()
        self._number = 0
        self._loose: set[str] = set()
        """Nodes whose last messages have no promised order."""
        self._sources: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        """Node -> the sources of each of its invocations in this superstep."""
        self._inner_steps: Counter[tuple[str, ...]] = Counter()
        self._at_once: dict[tuple[tuple[str, ...], int], set[tuple[str, tuple[str, ...]]]] = defaultdict(set)
        """(sub-workflow nodes around, superstep there) -> nodes with the sources they heard of."""

    def take(self, event: e.Event) -> None:
        match event:
            case e.SuperstepStarted() if event.inside:
                self._inner_steps[event.inside] += 1
            case e.SuperstepStarted():
                self.end_superstep()
                self._number += 1
            case e.NodeStarted() if event.inside:
                self._at_once[event.inside, self._inner_steps[event.inside]].add((event.node, event.sources))
            case e.NodeStarted():
                self._sources[event.node].append(event.sources)

    def end_superstep(self) -> None:
        """Decides for the nodes of the superstep, all by what their sources were before it."""
        parallel = {inside[0] for (inside, _), heard in self._at_once.items() if len(heard) > 1}
        loose = set(self._loose)
        for node, invocations in self._sources.items():
            sources = {source for several in invocations for source in several}
            mixed = len(invocations) > 1 and (len(sources) > 1 or not self._loose.isdisjoint(sources))
            if mixed or node in parallel:
                loose.add(node)
                self.found.add((self._number, node))
            else:
                loose.discard(node)
        self._loose = loose
        self._sources.clear()
        self._at_once.clear()
