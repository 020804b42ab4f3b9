"""Checkpoints and where they are kept. Stores know no message class: a codec is passed in."""

from studio.checkpoints.checkpoint import (
    Checkpoint,
    CheckpointInfo,
    CheckpointKind,
    Frozen,
    PendingRequest,
    QueuedMessage,
)
from studio.checkpoints.memory import MemoryStore
from studio.checkpoints.runs import RunRecord, RunStore
from studio.checkpoints.sqlite import SqliteStore
from studio.checkpoints.store import CheckpointNotFound, CheckpointStore, Codec, StoreError, UnknownType

__all__ = [
    "Checkpoint",
    "CheckpointInfo",
    "CheckpointKind",
    "CheckpointNotFound",
    "CheckpointStore",
    "Codec",
    "Frozen",
    "MemoryStore",
    "PendingRequest",
    "QueuedMessage",
    "RunRecord",
    "RunStore",
    "SqliteStore",
    "StoreError",
    "UnknownType",
]
