"""Checkpoints and where they are kept. Stores know no message class: a codec is passed in."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.checkpoints.checkpoint import (
        Checkpoint,
        CheckpointInfo,
        CheckpointKind,
        Frozen,
        PendingRequest,
        QueuedMessage,
    )
    from studio.checkpoints.marks import Mark
    from studio.checkpoints.memory import MemoryStore
    from studio.checkpoints.retention import RetentionRules
    from studio.checkpoints.runs import (
        RunRecord,
        RunStore,
    )
    from studio.checkpoints.sqlite import SqliteStore
    from studio.checkpoints.store import (
        CheckpointNotFound,
        CheckpointStore,
        Codec,
        ReadOnlyStore,
        RunIsElsewhere,
        RunWentOn,
        StoreError,
        UnknownType,
        UnusableStore,
    )

_PLACES = {
    "studio.checkpoints.checkpoint": (
        "Checkpoint",
        "CheckpointInfo",
        "CheckpointKind",
        "Frozen",
        "PendingRequest",
        "QueuedMessage",
    ),
    "studio.checkpoints.marks": ("Mark",),
    "studio.checkpoints.memory": ("MemoryStore",),
    "studio.checkpoints.retention": ("RetentionRules",),
    "studio.checkpoints.runs": ("RunRecord", "RunStore"),
    "studio.checkpoints.sqlite": ("SqliteStore",),
    "studio.checkpoints.store": (
        "CheckpointNotFound",
        "CheckpointStore",
        "Codec",
        "ReadOnlyStore",
        "RunIsElsewhere",
        "RunWentOn",
        "StoreError",
        "UnknownType",
        "UnusableStore",
    ),
}
"""Modules by what they give: a script that needs little loads little."""

__all__ = [
    "Checkpoint",
    "CheckpointInfo",
    "CheckpointKind",
    "CheckpointNotFound",
    "CheckpointStore",
    "Codec",
    "Frozen",
    "Mark",
    "MemoryStore",
    "PendingRequest",
    "QueuedMessage",
    "ReadOnlyStore",
    "RetentionRules",
    "RunIsElsewhere",
    "RunRecord",
    "RunStore",
    "RunWentOn",
    "SqliteStore",
    "StoreError",
    "UnknownType",
    "UnusableStore",
]

_MODULES = {name: module for module, names in _PLACES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(module), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
