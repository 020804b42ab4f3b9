"""Which commands apply in which state of the window's run, and else why not."""

from __future__ import annotations

from collections.abc import Mapping

from studio.debugger.states import ENDED, RunState

_S = RunState
_AT_WORK = (_S.PREPARING, _S.RUNNING, _S.STEPPING, _S.PAUSING)
_FREE = frozenset({_S.IDLE, _S.PAUSED, _S.WAITING}) | ENDED
_STARTS = frozenset({_S.IDLE, _S.PAUSED}) | ENDED

_APPLIES: Mapping[str, frozenset[RunState]] = {
    "run": _STARTS | {_S.PAUSING, _S.STEPPING},
    "step": _STARTS,
    "pause": frozenset({_S.PREPARING, _S.RUNNING, _S.STEPPING}),
    "stop": frozenset({*_AT_WORK, _S.PAUSED, _S.WAITING}),
    "restart": frozenset(_S) - {_S.STOPPING, _S.PREPARING},
    "restore": _FREE,
    "fork": _FREE,
    "retry": frozenset({_S.FAILED, _S.CANCELLED}),
    "resume": _FREE,
    "answer": frozenset({_S.RUNNING, _S.STEPPING, _S.PAUSING, _S.PAUSED, _S.WAITING}),
    "edit": frozenset({_S.PAUSED}),
}
_WHY: Mapping[RunState, str] = {
    _S.IDLE: "Nothing runs.",
    _S.PREPARING: "The run is being prepared.",
    _S.RUNNING: "Pause or stop the run first.",
    _S.STEPPING: "Pause or stop the run first.",
    _S.PAUSING: "The run pauses at the end of this superstep.",
    _S.PAUSED: "The run is paused.",
    _S.WAITING: "Answer the open request first, or stop the run.",
    _S.STOPPING: "The run is being stopped.",
    _S.COMPLETED: "The run has ended.",
    _S.CANCELLED: "The run has ended.",
    _S.FAILED: "The run has ended.",
}


def why_not(
    command: str, state: RunState, *, can_retry: bool, can_resume: bool, has_checkpoints: bool, has_run: bool
) -> str:
    """A sentence if the command does not apply, else "". Raises ``KeyError`` for a command that does not exist."""
    if state not in _APPLIES[command]:
        return _WHY[state]
    if command in ("restore", "fork") and not has_checkpoints:
        return "There is no checkpoint yet. Run the workflow first."
    if command == "restart" and not has_run:
        return "Nothing has run yet."
    if command == "resume" and not can_resume:
        return "The shown run was not interrupted."
    if command == "retry" and not can_retry:
        return "This run has no checkpoint to retry from."
    return ""
