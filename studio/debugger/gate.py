"""Where a session holds its run: at superstep boundaries, and before nodes with a breakpoint."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from studio.checkpoints import QueuedMessage
from studio.debugger.states import Happening

_SETTLE_TURNS = 4
"""Loop turns in which another delivery of the same superstep may still start a node."""
_FRAME = 0.016
_CALLS_PER_FRAME = 4


def node_path(node: str, inside: Sequence[str]) -> str:
    """How breakpoints name a node: its id, or ``sub/inner`` inside a sub-workflow."""
    return "/".join((*inside, node))


@dataclass(eq=False, slots=True)
class HeldNode:
    """An invocation that waits at a breakpoint."""

    node: str
    sources: tuple[str, ...]
    data: Any
    go: asyncio.Future[None]


class DebuggerGate:
    """Implements :class:`studio.engine.gate.Gate`. ``tell`` is called for every happening, ``flush`` is awaited at each
    boundary so that the log holds the supersteps that are over."""

    def __init__(
        self, breakpoints: Collection[str], tell: Callable[[Happening], None], flush: Callable[[], Awaitable[None]]
    ) -> None:
        self._breakpoints = breakpoints
        self._tell = tell
        self._flush = flush
        self._passes: int | None = None
        self._boundary: asyncio.Future[None] | None = None
        self._running: dict[str, str] = {}
        self._frame = self._calls = 0
        self.superstep = 0
        """The superstep that runs, or the one that waits at its boundary."""
        self.queued: tuple[QueuedMessage, ...] = ()
        """The messages that superstep delivers."""
        self.held: list[HeldNode] = []

    # ------------------------------------------------------------------------------------------------- commands

    def hold_after(self, boundaries: int) -> None:
        """Lets this many boundaries pass and holds at the next."""
        self._passes = boundaries

    def let_run(self) -> None:
        """Holds at no boundary, and lets go what is held."""
        self._passes = None
        self._let_go()

    def step(self) -> None:
        """Lets go what is held, to the next boundary."""
        self._passes = 0
        self._let_go()

    def _let_go(self) -> None:
        waiting = [node.go for node in self.held]
        self.held.clear()
        if self._boundary is not None:
            waiting.append(self._boundary)
            self._boundary = None
        for future in waiting:
            if not future.done():
                future.set_result(None)

    # --------------------------------------------------------------------------------- the engine's side of it

    async def before_superstep(self, superstep: int, queued: Sequence[Any]) -> None:
        """Between supersteps."""
        self.superstep = superstep
        self.queued = tuple(queued)
        await self._flush()
        if self._passes is None:
            return
        if self._passes > 0:
            self._passes -= 1
            return
        self._boundary = asyncio.get_running_loop().create_future()
        self._tell(Happening.HELD)
        await self._boundary

    async def before_node(self, node: str, sources: tuple[str, ...], data: Any, inside: tuple[str, ...]) -> None:
        """Before one invocation."""
        path = node_path(node, inside)
        if path not in self._breakpoints:
            return
        held = HeldNode(path, sources, data, asyncio.get_running_loop().create_future())
        self.held.append(held)
        self._tell(Happening.BREAKPOINT_HIT)
        self._look_whether_quiet()
        try:
            await held.go
        finally:
            if held in self.held:
                self.held.remove(held)

    async def before_model_call(self, node: str, messages: Sequence[Any], inside: tuple[str, ...]) -> None:
        """Model calls are not held; but many at once are spread over frames, as each costs some milliseconds to set
        up."""
        loop = asyncio.get_running_loop()
        while True:
            frame = int(loop.time() / _FRAME)
            if frame != self._frame:
                self._frame, self._calls = frame, 0
            if self._calls < _CALLS_PER_FRAME:
                self._calls += 1
                return
            await asyncio.sleep(_FRAME)

    # ---------------------------------------------------------------------------------- who runs at the moment

    def node_started(self, invocation: str, path: str) -> None:
        """An invocation began."""
        self._running[invocation] = path
        if self.held and self.busy:
            self._tell(Happening.WENT_ON)

    def node_ended(self, invocation: str) -> None:
        """An invocation ended."""
        self._running.pop(invocation, None)
        self._look_whether_quiet()

    def superstep_ended(self) -> None:
        """Nothing runs any more, whether it told its end or was cancelled."""
        self._running.clear()

    @property
    def busy(self) -> list[str]:
        """The nodes that run, without the sub-workflow nodes around a held one."""
        around = tuple(node.node for node in self.held)
        return list(
            dict.fromkeys(path for path in self._running.values() if not any(h.startswith(f"{path}/") for h in around))
        )

    def _look_whether_quiet(self, turns: int = _SETTLE_TURNS) -> None:
        if not self.held or self.busy:
            return
        if turns:
            asyncio.get_running_loop().call_soon(self._look_whether_quiet, turns - 1)
        else:
            self._tell(Happening.HELD)
