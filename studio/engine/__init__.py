"""The workflow engine: supersteps, edges, shared state, requests, checkpoints. Usable without a document and Qt."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from studio.checkpoints import (
        Checkpoint,
        MemoryStore,
        PendingRequest,
        QueuedMessage,
        SqliteStore,
    )
    from studio.engine.builder import (
        Case,
        WorkflowBuilder,
    )
    from studio.engine.codec import (
        Codec,
        decode,
        encode,
    )
    from studio.engine.context import Context
    from studio.engine.errors import (
        AnswerRejected,
        BuildArgumentError,
        ConvergenceError,
        EdgeDuplicationError,
        GraphConnectivityError,
        NodeStopped,
        OutputDesignationError,
        ResumeError,
        RoutingError,
        RunRejected,
        TypeCompatibilityError,
        WorkflowError,
        WorkflowValidationError,
    )
    from studio.engine.executor import (
        Executor,
        Handler,
        ResponseHandler,
    )
    from studio.engine.gate import Gate
    from studio.engine.hosts import (
        AgentHost,
        FunctionExecutor,
        SubWorkflowExecutor,
    )
    from studio.engine.types import (
        ANY,
        CONTENT,
        ListOf,
        RecordType,
        Type,
        UnionOf,
        compatible,
        fits,
    )
    from studio.engine.values import (
        Record,
        SubRequest,
        SubResponse,
    )
    from studio.engine.workflow import (
        RunResult,
        Workflow,
    )

_PLACES = {
    "studio.checkpoints": ("Checkpoint", "MemoryStore", "PendingRequest", "QueuedMessage", "SqliteStore"),
    "studio.engine.builder": ("Case", "WorkflowBuilder"),
    "studio.engine.codec": ("Codec", "decode", "encode"),
    "studio.engine.context": ("Context",),
    "studio.engine.errors": (
        "AnswerRejected",
        "BuildArgumentError",
        "ConvergenceError",
        "EdgeDuplicationError",
        "GraphConnectivityError",
        "NodeStopped",
        "OutputDesignationError",
        "ResumeError",
        "RoutingError",
        "RunRejected",
        "TypeCompatibilityError",
        "WorkflowError",
        "WorkflowValidationError",
    ),
    "studio.engine.executor": ("Executor", "Handler", "ResponseHandler"),
    "studio.engine.gate": ("Gate",),
    "studio.engine.hosts": ("AgentHost", "FunctionExecutor", "SubWorkflowExecutor"),
    "studio.engine.types": ("ANY", "CONTENT", "ListOf", "RecordType", "Type", "UnionOf", "compatible", "fits"),
    "studio.engine.values": ("Record", "SubRequest", "SubResponse"),
    "studio.engine.workflow": ("RunResult", "Workflow"),
}
"""Modules by what they give: a script that needs little loads little."""

__all__ = [
    "ANY",
    "CONTENT",
    "AgentHost",
    "AnswerRejected",
    "BuildArgumentError",
    "Case",
    "Checkpoint",
    "Codec",
    "Context",
    "ConvergenceError",
    "EdgeDuplicationError",
    "Executor",
    "FunctionExecutor",
    "Gate",
    "GraphConnectivityError",
    "Handler",
    "ListOf",
    "MemoryStore",
    "NodeStopped",
    "OutputDesignationError",
    "PendingRequest",
    "QueuedMessage",
    "Record",
    "RecordType",
    "ResponseHandler",
    "ResumeError",
    "RoutingError",
    "RunRejected",
    "RunResult",
    "SqliteStore",
    "SubRequest",
    "SubResponse",
    "SubWorkflowExecutor",
    "Type",
    "TypeCompatibilityError",
    "UnionOf",
    "Workflow",
    "WorkflowBuilder",
    "WorkflowError",
    "WorkflowValidationError",
    "compatible",
    "decode",
    "encode",
    "fits",
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
