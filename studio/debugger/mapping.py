"""A checkpoint of one drawing becomes a checkpoint of another: ids mapped, and what has no place left named first."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage
from studio.document import validate
from studio.document.lines import pairs
from studio.document.model import FanInEdge, Workflow
from studio.engine.values import FROM_OUTSIDE

"""Stands before the id of a node in the source of an input or an answer to it."""


class MappingProblem(ValueError):
    """A message has no place in the new drawing and nobody chose one; ``str()`` is a sentence."""


@dataclass(frozen=True, slots=True)
class NodeMapping:
    """``nodes``: old ids to new ones, None for removed. ``rerouted``: queued message to the node that gets it instead.
    ``dropped``: messages that go nowhere."""

    nodes: Mapping[str, str | None]
    rerouted: Mapping[str, str] = field(default_factory=dict)
    dropped: frozenset[str] = frozenset()
    joins: frozenset[str] | None = None
    """The keys of the joins' buffers in the new drawing, see :func:`join_keys`; None: any."""
    ended: frozenset[str] = frozenset()
    """Old nodes whose messages nobody gets any more, see :func:`dead_ends`."""

    def of(self, id: str | None) -> str | None:
        """The new id of a node or of its inside edge; None for None and for what is removed."""
        if id is None:
            return None
        prefix = FROM_OUTSIDE if id.startswith(FROM_OUTSIDE) else ""
        node = id.removeprefix(FROM_OUTSIDE)
        new = self.nodes.get(node, node)
        return None if new is None else prefix + new


@dataclass(frozen=True, slots=True)
class Consequences:
    """What a mapping means for a checkpoint. ``homeless`` messages must be dropped or rerouted by choice; the others
    in ``lost`` go with their nodes: requests, states of nodes, waiting messages of joins, by old node id."""

    homeless: tuple[QueuedMessage, ...] = ()
    lost_requests: tuple[PendingRequest, ...] = ()
    lost_states: tuple[str, ...] = ()
    lost_buffers: int = 0


def is_homeless(message: QueuedMessage, mapping: NodeMapping) -> bool:
    """Whether the node that a message comes from, or goes to, is gone, or nobody is left to get it."""
    if mapping.of(message.source) is None:
        return True
    return message.source in mapping.ended if message.target is None else mapping.of(message.target) is None


def consequences(checkpoint: Checkpoint, mapping: NodeMapping) -> Consequences:
    """What would be lost, and which messages need a choice."""
    return Consequences(
        tuple(m for m in checkpoint.messages if is_homeless(m, mapping)),
        tuple(r for r in checkpoint.requests if mapping.of(r.node) is None),
        tuple(n for n in checkpoint.executors if mapping.of(n) is None),
        sum(len(b) for key, b in checkpoint.fan_in.items() if _key(key, mapping) is None),
    )


def mapped(
    checkpoint: Checkpoint, mapping: NodeMapping, *, signature: str, id: str, run: str, now: float
) -> Checkpoint:
    """The checkpoint for a graph with this signature; the original is its parent. Raises :class:`MappingProblem`."""
    messages = [_message(m, mapping) for m in checkpoint.messages if m.id not in mapping.dropped]
    requests = [_request(r, mapping) for r in checkpoint.requests]
    buffers = {_key(key, mapping): buffer for key, buffer in checkpoint.fan_in.items()}
    states = {mapping.of(node): state for node, state in checkpoint.executors.items()}
    return replace(
        checkpoint,
        id=id,
        parent=checkpoint.id,
        run=run,
        signature=signature,
        kind="fork",
        created=now,
        messages=tuple(messages),
        requests=tuple(r for r in requests if r is not None),
        executors={node: state for node, state in states.items() if node is not None},
        fan_in={
            key: tuple(replace(m, source=mapping.of(m.source) or m.source) for m in buffer)
            for key, buffer in buffers.items()
            if key is not None
        },
        name="",
    )


def _message(message: QueuedMessage, mapping: NodeMapping) -> QueuedMessage:
    chosen = mapping.rerouted.get(message.id)
    if chosen is not None:
        return replace(message, source=FROM_OUTSIDE + chosen, target=None, kind="standard", request=None)
    if is_homeless(message, mapping):
        raise MappingProblem(
            "A queued message belongs to a node that was removed. Drop it, or send it to another node."
        )
    request = _request(message.request, mapping) if message.request is not None else None
    source = mapping.of(message.source) or message.source
    return replace(message, source=source, target=mapping.of(message.target), request=request)


def _request(request: PendingRequest, mapping: NodeMapping) -> PendingRequest | None:
    node = mapping.of(request.node)
    return replace(request, node=node) if node is not None else None


def _key(key: str, mapping: NodeMapping) -> str | None:
    """The key of a join's buffer, made of its sources and its node; None if one of them is gone."""
    try:
        sources, target = json.loads(key)
    except (ValueError, TypeError):
        return key
    ends = [mapping.of(source) for source in sources]
    node = mapping.of(target)
    if node is None or None in ends:
        return None
    new = json.dumps([sorted(end for end in ends if end is not None), node], ensure_ascii=False)
    return new if mapping.joins is None or new in mapping.joins else None


def dead_ends(old: Workflow, new: Workflow, nodes: Mapping[str, str | None]) -> frozenset[str]:
    """Nodes of the old drawing that sent to others, and have no edge to anybody in the new one, or no part in a run
    of it. A queued message names
    only its sender: with the node that would have got it the edge is gone, too."""
    taking_part = validate.reachable(new)
    sending = {source for source, _, _ in pairs(new) if source in taking_part}
    return frozenset(source for source, _, _ in pairs(old) if nodes.get(source, source) not in sending)


def join_keys(workflow: Workflow) -> frozenset[str]:
    """The keys under which checkpoints of a drawing keep the buffers of its joins."""
    joins = [e for e in workflow.edges if isinstance(e, FanInEdge)]
    return frozenset(json.dumps([sorted(e.sources), e.target], ensure_ascii=False) for e in joins)
