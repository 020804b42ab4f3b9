"""Sentences about a run: where it is, and why it failed with the way out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from studio.agents.errors import ErrorKind, ProviderError
from studio.checkpoints import ReadOnlyStore, RunIsElsewhere, RunWentOn, StoreError
from studio.debugger.states import RunState
from studio.engine.errors import ConvergenceError, ResumeError, RunRejected, WorkflowError
from studio.workers import UserCodeError

_RETRY = "then retry from the last checkpoint"
_PROVIDER_WAYS: Mapping[ErrorKind, str] = {
    "unreachable": f"Check the address in the profile and the network, {_RETRY}.",
    "tls": f"Check the address and the certificates of the profile, {_RETRY}.",
    "timeout": "Retry from the last checkpoint, or allow more time in the profile.",
    "stalled": "Retry from the last checkpoint.",
    "cut_off": "Retry from the last checkpoint.",
    "bad_key": f"Check the key of the profile, {_RETRY}.",
    "no_permission": f"Use a key that may do this or another model, {_RETRY}.",
    "no_credit": f"Add credit at the provider, {_RETRY}.",
    "no_such_model": f"Choose another model in the inspector, {_RETRY}.",
    "context_too_long": f"Shorten the instructions or pass on less of the conversation, {_RETRY}.",
    "unsupported_parameter": f"Clear that setting in the inspector, {_RETRY}.",
    "content_filter": f"Change the prompt, {_RETRY}.",
    "rate_limited": "Wait a moment, then retry from the last checkpoint.",
    "overloaded": "Wait a moment, then retry from the last checkpoint.",
}
_ANY_WAY = "Retry from the last checkpoint."

NameOf = Callable[[str], str]


def failure_sentences(error: BaseException, node: str | None, name_of: NameOf) -> str:
    """What failed, why, and what a person can do; ``node`` is the id of the node that failed, if one did."""
    from studio.assembly import PlanError  # here: what makes plans is not needed to show a window

    if isinstance(error, PlanError):
        return error.problems[0].message
    if isinstance(error, ResumeError):
        return f"{_ended(str(error))} Map its nodes, undo the changes of the graph, or start a new run."
    if isinstance(error, RunIsElsewhere | RunWentOn | ReadOnlyStore):
        return str(error)
    who = f"{name_of(node)} failed" if node else "The run failed"
    reason, way = _reason_and_way(error, name_of)
    return f"{who}: {_ended(reason)} {way}"


def _reason_and_way(error: BaseException, name_of: NameOf) -> tuple[str, str]:
    from studio.agents.budget import BudgetReached  # here: not needed to show a window

    if isinstance(error, BudgetReached):
        return str(error), f"Raise the budget in the workflow's settings, {_RETRY}."
    if isinstance(error, ProviderError):
        return str(error), _PROVIDER_WAYS.get(error.kind, _ANY_WAY)
    if isinstance(error, UserCodeError):
        return _code_words(error, name_of), f"Correct the code in the inspector, {_RETRY}."
    if isinstance(error, ConvergenceError):
        return str(error), "Let a condition end the loop, or allow more supersteps in the workflow's settings."
    if isinstance(error, RunRejected):
        return str(error), "Start a new run."
    if isinstance(error, StoreError | OSError):
        return str(error) or type(error).__name__, "Check free space and rights of the data folder, then start again."
    if isinstance(error, WorkflowError):
        return str(error), _ANY_WAY
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__, _ANY_WAY


def _code_words(error: UserCodeError, name_of: NameOf) -> str:
    """What was raised and the line, with the name of the node instead of its id."""
    said = f"{error.type}: {error.message}" if error.message else error.type
    if not error.where:
        return said
    owner, _, what = error.where[-1].unit.partition(" ")
    piece = f"{what} of {name_of(owner)}" if what else name_of(owner)
    return f"{said} ({piece}, line {error.where[-1].line})"


def state_sentence(
    state: RunState,
    *,
    superstep: int,
    busy: Sequence[str] = (),
    holds: Sequence[str] = (),
    inside: bool = False,
    asking: Sequence[str] = (),
    failure: str = "",
    restored: bool = False,
) -> str:
    """The state chip. ``superstep`` is the running or the next one, ``holds`` says what holds it, ``inside``: its nodes
    run already; the others are names of nodes."""
    match state:
        case RunState.IDLE:
            return "Not started"
        case RunState.PREPARING:
            return "Preparing"
        case RunState.RUNNING | RunState.STEPPING:
            return f"Running superstep {superstep}" if superstep else "Running"
        case RunState.PAUSING:
            return f"Pausing: waits for {_listed(busy)}" if busy else "Pausing"
        case RunState.PAUSED:
            where = f"{'Restored' if restored else 'Paused'} {'in' if inside else 'before'} superstep {superstep}"
            return f"{where} — {_together(holds)}" if holds else where
        case RunState.WAITING:
            count = "an answer" if len(asking) < 2 else f"{len(asking)} answers"
            return f"Waiting for {count} to {_listed(asking)}" if asking else "Waiting for an answer"
        case RunState.STOPPING:
            return "Stopping"
        case RunState.COMPLETED:
            return f"Completed in {_counted(superstep)}" if superstep else "Completed"
        case RunState.CANCELLED:
            return f"Cancelled in superstep {superstep}" if superstep else "Cancelled"
        case RunState.FAILED:
            return failure or "Failed"


_SHARED = {"breakpoint on ": "breakpoint on ", "next is ": "next are "}
"""How words of one hold begin, and those of several that begin alike."""


def _together(holds: Sequence[str]) -> str:
    """Several plain breakpoints, or nodes that a step comes to next, share their words."""
    for one, several in _SHARED.items():
        if len(holds) > 1 and all(text.startswith(one) for text in holds):
            return f"{several}{_listed([text.removeprefix(one) for text in holds])}"
    return _listed(holds)


def _listed(names: Sequence[str]) -> str:
    shown = list(dict.fromkeys(names))
    if len(shown) > 3:
        return f"{', '.join(shown[:2])} and {len(shown) - 2} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


def _counted(supersteps: int) -> str:
    return "1 superstep" if supersteps == 1 else f"{supersteps} supersteps"


def _ended(text: str) -> str:
    text = text.strip()
    return text if text.endswith((".", "!", "?")) else f"{text}."
