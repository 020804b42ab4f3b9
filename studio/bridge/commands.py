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
    "apply": frozenset({_S.PAUSED, _S.WAITING}),
    "step_node": frozenset({_S.PAUSED, _S.IDLE}) | ENDED,
    "run_to": _STARTS,
    "run_from": _FREE,
    "replay": _FREE,
    "step_back": _FREE,
    "step_forward": _FREE,
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
    command: str,
    state: RunState,
    *,
    can_retry: bool,
    can_resume: bool,
    has_checkpoints: bool,
    has_run: bool,
    holds_failure: bool = False,
    has_before: bool = False,
    has_after: bool = False,
    differs: bool = False,
) -> str:
    """A sentence if the command does not apply, else "". Raises ``KeyError`` for a command that does not exist."""
    if command == "retry" and holds_failure:
        return ""
    if state not in _APPLIES[command]:
        return _WHY[state]
    lacks = {
        "restore": (has_checkpoints, "There is no checkpoint yet. Run the workflow first."),
        "fork": (has_checkpoints, "There is no checkpoint yet. Run the workflow first."),
        "run_from": (has_checkpoints, "Nothing has run yet: there are no inputs to start from."),
        "replay": (has_checkpoints, "Nothing was recorded yet. Run the workflow first."),
        "restart": (has_run, "Nothing has run yet."),
        "resume": (can_resume, "The shown run was not interrupted."),
        "retry": (can_retry, "This run has no checkpoint to retry from."),
        "step_back": (has_before, "There is no earlier superstep to show."),
        "step_forward": (has_after, "This is the last superstep that was recorded."),
        "apply": (differs, "The drawing is as the run has it."),
    }
    there, reason = lacks.get(command, (True, ""))
    return "" if there else reason
