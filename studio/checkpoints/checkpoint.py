"""What a checkpoint is: the whole state of a workflow instance between two supersteps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

CheckpointKind = Literal["input", "superstep", "answers", "fork"]


class Frozen(dict[str, Any]):
    """A dict that nobody changes any more, nor anything in it: a store may remember what it made of it."""


@dataclass(frozen=True, slots=True)
class PendingRequest:
    """A question of a node that nobody has answered yet. ``response_type`` is the name of the type of the answer."""

    id: str
    node: str
    data: Any
    response_type: str


@dataclass(frozen=True, slots=True)
class QueuedMessage:
    """A message that waits for the next superstep. ``target`` None: every edge of the source.

    ``invocation`` is the invocation that sent it, ``purpose`` why: input, answer, send, response, request.
    ``request`` is the answered request of a response.
    """

    id: str
    source: str
    target: str | None
    data: Any
    kind: Literal["standard", "response"] = "standard"
    invocation: str | None = None
    purpose: str = "send"
    request: PendingRequest | None = None


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Everything needed to go on from this moment, on this or on any other instance of the same graph.

    ``superstep`` counts completed supersteps; it is not unique, the chain of ``parent`` gives the order. ``executors``
    is what nodes saved, ``fan_in`` the buffers by key of the edge group, in order of arrival. Times are unix seconds.
    """

    id: str
    parent: str | None = None
    run: str = ""
    workflow: str = ""
    signature: str = ""
    kind: CheckpointKind = "superstep"
    superstep: int = 0
    created: float = 0.0
    messages: tuple[QueuedMessage, ...] = ()
    requests: tuple[PendingRequest, ...] = ()
    state: Mapping[str, Any] = field(default_factory=dict)
    executors: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    fan_in: Mapping[str, tuple[QueuedMessage, ...]] = field(default_factory=dict)
    name: str = ""


class CheckpointInfo(NamedTuple):
    """A checkpoint without its content. ``bytes`` is what it added to the store."""

    id: str
    parent: str | None
    run: str
    workflow: str
    signature: str
    kind: CheckpointKind
    superstep: int
    created: float
    bytes: int = 0
    name: str = ""


def info_of(checkpoint: Checkpoint, size: int) -> CheckpointInfo:
    """The description of a checkpoint that took ``size`` bytes."""
    c = checkpoint
    return CheckpointInfo(c.id, c.parent, c.run, c.workflow, c.signature, c.kind, c.superstep, c.created, size, c.name)
