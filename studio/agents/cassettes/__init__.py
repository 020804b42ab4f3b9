"""Recorded model calls and tool results: made while a run goes on, replayed without network and cost."""

from __future__ import annotations

from studio.agents.cassettes.cassette import (
    CallEntry,
    Cassette,
    CassetteProblem,
    Difference,
    ToolEntry,
    call_key,
)
from studio.agents.cassettes.clients import Policy, recording, replaying
from studio.agents.cassettes.tools import NotRecorded, recording_tools, replaying_tools

__all__ = [
    "CallEntry",
    "Cassette",
    "CassetteProblem",
    "Difference",
    "NotRecorded",
    "Policy",
    "ToolEntry",
    "call_key",
    "recording",
    "recording_tools",
    "replaying",
    "replaying_tools",
]
