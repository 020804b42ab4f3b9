"""Limits and manners of the tool loop."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from studio.agents.tools import Tool


@dataclass(frozen=True, slots=True)
class LoopSettings:
    """The framework's settings with its defaults, and a guard of our own. None: no limit."""

    enabled: bool = True
    """False: calls are returned and nothing is run."""
    max_iterations: int = 40
    """Model calls with tools; then one more is made with tools switched off."""
    max_function_calls: int | None = None
    """Tools are switched off after the batch that reaches it."""
    max_duration_seconds: float | None = None
    """Looked at after each batch; waiting for approvals counts."""
    max_consecutive_errors: int = 3
    """Batches with an error in a row, after which tools are switched off."""
    terminate_on_unknown_calls: bool = False
    """True: a call of an unknown tool fails the run instead of telling the model."""
    allow_concurrent_invocation: bool = True
    """False: the calls of a batch run one after the other, in the model's order."""
    include_detailed_errors: bool = False
    """Whether the model sees what an exception says."""
    additional_tools: tuple[Tool, ...] = ()
    """Known, but not shown to the model; a call of one waits for the caller."""
    max_repeats: int | None = 8
    """Batches in a row with equal calls and equal results, after which the model is stopped."""
    clock: Callable[[], float] = time.time
    """Unix seconds."""

    def __post_init__(self) -> None:
        for name in ("max_iterations", "max_function_calls", "max_duration_seconds", "max_repeats"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ValueError(f"{name} must be greater than 0")


DEFAULT_LOOP = LoopSettings()
