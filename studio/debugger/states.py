"""The state machine of a run, as a table: what a command or a happening makes of a state."""

from __future__ import annotations

from collections.abc import Mapping
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
ACTIVE = frozenset(RunState) - ENDED - {RunState.IDLE}
"""A branch recorded in one of these by a program that is gone was interrupted."""
INTERRUPTED = "interrupted"
"""How a branch is shown that was active when its program ended."""
HALTED = frozenset({RunState.PAUSED, RunState.WAITING})
"""Active, but nothing runs: a person decides what comes next."""


class Command(StrEnum):
    """What a person asks of a session."""

    RUN = "run"
    STEP = "step"
    CONTINUE = "continue"
    PAUSE = "pause"
    STOP = "stop"
    ANSWER = "answer"
    RESTORE = "restore"


class Happening(StrEnum):
    """What the run itself reports."""

    PREPARED = "prepared"
    BREAKPOINT_HIT = "breakpoint hit"
    HELD = "held"
    WENT_ON = "went on"
    """While held at a breakpoint, another node of the superstep started."""
    QUESTIONS_LEFT = "questions left"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    FAILED = "failed"


class IllegalCommand(Exception):
    """A command that does not apply in the state of the session."""

    def __init__(self, trigger: Command | Happening, state: RunState) -> None:
        super().__init__(f"“{trigger}” does not apply to a run that is {state}.")
        self.trigger = trigger
        self.state = state


_S, _C, _H = RunState, Command, Happening

TRANSITIONS: Mapping[Command | Happening, Mapping[RunState, RunState]] = {
    _C.RUN: {_S.IDLE: _S.PREPARING},
    _C.STEP: {_S.IDLE: _S.PREPARING, _S.PAUSED: _S.STEPPING},
    _C.RESTORE: {_S.IDLE: _S.PAUSED},
    _C.CONTINUE: {_S.PAUSED: _S.RUNNING, _S.PAUSING: _S.RUNNING, _S.STEPPING: _S.RUNNING},
    _C.PAUSE: {_S.PREPARING: _S.PAUSING, _S.RUNNING: _S.PAUSING, _S.STEPPING: _S.PAUSING},
    _C.STOP: dict.fromkeys(ACTIVE - {_S.STOPPING}, _S.STOPPING),
    _C.ANSWER: {
        _S.WAITING: _S.RUNNING,
        **{state: state for state in (_S.RUNNING, _S.PAUSING, _S.PAUSED, _S.STEPPING)},
    },
    _H.PREPARED: {
        _S.PREPARING: _S.RUNNING,
        **{state: state for state in (_S.RUNNING, _S.PAUSING, _S.STEPPING, _S.STOPPING)},
    },
    _H.BREAKPOINT_HIT: {
        _S.RUNNING: _S.PAUSING,
        _S.STEPPING: _S.PAUSING,
        **{state: state for state in (_S.PAUSING, _S.PAUSED, _S.STOPPING)},
    },
    _H.HELD: {
        **dict.fromkeys((_S.RUNNING, _S.STEPPING, _S.PAUSING, _S.PAUSED), _S.PAUSED),
        _S.STOPPING: _S.STOPPING,
    },
    _H.WENT_ON: {
        _S.PAUSED: _S.PAUSING,
        **{state: state for state in (_S.RUNNING, _S.STEPPING, _S.PAUSING, _S.STOPPING)},
    },
    _H.QUESTIONS_LEFT: dict.fromkeys((_S.RUNNING, _S.STEPPING, _S.PAUSING, _S.PAUSED), _S.WAITING),
    _H.COMPLETED: dict.fromkeys((_S.RUNNING, _S.STEPPING, _S.PAUSING, _S.STOPPING), _S.COMPLETED),
    _H.CANCELLED: dict.fromkeys(ACTIVE, _S.CANCELLED),
    _H.FAILED: dict.fromkeys(ACTIVE, _S.FAILED),
}
"""Everything that may happen. What is not here is refused."""


def applies(trigger: Command | Happening, state: RunState) -> bool:
    """Whether the table has an entry."""
    return state in TRANSITIONS[trigger]


def after(trigger: Command | Happening, state: RunState) -> RunState:
    """The next state; raises :class:`IllegalCommand` where the table has no entry."""
    try:
        return TRANSITIONS[trigger][state]
    except KeyError:
        raise IllegalCommand(trigger, state) from None
