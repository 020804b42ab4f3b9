"""What was written to shared state, superstep by superstep: its values at any moment and what differs between two."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_DEEPEST = 8
_KEPT = 2000
"""Values of one key that are remembered, the newest ones and the first."""


class Absent:
    """There is no such key or item; the only one is :data:`ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()


@dataclass(frozen=True, slots=True)
class Written:
    """A key got a value. ``step`` is the place of the superstep in the list of supersteps, from 1 on, 0: before the
    first; ``superstep`` its number; ``node`` who wrote it, "" : it was there, or a person changed it. ``value`` may be
    :data:`ABSENT`: the key was taken away."""

    step: int
    superstep: int
    node: str
    value: Any


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not the same at two moments. ``path`` begins with the key."""

    path: tuple[str, ...]
    before: Any
    after: Any


class StateHistory:
    """Every value that every key had, in the order they were written."""

    def __init__(self, initial: Mapping[str, Any] | None = None) -> None:
        self._writes: dict[str, list[Written]] = {}
        for key, value in (initial or {}).items():
            self.write(key, Written(0, 0, "", value))

    def write(self, key: str, written: Written) -> None:
        """The next value of a key."""
        writes = self._writes.setdefault(key, [])
        writes.append(written)
        if len(writes) > _KEPT + _KEPT // 10:
            del writes[1 : len(writes) - _KEPT]

    def replace(self, step: int, superstep: int, state: Mapping[str, Any]) -> None:
        """Another state took the place of the one that was written: what differs was changed by a person, or belongs to
        a superstep that was given up."""
        now = self.at(step)
        for key, value in state.items():
            if key not in now or now[key] != value:
                self.write(key, Written(step, superstep, "", value))
        for key in now.keys() - state.keys():
            self.write(key, Written(step, superstep, "", ABSENT))

    def of(self, key: str) -> Sequence[Written]:
        """The values of a key, oldest first."""
        return self._writes.get(key, ())

    def at(self, step: int) -> dict[str, Any]:
        """The state after a superstep, by its place in the list; 0: before the first one."""
        found: dict[str, Any] = {}
        for key, writes in self._writes.items():
            at = bisect_right(writes, step, key=lambda written: written.step)
            if at and writes[at - 1].value is not ABSENT:
                found[key] = writes[at - 1].value
        return found


def differences(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Difference]:
    """What differs between two states, as deep inside values as both have the same shape."""
    found: list[Difference] = []
    _compare((), before, after, found)
    return found


def _compare(path: tuple[str, ...], before: Any, after: Any, found: list[Difference]) -> None:
    if before is after or (type(before) is type(after) and before == after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping) and len(path) < _DEEPEST:
        for key in dict.fromkeys((*before, *after)):
            _compare((*path, str(key)), before.get(key, ABSENT), after.get(key, ABSENT), found)
    elif _listed(before) and _listed(after) and len(path) < _DEEPEST:
        for at in range(max(len(before), len(after))):
            one = before[at] if at < len(before) else ABSENT
            other = after[at] if at < len(after) else ABSENT
            _compare((*path, str(at)), one, other, found)
    else:
        found.append(Difference(path, before, after))


def _listed(value: object) -> bool:
    return isinstance(value, list | tuple)
