"""The memory of a runner's conversations."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from studio.agents.messages import Message
from studio.agents.plain import message_from_plain, message_to_plain

Record = dict[str, Any]


@dataclass(slots=True)
class RunnerSession:
    """One conversation: whose turn it is, everything said, and what the caller noted about it."""

    id: str
    active_agent: str
    messages: list[Message] = field(default_factory=list)
    metadata: dict[str, Any] = field(default_factory=dict)

    def to_record(self) -> Record:
        """The session as plain JSON."""
        return {
            "active_agent": self.active_agent,
            "messages": [message_to_plain(message) for message in self.messages],
            "metadata": dict(self.metadata),
        }

    @staticmethod
    def from_record(id: str, record: Mapping[str, Any]) -> RunnerSession:
        """The session of :meth:`to_record`."""
        messages = [message_from_plain(row) for row in record["messages"]]
        return RunnerSession(id, record["active_agent"], messages, dict(record["metadata"]))


class SessionRecords(Protocol):
    """Keeps one record per session. ``save`` replaces the whole record or nothing."""

    async def load(self, session: str) -> Record | None:
        """The record; None if there is none."""

    async def save(self, session: str, record: Mapping[str, Any]) -> None:
        """The record in place of the old one."""

    async def delete(self, session: str) -> None:
        """Takes the record away."""


class MemorySessions:
    """Records in memory, as texts: nobody can change one by holding on to it."""

    def __init__(self) -> None:
        self.records: dict[str, str] = {}

    async def load(self, session: str) -> Record | None:
        text = self.records.get(session)
        if text is None:
            return None
        record: Record = json.loads(text)
        return record

    async def save(self, session: str, record: Mapping[str, Any]) -> None:
        self.records[session] = json.dumps(record, ensure_ascii=False, sort_keys=True)

    async def delete(self, session: str) -> None:
        self.records.pop(session, None)
