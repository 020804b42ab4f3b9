"""What a checkpoint holds, to be read before anybody restores it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from studio.agents.messages import Message
from studio.assembly.texts import value_text
from studio.checkpoints import Checkpoint
from studio.checkpoints.usage import Weight
from studio.debugger.forks import remembered
from studio.engine.values import FROM_OUTSIDE

INNER = "sub_workflow"
"""Where a sub-workflow node saves the checkpoint of the workflow inside."""


@dataclass(frozen=True, slots=True)
class Waiting:
    """A queued message, or one that waits at a join. ``target`` "" : by its edges."""

    id: str
    source: str
    target: str
    text: str


@dataclass(frozen=True, slots=True)
class Memory:
    """What a node remembers. ``talk``: the conversation of an agent; ``parts``: names of what it saved; ``collected``:
    messages that wait for a turn token; ``saved``: everything it saved, as it is; ``inside``: what the workflow in a
    sub-workflow node holds (of no weight of its own)."""

    node: str
    talk: tuple[Message, ...] = ()
    parts: tuple[str, ...] = ()
    collected: tuple[Message, ...] = ()
    saved: Mapping[str, Any] = field(default_factory=dict)
    inside: Details | None = None


@dataclass(frozen=True, slots=True)
class Details:
    """Everything in a checkpoint. ``drawing`` is the fingerprint of the document that ran, ``signature`` that of the
    graph; bytes are those of the file."""

    queued: tuple[Waiting, ...]
    joins: tuple[Waiting, ...]
    requests: tuple[Waiting, ...]
    state: Mapping[str, Any]
    memories: tuple[Memory, ...]
    weight: Weight
    signature: str
    drawing: str


def details_of(checkpoint: Checkpoint, weight: Weight, drawing: str) -> Details:
    """The details of a loaded checkpoint."""
    queued = tuple(
        Waiting(m.id, m.source.removeprefix(FROM_OUTSIDE), m.target or "", value_text(m.data))
        for m in checkpoint.messages
    )
    joins = tuple(
        Waiting(m.id, m.source.removeprefix(FROM_OUTSIDE), _join_of(key), value_text(m.data))
        for key, buffer in checkpoint.fan_in.items()
        for m in buffer
    )
    requests = tuple(Waiting(r.id, r.node, "", value_text(r.data)) for r in checkpoint.requests)
    memories = tuple(
        Memory(
            node,
            remembered(checkpoint, node) or (),
            tuple(key for key, value in state.items() if value),
            _collected(state),
            state,
            _inside(state),
        )
        for node, state in checkpoint.executors.items()
        if state
    )
    return Details(queued, joins, requests, dict(checkpoint.state), memories, weight, checkpoint.signature, drawing)


def _inside(state: Mapping[str, Any]) -> Details | None:
    inner = state.get(INNER)
    return details_of(inner, Weight(0, 0), "") if isinstance(inner, Checkpoint) else None


def _collected(state: Mapping[str, Any]) -> tuple[Message, ...]:
    """What a turn-token agent, or a node that keeps turns whole, has collected: also what a failed turn left there."""
    batches = state.get("turn") or [state.get("buffer") or ()]
    return tuple(message for batch in batches for message in batch if isinstance(message, Message))


def _join_of(key: str) -> str:
    try:
        return str(json.loads(key)[1])
    except (ValueError, LookupError, TypeError):
        return key
