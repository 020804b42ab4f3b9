"""The state machine of a run, as a table."""

from __future__ import annotations

from enum import StrEnum


class RunState(StrEnum):
    """Where a run session is."""

    IDLE = "idle"
    PREPARING = "preparing"
    RUNNING = "running"
    PAUSING = "pausing"
    PAUSED = "paused"
    STEPPING = "stepping"
    WAITING = "waiting"
    STOPPING = "stopping"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


ENDED = frozenset({RunState.COMPLETED, RunState.CANCELLED, RunState.FAILED})
