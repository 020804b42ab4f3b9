"""Finding the recorded answer of a call."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Literal

from studio.agents.cassettes.cassette import CallEntry, Cassette, Difference

Policy = Literal["strict", "by position", "new"]
"""By what is asked, each answer once; by node and number of the call; as strict, and what is missing is recorded."""


@dataclass(slots=True)
class Tape:
    """The place in a cassette while it is replayed."""

    cassette: Cassette
    policy: Policy = "strict"
    _used: set[int] = field(default_factory=set, init=False)
    _counts: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int), init=False)

    def next_index(self, node: str) -> int:
        """Number of the node's next call."""
        self._counts[node] += 1
        return self._counts[node]

    def find(self, key: str, node: str, index: int, request: Any) -> CallEntry | None:
        """The recorded call; None if there is none (left)."""
        for number, entry in enumerate(self.cassette.calls):
            if number in self._used:
                continue
            if self.policy == "by position":
                if (entry.node, entry.call_index) != (node, index):
                    continue
                if entry.key != key:
                    self.cassette.differences.append(Difference(node, index, entry.request, request))
            elif entry.key != key:
                continue
            self._used.add(number)
            return entry
        return None

    def missing(self, node: str, index: int) -> str:
        """Why there is no answer, for people."""
        whose = f"of {node}" if node else "of this run"
        full = " The cassette was full when it was recorded." if self.cassette.full else ""
        return f"Call {index} {whose} was never recorded; record the run again.{full}"
