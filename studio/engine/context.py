"""What a handler may do: send, yield, ask, share state. Nothing here waits."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from studio.checkpoints.snapshot import copied
from studio.engine.events import (
    CheckpointFailed,
    CheckpointSaved,
    NodeEvent,
    OutputYielded,
    RequestRaised,
    RunFailed,
    RunStarted,
    RunWarned,
    StateWritten,
    StatusChanged,
)
from studio.engine.gate import Gate
from studio.engine.results import Asked, Effect, Sent, Wrote, Yielded
from studio.engine.scope import Scope
from studio.engine.state import Rank, Write
from studio.engine.types import Type

_ENGINE_ONLY = (RunStarted, StatusChanged, RunFailed, OutputYielded, RequestRaised, CheckpointSaved, CheckpointFailed)


class Context:
    """One invocation of one node."""

    __slots__ = (
        "_node",
        "_overwritten",
        "_rank",
        "_sent",
        "_yielded",
        "effects",
        "invocation",
        "request_id",
        "scope",
        "sources",
    )

    def __init__(
        self, scope: Scope, node: str, sources: tuple[str, ...], rank: Rank, request_id: str | None = None
    ) -> None:
        self.scope = scope
        self.sources = sources
        """Ids of the nodes the message came from; ``internal:<id>`` for inputs and answers."""
        self.invocation = f"{scope.invocation_stamp}{scope.number()}"
        self.request_id = request_id
        """The request that this invocation answers."""
        self._node = node
        self._rank = rank
        self._sent: list[Any] = []
        self._yielded: list[Any] = []
        self.effects: list[Effect] | None = None
        """Everything done so far, in order; None if nobody records it."""

    @property
    def node(self) -> str:
        """Id of the node that runs."""
        return self._node

    @property
    def streaming(self) -> bool:
        """Whether the caller wants chunks instead of whole replies."""
        return self.scope.streaming

    @property
    def superstep(self) -> int:
        """Number of the running superstep."""
        return self.scope.superstep

    @property
    def inside(self) -> tuple[str, ...]:
        """Ids of the sub-workflow nodes around this workflow, outermost first."""
        return self.scope.inside

    @property
    def gate(self) -> Gate | None:
        """The debugger's hooks, if any."""
        return self.scope.gate

    @property
    def given(self) -> tuple[Any, ...]:
        """Everything sent, then everything yielded so far."""
        return (*self._sent, *self._yielded)

    def now(self) -> float:
        """Seconds since the run started."""
        return self.scope.now()

    def send(self, data: Any, target: str | None = None, *, purpose: str = "send") -> None:
        """A message for the next superstep, over all edges of the node or only towards ``target``."""
        self._sent.append(data)
        if self.effects is not None:
            self.effects.append(Sent(data, target, purpose))
        self.scope.message(self._node, target, data, "standard", self.invocation, purpose)

    def yield_output(self, data: Any, *, intermediate: bool = False) -> None:
        """An output of the workflow, if the node is designated. ``intermediate`` overrules the designation."""
        self._yielded.append(data)
        if self.effects is not None:
            self.effects.append(Yielded(data, intermediate))
        self.scope.output(self._node, self.invocation, self._rank, data, "intermediate" if intermediate else None)

    def pass_on(self, data: Any) -> None:
        """An intermediate output of a nested workflow: shown, but not counted as yielded by this node."""
        if self.effects is not None:
            self.effects.append(Yielded(data, True, passed_on=True))
        self.scope.output(self._node, self.invocation, self._rank, data, "intermediate")

    def request(self, data: Any, response_type: Type, request_id: str | None = None) -> str:
        """Asks from outside; the answer comes to the response handler of this node. Gives the id of the request."""
        id = request_id or uuid4().hex
        if self.effects is not None:
            self.effects.append(Asked(id, data, response_type))
        self.scope.request(id, self._node, data, response_type)
        return id

    def get_state(self, key: str, default: Any = None) -> Any:
        """A copy of the value in shared state, also of what was written in this superstep."""
        return self.scope.instance.state.get(key, default, self._rank)

    def set_state(self, key: str, value: Any) -> None:
        """Writes a copy into shared state; kept when the superstep ends well."""
        state = self.scope.instance.state
        if self.effects is not None:
            self._overwritten.setdefault(key, state.pending(key))
            self.effects.append(Wrote(key, copied(value)))
        state.set(key, value, self._rank, self._node)
        if self.scope.emit is not None:
            self.scope.emit(StateWritten(self.now(), self.superstep, self._node, key, copied(value), self.inside))

    def record(self) -> list[Effect]:
        """From now on everything done is noted; gives the list that fills."""
        self.effects = []
        self._overwritten: dict[str, Write | None] = {}
        return self.effects

    def withdraw(self) -> None:
        """Undoes everything since :meth:`record`. A key of shared state that another node wrote since stays so."""
        scope = self.scope
        effects = self.effects or []
        asked = [effect.id for effect in effects if isinstance(effect, Asked)]
        scope.withdraw(self._node, self.invocation, self._rank, asked)
        for key, before in self._overwritten.items():
            scope.instance.state.withdraw(key, self._rank, before)
        self._overwritten.clear()
        self._sent.clear()
        self._yielded.clear()
        effects.clear()

    def emit(self, event: Any) -> None:
        """An event of the node's own. Events of the run are the engine's: trying gives a warning instead."""
        scope = self.scope
        if isinstance(event, _ENGINE_ONLY):
            event = RunWarned(self.now(), f"A node may not emit {type(event).__name__}", self._node)
        if scope.emit is not None:
            scope.emit(event)

    def emit_named(self, kind: str, data: Any = None) -> None:
        """A :class:`~studio.engine.events.NodeEvent` of this invocation."""
        self.emit(NodeEvent(self.now(), self.superstep, self._node, self.invocation, kind, data, self.inside))
