"""Processes for user code. See :class:`Worker`; ``child.py`` is what runs inside the process."""

from studio.workers.protocol import CallContext, CallHost, Frame, Limits, Program, Unit, UnitKind, UserCodeError
from studio.workers.worker import Worker, default_interpreter

__all__ = [
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
