"""Items of a document by id, worked out once for each tuple of items: documents are frozen and share their parts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Generic, TypeVar

FEW = 12
"""Up to this many items are looked through; an index would not pay."""
T = TypeVar("T")


class Kept(Generic[T]):
    """What a function makes of a tuple, kept for the tuples that were asked about last. Tuples are known by identity:
    each is kept alive with what was made of it, so that its number stays true."""

    def __init__(self, make: Callable[[tuple[Any, ...]], T], most: int = 8) -> None:
        self._make = make
        self._most = most
        self._found: OrderedDict[int, tuple[tuple[Any, ...], T]] = OrderedDict()

    def of(self, items: tuple[Any, ...]) -> T:
        """What the function made of these, or makes now."""
        found = self._found.get(id(items))
        if found is not None and found[0] is items:
            return found[1]
        made = self._make(items)
        self._found[id(items)] = (items, made)
        while len(self._found) > self._most:
            with suppress(KeyError):  # another thread may have taken the last one out
                self._found.popitem(last=False)
        return made


class KeptEach(Generic[T]):
    """What a function makes of each item of a tuple, one after the other. After a change most items are the same
    objects as before: only the others are asked about again."""

    def __init__(self, make: Callable[[Any], tuple[T, ...]]) -> None:
        self._make = make
        self._last: dict[int, tuple[Any, tuple[T, ...]]] = {}
        self._whole: Kept[tuple[T, ...]] = Kept(self._made)

    def of(self, items: tuple[Any, ...]) -> tuple[T, ...]:
        """Of all items, in their order."""
        return self._whole.of(items)

    def _made(self, items: tuple[Any, ...]) -> tuple[T, ...]:
        before, now = self._last, {}
        found: list[T] = []
        for item in items:
            known = before.get(id(item))
            if known is None or known[0] is not item:
                known = (item, self._make(item))
            now[id(item)] = known
            found += known[1]
        self._last = now
        return tuple(found)


def _indexed(items: tuple[Any, ...]) -> Mapping[str, Any]:
    return {item.id: item for item in reversed(items)}


_indexes = Kept(_indexed, 16)


def by_id(items: tuple[Any, ...]) -> Mapping[str, Any]:
    """The items by id, the first one where an id is there twice. Shared: not to be changed."""
    return _indexes.of(items)


def with_id(items: tuple[Any, ...], item_id: str) -> Any | None:
    """The first item with this id, or None."""
    if len(items) <= FEW:
        return next((item for item in items if item.id == item_id), None)
    return by_id(items).get(item_id)
