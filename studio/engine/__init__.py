"""The workflow engine: supersteps, edges, shared state, requests, checkpoints. Usable without a document and Qt."""

from studio.checkpoints import Checkpoint, MemoryStore, PendingRequest, QueuedMessage, SqliteStore
from studio.engine.builder import Case, WorkflowBuilder
from studio.engine.codec import Codec, decode, encode
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
from studio.engine.executor import Executor, Handler, ResponseHandler
from studio.engine.gate import Gate
from studio.engine.hosts import AgentHost, FunctionExecutor, SubWorkflowExecutor
from studio.engine.types import ANY, CONTENT, ListOf, RecordType, Type, UnionOf, compatible, fits
from studio.engine.values import Record, SubRequest, SubResponse
from studio.engine.workflow import RunResult, Workflow

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
