"""What a run tells: a closed union of frozen slotted dataclasses, in the past tense.

The engine appends them to a sink (anything with ``append``): no signal, no await, no lock. ``t`` is seconds of the
run's clock since the run started. ``invocation`` is unique within a run. ``path`` of a nested workflow is
given by ``inside``: ids of the enclosing sub-workflow nodes, outermost first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Protocol

from studio.agents.messages import AgentReply, Message, ToolCall, Usage

State = Literal[
    "IN_PROGRESS", "IN_PROGRESS_PENDING_REQUESTS", "IDLE", "IDLE_WITH_PENDING_REQUESTS", "FAILED", "CANCELLED"
]


@dataclass(frozen=True, slots=True)
class RunStarted:
    t: float
    kind: Literal["input", "answers", "checkpoint"]
    data: Any = None


@dataclass(frozen=True, slots=True)
class StatusChanged:
    t: float
    state: State


@dataclass(frozen=True, slots=True)
class SuperstepStarted:
    t: float
    superstep: int
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuperstepFinished:
    t: float
    superstep: int
    checkpoint: str | None = None
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeStarted:
    t: float
    superstep: int
    node: str
    invocation: str
    sources: tuple[str, ...]
    data: Any
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFinished:
    t: float
    superstep: int
    node: str
    invocation: str
    data: tuple[Any, ...] = ()
    """Everything it sent, then everything it yielded."""
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class NodeFailed:
    t: float
    superstep: int
    node: str
    invocation: str
    error: str
    """Class name of the exception."""
    message: str = ""
    inside: tuple[str, ...] = ()
    where: tuple[tuple[str, int, str], ...] = ()
    """Of an error in user code: name of the piece, line from 1, text of the line; the raising one last."""


@dataclass(frozen=True, slots=True)
class OutputYielded:
    t: float
    superstep: int
    node: str
    invocation: str
    data: Any
    intermediate: bool = False
    order: tuple[int, ...] = ()
    """Place of the invocation in its superstep's delivery order; empty in logs of earlier versions."""


@dataclass(frozen=True, slots=True)
class MessageQueued:
    """A message waits for the next superstep. ``target`` None: all edges of the source."""

    t: float
    superstep: int
    message: str
    source: str
    target: str | None
    data: Any
    invocation: str | None = None
    purpose: str = "send"
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MessageRouted:
    """What an edge group did with a message. ``reason``: "" if delivered, else why it was dropped or kept."""

    t: float
    superstep: int
    message: str
    edge: str
    source: str
    target: str
    delivered: bool
    reason: Literal["", "condition", "type", "target", "selection", "no_edge", "buffered"] = ""
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class StateWritten:
    t: float
    superstep: int
    node: str
    key: str
    value: Any
    inside: tuple[str, ...] = ()
    """Not empty: the key is of the shared state of a nested workflow."""


@dataclass(frozen=True, slots=True)
class StateConflict:
    t: float
    superstep: int
    key: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RequestRaised:
    t: float
    request: str
    node: str
    data: Any
    response_type: str
    again: bool = False
    """Given again after a restore."""
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestAnswered:
    t: float
    request: str
    node: str
    value: Any


@dataclass(frozen=True, slots=True)
class RequestCancelled:
    t: float
    request: str
    node: str


@dataclass(frozen=True, slots=True)
class CheckpointSaved:
    t: float
    checkpoint: str
    parent: str | None
    kind: Literal["input", "superstep", "answers", "fork"]
    superstep: int
    bytes: int = 0


@dataclass(frozen=True, slots=True)
class CheckpointFailed:
    t: float
    superstep: int
    message: str


@dataclass(frozen=True, slots=True)
class RunWarned:
    t: float
    message: str
    node: str | None = None


@dataclass(frozen=True, slots=True)
class RunFailed:
    t: float
    error: str
    message: str = ""
    node: str | None = None
    where: tuple[tuple[str, int, str], ...] = ()
    """As in :class:`NodeFailed`: of a condition no node is told to have failed."""


# ------------------------------------------------------------------------------------------- inside a node


@dataclass(frozen=True, slots=True)
class ModelCallStarted:
    t: float
    node: str
    invocation: str
    call: str
    messages: tuple[Message, ...]
    model: str = ""
    inside: tuple[str, ...] = ()
    settings: str = ""
    """The rest of the request as JSON: address, instructions, body without messages. Empty in older logs."""


@dataclass(frozen=True, slots=True)
class TokensArrived:
    t: float
    node: str
    invocation: str
    text: str
    kind: Literal["text", "reasoning"] = "text"
    inside: tuple[str, ...] = ()
    chunks: int = 1
    """How many chunks of the model are joined in ``text``."""


@dataclass(frozen=True, slots=True)
class ModelCallRetried:
    t: float
    node: str
    invocation: str
    call: str
    attempt: int
    wait: float
    reason: str


@dataclass(frozen=True, slots=True)
class ModelCallFinished:
    t: float
    node: str
    invocation: str
    call: str
    usage: Usage | None = None
    finish_reason: str | None = None
    error: str = ""
    inside: tuple[str, ...] = ()
    reply: AgentReply | None = None
    """What the model answered, for a replay; None if it failed, and in logs of earlier versions."""
    raw: str = ""
    """The answer as it came over the wire: status, headers and body, or the body of a refusal; within a limit and
    without secrets. Empty if nothing came, for a replay, and in logs of earlier versions."""


@dataclass(frozen=True, slots=True)
class ToolStarted:
    t: float
    node: str
    invocation: str
    call: ToolCall
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ToolFinished:
    t: float
    node: str
    invocation: str
    call_id: str
    result: Any = None
    error: str = ""
    inside: tuple[str, ...] = ()
    detail: str = ""
    """What the tool raised, in words."""


@dataclass(frozen=True, slots=True)
class HistoryWritten:
    """What a turn that went well left in a history. ``source``: "session" for the agent's own memory, or its id."""

    t: float
    node: str
    invocation: str
    source: str
    messages: tuple[Message, ...]
    inside: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LinePrinted:
    """A line that user code printed in the worker."""

    t: float
    node: str
    text: str
    stream: Literal["out", "err"] = "out"


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """An event of a node's own, for example of a group chat. ``kind`` is its type name in snake case."""

    t: float
    superstep: int
    node: str
    invocation: str
    kind: str
    data: Any = None
    inside: tuple[str, ...] = ()


Event = (
    RunStarted
    | StatusChanged
    | SuperstepStarted
    | SuperstepFinished
    | NodeStarted
    | NodeFinished
    | NodeFailed
    | OutputYielded
    | MessageQueued
    | MessageRouted
    | StateWritten
    | StateConflict
    | RequestRaised
    | RequestAnswered
    | RequestCancelled
    | CheckpointSaved
    | CheckpointFailed
    | RunWarned
    | RunFailed
    | ModelCallStarted
    | TokensArrived
    | ModelCallRetried
    | ModelCallFinished
    | ToolStarted
    | ToolFinished
    | HistoryWritten
    | LinePrinted
    | NodeEvent
)


class EventSink(Protocol):
    """Where events go; a ``collections.deque`` is one."""

    def append(self, event: Any, /) -> object: ...
