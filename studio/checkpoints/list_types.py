"""Which types a list holds, without looking at every message of a long conversation again in every superstep."""

from __future__ import annotations

from collections.abc import Set
from itertools import islice
from typing import Any

LONG = 32
"""Items from which on a list is remembered."""
_MOST = 8
_firm: set[type] = set()
_seen: dict[int, list[Any]] = {}
"""By identity of the first item: a list of one firm type that was looked through. A list that begins with equal items
has the same types there, and only the rest is looked at. Comparing is quick: what is the same object is equal."""


def equal_means_same_type(kind: type) -> None:
    """Long lists of this class may be remembered: nothing of another class is equal to one of its objects."""
    _firm.add(kind)


def types_in(values: list[Any]) -> Set[type]:
    """The types of the items."""
    if len(values) < LONG or type(values[0]) not in _firm:
        return set(map(type, values))
    known = _seen.get(id(values[0]))
    if known is None or not _begins_alike(known, values):
        types = set(map(type, values))
        if len(types) == 1:
            _remember(values.copy())
        return types
    rest = values[len(known) :]
    types = {type(values[0]), *map(type, rest)}
    if len(types) == 1:
        known.extend(rest)
    return types


def forget() -> None:
    """Lets go of the items: a run has ended."""
    _seen.clear()


def _begins_alike(known: list[Any], values: list[Any]) -> bool:
    count = min(len(known), len(values))
    return (known if len(known) == count else known[:count]) == (values if len(values) == count else values[:count])


def _remember(values: list[Any]) -> None:
    _seen[id(values[0])] = values
    if len(_seen) > _MOST:
        del _seen[next(islice(_seen, 1))]
