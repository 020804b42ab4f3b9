"""The gate alone, driven as the engine drives it."""

from __future__ import annotations

import asyncio

from studio.debugger.breakpoints import Breakpoints
from studio.debugger.gate import DebuggerGate
from studio.debugger.states import Happening


class Told(list[Happening]):
    """Happenings, and a way to wait for one."""

    def __init__(self) -> None:
        super().__init__()
        self._news = asyncio.Event()

    def __call__(self, happening: Happening) -> None:
        self.append(happening)
        self._news.set()

    async def until(self, happening: Happening, count: int = 1) -> None:
        async with asyncio.timeout(60):
            while self.count(happening) < count:
                self._news.clear()
                await self._news.wait()


async def _flush() -> None:
    await asyncio.sleep(0)


def _gate(*breakpoints: str) -> tuple[DebuggerGate, Told]:
    told = Told()
    return DebuggerGate(Breakpoints.before(breakpoints), told, _flush), told


async def _node(gate: DebuggerGate, node: str, seconds: asyncio.Event | None, done: list[str]) -> None:
    await gate.before_node(node, ("start",), "data", ())
    gate.node_started(f"{node}-1", node)
    if seconds is not None:
        await seconds.wait()
    done.append(node)
    gate.node_ended(f"{node}-1")


async def test_boundaries_pass_hold_and_step() -> None:
    gate, told = _gate()
    await gate.before_superstep(1, [])
    gate.hold_after(1)
    await gate.before_superstep(2, [])
    held = asyncio.create_task(gate.before_superstep(3, []))
    await told.until(Happening.HELD)
    assert gate.superstep == 3
    gate.step()
    await held
    again = asyncio.create_task(gate.before_superstep(4, []))
    await told.until(Happening.HELD, 2)
    gate.let_run()
    await again
    await gate.before_superstep(5, [])
    assert told == [Happening.HELD, Happening.HELD]


async def test_a_breakpoint_holds_its_node_and_lets_the_others_finish_first() -> None:
    gate, told = _gate("b")
    done: list[str] = []
    slow = asyncio.Event()
    tasks = [
        asyncio.create_task(_node(gate, "a", slow, done)),
        asyncio.create_task(_node(gate, "b", None, done)),
    ]
    await told.until(Happening.BREAKPOINT_HIT)
    for _ in range(10):
        await asyncio.sleep(0)
    assert Happening.HELD not in told
    assert gate.busy == ["a"]
    slow.set()
    await told.until(Happening.HELD)
    assert done == ["a"]
    assert [h.node for h in gate.held] == ["b"]
    gate.let_run()
    await asyncio.gather(*tasks)
    assert done == ["a", "b"]
    assert gate.held == []


async def test_a_node_that_starts_right_after_another_ended_keeps_the_run_busy() -> None:
    gate, told = _gate("b")
    done: list[str] = []
    first, second = asyncio.Event(), asyncio.Event()

    async def chain() -> None:
        await _node(gate, "a", first, done)
        await asyncio.sleep(0)
        await _node(gate, "c", second, done)

    tasks = [asyncio.create_task(chain()), asyncio.create_task(_node(gate, "b", None, done))]
    await told.until(Happening.BREAKPOINT_HIT)
    first.set()
    for _ in range(12):
        await asyncio.sleep(0)
    assert Happening.HELD not in told
    second.set()
    await told.until(Happening.HELD)
    gate.let_run()
    await asyncio.gather(*tasks)


async def test_a_held_node_of_a_sub_workflow_does_not_wait_for_the_node_around_it() -> None:
    gate, told = _gate("sub/inner")
    gate.node_started("sub-1", "sub")
    held = asyncio.create_task(gate.before_node("inner", ("x",), "data", ("sub",)))
    await told.until(Happening.HELD)
    gate.let_run()
    await held


async def test_a_cancelled_held_node_is_forgotten() -> None:
    gate, told = _gate("b")
    held = asyncio.create_task(gate.before_node("b", (), "data", ()))
    await told.until(Happening.HELD)
    held.cancel()
    await asyncio.gather(held, return_exceptions=True)
    assert gate.held == []


async def test_many_model_calls_at_once_are_spread_over_frames() -> None:
    gate, _ = _gate()
    loop = asyncio.get_running_loop()
    times: list[float] = []

    async def call() -> None:
        await gate.before_model_call("a", (), ())
        times.append(loop.time())

    await asyncio.gather(*(call() for _ in range(12)))
    assert len(times) == 12
    assert max(times) - min(times) >= 0.016
    for at in times:
        assert sum(at <= other < at + 0.015 for other in times) <= 8
