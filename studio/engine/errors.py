"""What can go wrong, with the family names of the conformance suite. A node's own exception is raised as it is."""

from __future__ import annotations

from collections.abc import Sequence


class WorkflowError(Exception):
    """Base of the engine's own errors. ``nodes`` are the ids the message is about."""

    family = ""

    def __init__(self, message: str, nodes: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.nodes = tuple(nodes)


class WorkflowValidationError(WorkflowError):
    """The graph is refused."""

    family = "validation"


class BuildArgumentError(WorkflowValidationError, ValueError):
    """Refused while the graph is put together."""

    family = "build_argument"


class EdgeDuplicationError(WorkflowValidationError):
    """The same source and target twice."""

    family = "validation.edge_duplication"


class TypeCompatibilityError(WorkflowValidationError):
    """Nothing the source may send is accepted by the target."""

    family = "validation.type_compatibility"


class GraphConnectivityError(WorkflowValidationError):
    """A node that the start node does not reach."""

    family = "validation.graph_connectivity"


class OutputDesignationError(WorkflowValidationError):
    """Output or intermediate designations that cannot be."""

    family = "validation.output_validation"


class RunRejected(WorkflowError):
    """The run cannot start: arguments, input, answers, another run, messages left over."""

    family = "run_rejected"


class AnswerRejected(RunRejected):
    """An answer for an unknown request, or of the wrong type."""


class ResumeError(WorkflowError):
    """The checkpoint is missing or does not fit."""

    family = "checkpoint"


class ConvergenceError(WorkflowError):
    """The limit of supersteps is used up and messages are left."""

    family = "no_convergence"


class RoutingError(WorkflowError):
    """A selection named something that is no target, or a joined list fits no handler."""

    family = "routing"


class NodeStopped(WorkflowError):
    """A node cancelled itself."""

    family = "node"


def text_of(error: BaseException) -> str:
    """The text of an error; one whose own code for it fails must not bring down who tells it."""
    try:
        return str(error)
    except Exception as other:
        return f"(its text cannot be shown: {type(other).__name__})"


def code_lines(error: BaseException) -> tuple[tuple[str, int, str], ...]:
    """The lines of user code that an error came through, as events tell them; () for any other error.

    The engine knows no worker: such an error has ``where``, frames with ``unit``, ``line`` and ``code``. Another error
    may have something else of that name.
    """
    try:
        return tuple((str(f.unit), int(f.line), str(f.code)) for f in getattr(error, "where", ()))
    except Exception:
        return ()
