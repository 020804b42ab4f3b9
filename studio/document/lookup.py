"""Items of a document by id, worked out once for each tuple of items: documents are frozen and share their parts."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

FEW = 12
"""Up to this many items are looked through; an index would not pay."""
_KEPT = 16
_indexes: OrderedDict[int, tuple[tuple[Any, ...], dict[str, Any]]] = OrderedDict()
"""By identity of the tuple, which is kept alive with it, so that the number stays true."""


def by_id(items: tuple[Any, ...]) -> Mapping[str, Any]:
    """The items by id, the first one where an id is there twice. Shared: not to be changed."""
    found = _indexes.get(id(items))
    if found is not None and found[0] is items:
        return found[1]
    index = {item.id: item for item in reversed(items)}
    _indexes[id(items)] = (items, index)
    while len(_indexes) > _KEPT:
        try:
            _indexes.popitem(last=False)
        except KeyError:  # another thread took the last one out
            break
    return index


def with_id(items: tuple[Any, ...], item_id: str) -> Any | None:
    """The first item with this id, or None."""
    if len(items) <= FEW:
        return next((item for item in items if item.id == item_id), None)
    return by_id(items).get(item_id)
