"""Values that travel: records of declared types, questions of nested workflows, turn tokens. All immutable."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from studio.agents.messages import Message
from studio.checkpoints.snapshot import copied

__all__ = [
    "FROM_OUTSIDE",
    "LedgerItem",
    "PlanReview",
    "PlanReviewRequest",
    "ProgressLedger",
    "Record",
    "ResetChat",
    "ResetNode",
    "SubRequest",
    "SubResponse",
    "TurnToken",
    "copied",
    "plain",
]

FROM_OUTSIDE = "internal:"
"""What stands before a node's id as the source of an input of the run, and of an answer to what the node asked."""


def _frozen(value: Any) -> Any:
    if isinstance(value, Mapping):
        return MappingProxyType({key: _frozen(item) for key, item in value.items()})
    if isinstance(value, list | tuple):
        return tuple(_frozen(item) for item in value)
    return value


def plain(value: Any) -> Any:
    """``value`` with records, frozen mappings and tuples as dicts and lists."""
    if isinstance(value, Record):
        return plain(value.data)
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@dataclass(frozen=True, slots=True, eq=False)
class Record(Mapping[str, Any]):
    """A value of a declared type outside the worker: the type's name and plain data. Equal by content."""

    type_name: str
    data: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "data", _frozen(self.data))

    def __getitem__(self, field: str) -> Any:
        return self.data[field]

    def __iter__(self) -> Iterator[str]:
        return iter(self.data)

    def __len__(self) -> int:
        return len(self.data)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Record):
            return NotImplemented
        return self.type_name == other.type_name and self.plain() == other.plain()

    def __hash__(self) -> int:
        return hash((self.type_name, json.dumps(self.plain(), sort_keys=True, default=repr)))

    def plain(self) -> dict[str, Any]:
        """The data as a dict of its own."""
        return {key: plain(value) for key, value in self.data.items()}


@dataclass(frozen=True, slots=True)
class SubRequest:
    """A question from inside a sub-workflow, sent to the parent's nodes."""

    executor: str
    """The sub-workflow node."""
    inner_executor: str
    request: str
    data: Any
    response_type: str

    def answer(self, data: Any) -> SubResponse:
        """The answer; send it with ``target=request.executor``."""
        return SubResponse(self.request, data)


@dataclass(frozen=True, slots=True)
class SubResponse:
    """The answer to a :class:`SubRequest`."""

    request: str
    data: Any


@dataclass(frozen=True, slots=True)
class TurnToken:
    """Lets a turn-token agent take its turn. ``emit_events`` None: the agent's own option decides about updates."""

    emit_events: bool | None = None


@dataclass(frozen=True, slots=True)
class ResetChat:
    """A turn-token agent forgets its conversation; what it has buffered and what it waits for stays."""


@dataclass(frozen=True, slots=True)
class ResetNode:
    """A turn-token agent becomes as new: conversation, buffer and open questions are gone."""


@dataclass(frozen=True, slots=True)
class LedgerItem:
    """One answer of a Magentic manager about the progress."""

    reason: str
    answer: str | bool


@dataclass(frozen=True, slots=True)
class ProgressLedger:
    """What a Magentic manager thinks of the progress."""

    is_request_satisfied: LedgerItem
    is_in_loop: LedgerItem
    is_progress_being_made: LedgerItem
    next_speaker: LedgerItem
    instruction_or_question: LedgerItem


@dataclass(frozen=True, slots=True)
class PlanReviewRequest:
    """Asks a person for the plan. ``current_progress`` is None at the first plan."""

    plan: Message
    current_progress: ProgressLedger | None = None
    is_stalled: bool = False


@dataclass(frozen=True, slots=True)
class PlanReview:
    """The answer: what to change, nothing to approve."""

    review: tuple[Message, ...] = ()
