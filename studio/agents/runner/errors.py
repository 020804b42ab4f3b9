"""What a conversation runner refuses, and how a turn fails."""

from __future__ import annotations


class RunnerError(Exception):
    """Base of the runner's own errors."""


class RunnerSetupError(RunnerError):
    """The agents do not fit together: equal names, clashing tools, a hand-off to itself."""


class RunnerClosedError(RunnerError):
    """The runner was closed; make another one."""


class RunningLoopError(RunnerError):
    """``run`` blocks and cannot be called inside a running event loop; await ``run_async`` there."""


class ReentrantTurnError(RunnerError):
    """A tool called the runner for the session whose turn it is part of; that turn would wait for itself."""


class UnknownAgentError(RunnerError):
    """A hand-off to an agent that was never registered."""
