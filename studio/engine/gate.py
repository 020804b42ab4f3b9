"""Where a debugger may hold a run. The engine calls these only if a gate is given; None costs nothing.

Each method may wait as long as it likes; a raised ``asyncio.CancelledError`` stops the run. ``before_*`` is
awaited before anything of the step has happened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class Gate(Protocol):
    """Hooks of a debugger; see :mod:`studio.debugger`."""

    async def before_superstep(self, superstep: int, queued: Sequence[Any]) -> None:
        """Between supersteps, before ``SuperstepStarted``; ``queued`` are the engine's messages, in delivery order."""

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> None:
        """Before one invocation, before ``NodeStarted``."""

    async def before_model_call(self, node: str, messages: Sequence[Any], inside: tuple[str, ...]) -> None:
        """Before a model call leaves the process."""
