"""Where a session holds its run: at superstep boundaries, at breakpoints, and before nodes while it is stepped."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any, Protocol

from studio.agents.messages import ToolCall, ToolResult
from studio.checkpoints import QueuedMessage
from studio.debugger.breakpoints import Breakpoint, Breakpoints
from studio.debugger.holds import At, BoundaryHit, Cause, HeldNode, Stop, node_path
from studio.debugger.states import Happening
from studio.debugger.watching import Watch
from studio.engine import events as ev
from studio.engine.gate import Hooks
from studio.engine.results import Invocation, NodeResult, Retry

_SETTLE_TURNS = 4
"""Loop turns in which another delivery of the same superstep may still start a node."""
_FRAME = 0.016
_CALLS_PER_FRAME = 4


def arguments_of(call: ToolCall) -> Any:
    """The arguments of a call as data; their text if that is no JSON."""
    try:
        return json.loads(call.arguments or "{}")
    except ValueError:
        return call.arguments


class LooksAhead(Protocol):
    """Warns about a prompt before it is sent, also where the call is held."""

    def fold(self, event: ev.Event) -> object:
        """Takes an event of the run."""

    def look(self, path: str, messages: Sequence[Any]) -> None:
        """A node is about to send these messages."""


class DebuggerGate(Hooks):
    """The engine's hooks. ``tell`` is called for every happening, ``flush`` is awaited at each boundary so that the log
    holds the supersteps that are over."""

    def __init__(
        self,
        breakpoints: Breakpoints,
        tell: Callable[[Happening], None],
        flush: Callable[[], Awaitable[None]],
        watch: Watch | None = None,
    ) -> None:
        self._breakpoints = breakpoints
        self._tell = tell
        self._flush = flush
        self.watch = watch or Watch(breakpoints, lambda _breakpoint, _path, _text: None)
        self.take_tool: Callable[[str, ToolCall], ToolResult | None] = lambda _path, _call: None
        """Gives the result of a tool call that is not to be run."""
        self.before_calls: LooksAhead | None = None
        """Looks at what a model is about to be sent."""
        self._passes: int | None = None
        self._boundary: asyncio.Future[None] | None = None
        self._running: dict[str, str] = {}
        self._frame = self._calls = 0
        self._by_node = False
        self._grants = 0
        """Invocations that may begin while the run is stepped node by node."""
        self._run_to = ""
        self.passed: set[Stop] = set()
        """Places where the run stood already: it passes them once."""
        self.stood: set[Stop] = set()
        """Places where the run stood in this superstep."""
        self._failed: BaseException | None = None
        self._begun = False
        """Whether a node has started in this superstep."""
        self.superstep = 0
        """The superstep that runs, or the one that waits at its boundary."""
        self.queued: tuple[QueuedMessage, ...] = ()
        """The messages that superstep delivers."""
        self.held: list[HeldNode] = []
        self.boundary_hits: tuple[BoundaryHit, ...] = ()
        """The breakpoints that hold the run at the boundary."""

    # ------------------------------------------------------------------------------------------------- commands

    def go_on_from(self, stops: Collection[Stop]) -> None:
        """The run goes on for one that stood at these places: it passes each of them once."""
        self.passed.update(stops)
        self.stood.update(stops)

    def hold_after(self, boundaries: int) -> None:
        """Lets this many boundaries pass and holds at the next."""
        self._passes = boundaries

    def let_run(self) -> None:
        """Holds at no boundary, and lets go what is held."""
        self._passes, self._by_node = None, False
        self._let_go()

    def step(self) -> None:
        """Lets go what is held, to the next boundary."""
        self._passes, self._by_node = 0, False
        self._let_go()

    def step_node(self) -> None:
        """Lets one invocation run: the first of the held ones, or the first of the next superstep."""
        self._passes, self._by_node = 0, True
        self._grants = 0
        inside = next((h for h in self.held if h.at not in ("before", "error")), None)
        if inside is not None:  # it goes on to its own end
            self._release(inside)
        elif self.held:
            self._release(self.held[0])
        else:
            self._grants = 1
            self._let_go()

    def retry_failed(self) -> None:
        """Lets go what is held; the invocations that failed run again, as if they had not run before."""
        for held in self.held:
            held.again = held.at == "error"
        self.let_run()

    def run_to(self, path: str) -> None:
        """Holds before the next invocation of a node, once. What is held is let go with :meth:`let_run`."""
        self._run_to = path

    def _release(self, held: HeldNode) -> None:
        self.held.remove(held)
        if not held.go.done():
            held.go.set_result(None)

    def _let_go(self) -> None:
        waiting = [node.go for node in self.held]
        self.held.clear()
        self.boundary_hits = ()
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
        self._failed = None
        await self._flush()
        found = await self.watch.take_boundary(superstep, self.queued)
        self.boundary_hits = tuple(hit for hit in found if hit.stop not in self.passed)
        self.passed.difference_update(hit.stop for hit in found)
        self.stood.update(hit.stop for hit in found)
        if not self.boundary_hits:
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
        found = await self._at(self._breakpoints.at("node", "before"), path, data)
        found = await self.watch.take_delivered(path, sources) or found
        if found is not None:
            await self._hold(path, sources, data, breakpoint=found)
        elif path == self._run_to:
            self._run_to, self._passes = "", None
            await self._hold(path, sources, data, cause="here")
        elif self._by_node and not self._grants:
            await self._hold(path, sources, data, cause="step")
        elif self._by_node:
            self._grants -= 1

    async def after_node(self, node: str, data: Any, given: tuple[Any, ...], inside: tuple[str, ...]) -> None:
        """After an invocation, before its end is told."""
        path = node_path(node, inside)
        changed = await self.watch.take_changed(path)
        given_data = given[0] if given else None
        found = await self._at(self._breakpoints.at("node", "after"), path, given_data)
        found = await self.watch.take_sent(path) or found
        if changed:
            breakpoint, key = changed
            await self._hold(path, (), given_data, at="after", breakpoint=breakpoint, detail=key)
        elif found is not None:
            await self._hold(path, (), given_data, at="after", breakpoint=found)

    async def node_failed(
        self, node: str, data: Any, error: Exception, inside: tuple[str, ...]
    ) -> Retry | NodeResult | None:
        """Before the failing superstep is given up; the nodes around an inner one that failed fail with it."""
        if error is self._failed:
            return None
        path = node_path(node, inside)
        found = await self._at(self._breakpoints.at("error"), path, str(error))
        if found is not None:
            self._failed = error
            text = str(error) or type(error).__name__
            held = await self._hold(path, (), data, at="error", breakpoint=found, detail=text)
            return Retry(data) if held.again else None
        return None

    async def before_model_call(self, node: str, messages: Sequence[Any], inside: tuple[str, ...]) -> None:
        """At breakpoints and passed budgets; and many calls at once are spread over frames, as each costs some
        milliseconds to set up."""
        path = node_path(node, inside)
        if self.before_calls is not None:
            self.before_calls.look(path, messages)
        last = messages[-1] if messages else None
        found = await self._at(self._breakpoints.at("model"), path, last) or await self.watch.take_over(path)
        if found is not None:
            await self._hold(path, (), last, at="model", breakpoint=found)
        loop = asyncio.get_running_loop()
        while True:
            frame = int(loop.time() / _FRAME)
            if frame != self._frame:
                self._frame, self._calls = frame, 0
            if self._calls < _CALLS_PER_FRAME:
                self._calls += 1
                return
            await asyncio.sleep(_FRAME)

    async def result_of_tool(self, at: Invocation, call: ToolCall) -> ToolResult | None:
        """Before a tool runs: it may be held, mocked, or known from a recording."""
        path, data = node_path(at.node, at.inside), arguments_of(call)
        found = await self.watch.first(self._tools("before", call), path, data) or await self.watch.take_over(path)
        if found is not None:
            await self._hold(path, (), data, at="tool", breakpoint=found, detail=call.name)
        result = self.take_tool(path, call)
        if result is not None:
            await self.after_tool_call(path, call, result.result)
        return result

    async def after_tool_call(self, path: str, call: ToolCall, data: Any) -> None:
        """After a tool ran; ``data`` is its result."""
        found = await self.watch.first(self._tools("after", call), path, data)
        if found is not None:
            await self._hold(path, (), data, at="tool_after", breakpoint=found, detail=call.name)

    def _tools(self, when: Any, call: ToolCall) -> list[Breakpoint]:
        return [b for b in self._breakpoints.at("tool", when) if b.place in ("", call.name)]

    async def _at(self, found: Collection[Breakpoint], path: str, data: Any) -> Breakpoint | None:
        """The first that stops at this node."""
        return await self.watch.first([b for b in found if b.place in ("", path)], path, data) if found else None

    async def _hold(
        self,
        path: str,
        sources: tuple[str, ...],
        data: Any,
        *,
        at: At = "before",
        cause: Cause = "breakpoint",
        breakpoint: Breakpoint | None = None,
        detail: str = "",
    ) -> HeldNode:
        go = asyncio.get_running_loop().create_future()
        held = HeldNode(path, sources, data, go, at, cause, breakpoint, detail)
        if held.stop in self.passed:
            self.passed.discard(held.stop)
            return held
        if held.stop is not None:
            self.stood.add(held.stop)
        self.held.append(held)
        self._tell(Happening.BREAKPOINT_HIT)
        self._look_whether_quiet()
        try:
            await go
        finally:
            if held in self.held:
                self.held.remove(held)
        return held

    # ---------------------------------------------------------------------------------- who runs at the moment

    def observe(self, event: ev.Event) -> None:
        """Takes an event of the run, before anybody else does."""
        self.watch.observe(event)
        if self.before_calls is not None:
            self.before_calls.fold(event)
        match event:
            case ev.NodeStarted():
                self.node_started(event.invocation, node_path(event.node, event.inside))
            case ev.NodeFinished() | ev.NodeFailed():
                self.node_ended(event.invocation)
            case ev.SuperstepStarted(inside=()):
                self.superstep = event.superstep
            case ev.SuperstepFinished(inside=()):
                self.superstep_ended()

    def node_started(self, invocation: str, path: str) -> None:
        """An invocation began."""
        self._begun = True
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
        self._begun = False
        self.passed.clear()
        self.stood.clear()

    @property
    def in_the_middle(self) -> bool:
        """Whether what is held is in a superstep that has run something: a held node itself, or others of it."""
        begun = self._begun or any("/" in held.node for held in self.held)
        return bool(self.held) and (begun or all(held.at != "before" for held in self.held))

    @property
    def busy(self) -> list[str]:
        """The nodes that run: without those that are held inside, and the sub-workflow nodes around a held one."""
        around = tuple(node.node for node in self.held)
        inside = {node.node for node in self.held if node.at != "before"}
        running = (p for p in self._running.values() if p not in inside)
        return list(dict.fromkeys(p for p in running if not any(h.startswith(f"{p}/") for h in around)))

    def _look_whether_quiet(self, turns: int = _SETTLE_TURNS) -> None:
        if not self.held or self.busy:
            return
        if turns:
            asyncio.get_running_loop().call_soon(self._look_whether_quiet, turns - 1)
        else:
            self._tell(Happening.HELD)
