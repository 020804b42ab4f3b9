"""Copies of values: containers are copied, immutable things are shared."""

from __future__ import annotations

import copy
from typing import Any

from studio.checkpoints.list_types import types_in

_ATOMS = frozenset({str, int, float, bool, type(None), bytes, complex, type(Ellipsis)})
_shared: dict[type, bool] = {}


def _is_shared(kind: type) -> bool:
    """Frozen dataclasses and enums are shared by reference; anything else is copied deeply."""
    parameters = getattr(kind, "__dataclass_params__", None)
    shared = bool(parameters is not None and parameters.frozen) or kind in (type, tuple, frozenset)
    _shared[kind] = shared
    return shared


def _is_known_shared(kind: type) -> bool:
    return kind in _ATOMS or _shared.get(kind, False)


def copied(value: Any) -> Any:
    """``value`` with its lists and dicts copied at every level. Values that cannot change are returned as they are."""
    kind = type(value)
    if kind in _ATOMS:
        return value
    if kind is dict:
        return {key: copied(item) for key, item in value.items()}
    if kind is list:
        if len(value) > 4 and all(map(_is_known_shared, types_in(value))):
            return value.copy()
        return [copied(item) for item in value]
    shared = _shared.get(kind)
    if shared is None:
        shared = _is_shared(kind)
    return value if shared else copy.deepcopy(value)
