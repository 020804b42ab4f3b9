"""Processes for user code. See :class:`Worker`; ``child.py`` is what runs inside the process."""

from studio.workers.protocol import (
    AroundHost,
    CallContext,
    CallHost,
    Frame,
    Limits,
    Program,
    Unit,
    UnitKind,
    UserCodeError,
)
from studio.workers.worker import Worker, default_interpreter

__all__ = [
    "AroundHost",
    "CallContext",
    "CallHost",
    "Frame",
    "Limits",
    "Program",
    "Unit",
    "UnitKind",
    "UserCodeError",
    "Worker",
    "default_interpreter",
]
