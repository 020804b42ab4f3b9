"""Conversations of several agents with hand-offs: each turn is a transaction, each session has its line."""

from __future__ import annotations

from studio.agents.runner.agents import RunnerAgent, handoff_tool_name
from studio.agents.runner.errors import (
    ReentrantTurnError,
    RunnerClosedError,
    RunnerError,
    RunnerSetupError,
    RunningLoopError,
    UnknownAgentError,
)
from studio.agents.runner.events import (
    EngineCalled,
    HandedOff,
    LimitReached,
    MessageAdded,
    RolledBack,
    RunnerEvent,
    RunnerToolFinished,
    RunnerToolStarted,
    TurnFinished,
    TurnStarted,
)
from studio.agents.runner.response import Handoff, TurnResponse
from studio.agents.runner.runner import ConversationRunner
from studio.agents.runner.sessions import MemorySessions, RunnerSession, SessionRecords

__all__ = [
    "ConversationRunner",
    "EngineCalled",
    "HandedOff",
    "Handoff",
    "LimitReached",
    "MemorySessions",
    "MessageAdded",
    "ReentrantTurnError",
    "RolledBack",
    "RunnerAgent",
    "RunnerClosedError",
    "RunnerError",
    "RunnerEvent",
    "RunnerSession",
    "RunnerSetupError",
    "RunnerToolFinished",
    "RunnerToolStarted",
    "RunningLoopError",
    "SessionRecords",
    "TurnFinished",
    "TurnResponse",
    "TurnStarted",
    "UnknownAgentError",
    "handoff_tool_name",
]
