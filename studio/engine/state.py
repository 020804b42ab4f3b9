"""Shared state: written values are visible at once, and kept when the superstep ends well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from studio.checkpoints.snapshot import copied

Rank = tuple[int, int, int]
"""Place of an invocation in the delivery order of its superstep."""


@dataclass(slots=True)
class Write:
    """The visible value of a key (``current``) and the one that will be kept (``kept``, by delivery order)."""

    current: Any
    kept: Any
    rank: Rank
    node: str
    readers: set[Rank] = field(default_factory=set)
    conflict: set[str] = field(default_factory=set)


class SharedState:
    """Values are copied on writing and on reading, so nobody changes them by accident."""

    def __init__(self, values: Mapping[str, Any] | None = None, *, by_arrival: bool = False) -> None:
        self.committed: dict[str, Any] = dict(values or {})
        self._writes: dict[str, Write] = {}
        self._by_arrival = by_arrival

    def get(self, key: str, default: Any, rank: Rank) -> Any:
        """The visible value, whoever wrote it."""
        write = self._writes.get(key)
        if write is not None:
            write.readers.add(rank)
            return copied(write.current)
        return copied(self.committed[key]) if key in self.committed else default

    def set(self, key: str, value: Any, rank: Rank, node: str) -> None:
        """Writes. Two nodes that did not see each other's value conflict: the later in delivery order is kept."""
        if key.startswith("_"):
            raise ValueError(f"Keys of shared state that start with an underscore are reserved: {key!r}")
        value = copied(value)
        write = self._writes.get(key)
        if write is None:
            self._writes[key] = Write(value, value, rank, node)
            return
        write.current = value
        blind = write.rank != rank and rank not in write.readers
        if blind:
            write.conflict.update((write.node, node))
        if not blind or self._by_arrival or rank > write.rank:
            write.kept, write.rank, write.node = value, rank, node
        write.readers.clear()

    def pending(self, key: str) -> Write | None:
        """A copy of what is written to the key but not committed, for :meth:`withdraw`."""
        write = self._writes.get(key)
        return write and replace(write, readers=set(write.readers), conflict=set(write.conflict))

    def withdraw(self, key: str, rank: Rank, before: Write | None) -> None:
        """Undoes what the invocation wrote to the key, unless another wrote it since."""
        write = self._writes.get(key)
        if write is None or write.rank != rank:
            return
        if before is None:
            del self._writes[key]
        else:
            self._writes[key] = before

    @property
    def written(self) -> bool:
        """Whether anything was written since the last commit."""
        return bool(self._writes)

    def commit(self) -> list[tuple[str, tuple[str, ...]]]:
        """Keeps what was written; gives the keys in conflict and the nodes that wrote them."""
        conflicts = []
        for key, write in self._writes.items():
            self.committed[key] = write.kept
            if len(write.conflict) > 1:
                conflicts.append((key, tuple(sorted(write.conflict))))
        self._writes.clear()
        return conflicts

    def discard(self) -> None:
        """Drops what was written since the last commit."""
        self._writes.clear()

    def replace(self, values: Mapping[str, Any]) -> None:
        """Another state altogether (restore)."""
        self.committed = dict(values)
        self._writes.clear()
