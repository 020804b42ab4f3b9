"""Cancelling the task that awaits a run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from studio.engine import Codec, Context, MemoryStore, RunRejected, WorkflowBuilder
from studio.engine import events as e

from tests.engine.nodes import Blocker, ending, node, passing


async def test_cancelling_cancels_all_nodes_and_awaits_them() -> None:
    one, two = Blocker("one"), Blocker("two")
    a = passing("a")
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [one.node, two.node]).build()
    events: list[Any] = []
    run = asyncio.ensure_future(workflow.run("x", events=events))
    await one.started.wait()
    await two.started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert one.cancelled
    assert two.cancelled
    assert workflow.state == "CANCELLED"
    assert isinstance(events[-1], e.StatusChanged)
    assert events[-1].state == "CANCELLED"
    assert [task for task in asyncio.all_tasks() if task is not asyncio.current_task()] == []


async def test_a_cancelled_run_resumes_from_its_last_checkpoint() -> None:
    blocker = Blocker("b")
    a, c = passing("a"), ending("c")
    workflow = WorkflowBuilder(a, name="w").chain([a, blocker.node, c]).build()
    store = MemoryStore(Codec())
    run = asyncio.ensure_future(workflow.run("x", store=store))
    await blocker.started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    blocker.go.set()
    last = (await store.infos())[-1]
    result = await workflow.run(checkpoint=last.id, store=store)
    assert (result.outputs, result.state) == (("x",), "IDLE")


async def test_an_error_while_cancelling_is_still_a_cancelled_run() -> None:
    started = asyncio.Event()

    async def messy(data: str, ctx: Context) -> None:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("while cleaning up")

    a, b, c = passing("a"), node("b", messy), node("c", messy)
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [b, c]).build()
    run = asyncio.ensure_future(workflow.run("x"))
    await started.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert workflow.state == "CANCELLED"


async def test_cancelling_a_gate_that_holds_the_run() -> None:
    class Holding:
        async def before_superstep(self, superstep: int, queued: Any) -> None:
            held.set()
            await asyncio.Event().wait()

        async def before_node(self, *args: Any) -> None: ...
        async def before_model_call(self, *args: Any) -> None: ...

    held = asyncio.Event()
    workflow = WorkflowBuilder(ending("a"), name="w").build()
    run = asyncio.ensure_future(workflow.run("x", gate=Holding()))
    await held.wait()
    run.cancel()
    with pytest.raises(asyncio.CancelledError):
        await run
    assert workflow.state == "CANCELLED"
    with pytest.raises(RunRejected):
        await workflow.run("y")


async def test_break_before_one_of_two_parallel_nodes_lets_the_other_finish() -> None:
    class Breaking:
        async def before_superstep(self, superstep: int, queued: Any) -> None: ...
        async def before_model_call(self, *args: Any) -> None: ...
        async def before_node(self, node: str, sources: Any, data: Any, inside: Any) -> None:
            if node == "b":
                await go.wait()

    go, other = asyncio.Event(), asyncio.Event()

    async def tells(data: str, ctx: Context) -> None:
        other.set()
        ctx.yield_output("c")

    a, b, c = passing("a"), ending("b"), node("c", tells)
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [b, c]).build()
    events: list[Any] = []
    run = asyncio.ensure_future(workflow.run("x", gate=Breaking(), events=events))
    await other.wait()
    await asyncio.sleep(0)
    assert "c" in {v.node for v in events if isinstance(v, e.NodeFinished)}
    assert "b" not in {v.node for v in events if isinstance(v, e.NodeStarted)}
    go.set()
    assert (await run).outputs == ("x", "c")
