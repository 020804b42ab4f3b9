"""Invocations under a debugger: recorded, taken from a recording, or tried again after an error.

Only made when a gate has one of these hooks; a run without them does not come here.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any

from studio.checkpoints.snapshot import copied
from studio.engine.errors import text_of
from studio.engine.gate import Gate, hook
from studio.engine.results import Asked, Invocation, NodeResult, Retry, Sent, Wrote, Yielded

if TYPE_CHECKING:
    from studio.engine.context import Context
    from studio.engine.executor import Executor

_Call = Callable[[Any, "Context"], Awaitable[None]]


class Recorder:
    """The hooks ``result_of_node``, ``node_recorded`` and ``node_failed`` of one run."""

    __slots__ = ("_executors", "_failed", "_recorded", "_taken")

    def __init__(self, gate: Gate, executors: Mapping[str, Executor]) -> None:
        self._executors = executors
        self._taken = hook(gate, "result_of_node")
        self._recorded = hook(gate, "node_recorded")
        self._failed = hook(gate, "node_failed")

    @property
    def wanted(self) -> bool:
        """Whether the gate has any of the hooks."""
        return not (self._taken is self._recorded is self._failed is None)

    async def run(self, call: _Call, data: Any, ctx: Context) -> Any:
        """One invocation; gives the data it had in the end. Raises what the node raised, unless a hook mends it."""
        at = Invocation(ctx.node, ctx.invocation, ctx.superstep, ctx.sources, ctx.inside)
        effects = ctx.record()
        taken = None if self._taken is None else await self._taken(at, data)
        if taken is None:
            data = await self._called(call, data, ctx)
        else:
            await self._apply(taken, ctx)
        if self._recorded is not None:
            saved = copied(await self._executors[ctx.node].save())
            await self._recorded(at, data, NodeResult(tuple(effects), saved))
        return data

    async def _called(self, call: _Call, data: Any, ctx: Context) -> Any:
        if self._failed is None:
            await call(data, ctx)
            return data
        executor = self._executors[ctx.node]
        before = copied(await executor.save())
        while True:
            try:
                await call(data, ctx)
                return data
            except Exception as error:
                mended = None if ctx.scope.failed else await self._mended(ctx, data, error)
                if mended is None:
                    raise
                ctx.emit_named("mended", {"error": type(error).__name__, "message": text_of(error)})
            ctx.withdraw()
            await executor.restore(copied(before))
            if isinstance(mended, NodeResult):
                await self._apply(mended, ctx)
                return data
            data = mended.data

    async def _mended(self, ctx: Context, data: Any, error: Exception) -> Retry | NodeResult | None:
        """What a person makes of the failure; None if another node's failure ends the superstep meanwhile."""
        assert self._failed is not None
        try:
            found: Retry | NodeResult | None = await self._failed(ctx.node, data, error, ctx.inside)
        except asyncio.CancelledError:
            if ctx.scope.cancelled():
                raise  # the person stopped the run instead
            return None
        return found

    async def _apply(self, result: NodeResult, ctx: Context) -> None:
        """Does what was recorded, in its order; the node takes over what it remembered."""
        for effect in result.effects:
            match effect:
                case Sent():
                    ctx.send(effect.data, effect.target, purpose=effect.purpose)
                case Yielded(passed_on=True):
                    ctx.pass_on(effect.data)
                case Yielded():
                    ctx.yield_output(effect.data, intermediate=effect.intermediate)
                case Asked():
                    ctx.request(effect.data, effect.response_type, effect.id)
                case Wrote():
                    ctx.set_state(effect.key, effect.value)
        if result.saved is not None:
            await self._executors[ctx.node].restore(copied(result.saved))
