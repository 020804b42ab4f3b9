"""What must not hang, leak or go unexplained: bad handlers, conditions, amounts and graphs."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from studio.checkpoints import SqliteStore
from studio.engine import (
    ANY,
    Codec,
    Context,
    FunctionExecutor,
    ListOf,
    MemoryStore,
    RoutingError,
    RunRejected,
    Workflow,
    WorkflowBuilder,
    stopping,
)
from studio.engine import events as ev


def node(id: str, run: Any, **options: Any) -> FunctionExecutor:
    return FunctionExecutor(id, run, **{"accepts": ANY, "yields": [ANY], **options})


async def passing(data: Any, ctx: Context) -> None:
    ctx.send(data)


async def ending(data: Any, ctx: Context) -> None:
    ctx.yield_output(data)


def of(events: list[Any], kind: type) -> list[Any]:
    return [event for event in events if type(event) is kind]


async def failing(workflow: Workflow, data: Any = "x") -> tuple[BaseException, list[Any]]:
    """Runs to the error; what was told."""
    events: list[Any] = []
    with pytest.raises(Exception) as raised:  # noqa: PT011, RUF100
        await workflow.run(data, events=events)
    return raised.value, events


async def test_a_handler_that_is_no_coroutine_fails_its_node() -> None:
    start = node("a", passing)
    workflow = WorkflowBuilder(start, name="w").edge(start, node("b", lambda data, ctx: None))
    error, events = await failing(workflow.build())
    assert isinstance(error, TypeError)
    assert of(events, ev.NodeFailed)[0].node == "b"
    assert error.__notes__ == ["Node b, superstep 2"]


async def test_what_a_handler_returns_is_not_looked_at() -> None:
    async def returns(data: Any, ctx: Context) -> Any:
        ctx.yield_output("said")
        return {"not": "looked at"}

    result = await WorkflowBuilder(node("a", returns), name="w").build().run("x")
    assert result.outputs == ("said",)


async def test_messages_to_unknown_nodes_and_of_unwanted_types_are_dropped_and_it_is_told() -> None:
    async def lost(data: Any, ctx: Context) -> None:
        ctx.send("x", "nobody")
        ctx.send(object())
        ctx.send(3.5, "b")

    a, b = node("a", lost), node("b", ending, accepts=str)
    events: list[Any] = []
    result = await WorkflowBuilder(a, name="w").edge(a, b).build().run("x", events=events)
    assert result.outputs == ()
    assert [e.reason for e in of(events, ev.MessageRouted)[1:]] == ["target", "type", "type"]


@pytest.mark.parametrize("kind", ["condition", "selection", "later"])
async def test_conditions_that_raise_name_the_node_and_the_superstep(kind: str) -> None:
    def wrong(data: Any, ids: Any = None) -> Any:
        raise ZeroDivisionError("in a condition")

    async def later(data: Any) -> bool:
        await asyncio.sleep(0)
        raise ZeroDivisionError("in a condition")

    a, b, c = node("a", passing), node("b", ending), node("c", ending)
    builder = WorkflowBuilder(a, name="w")
    if kind == "selection":
        builder.fan_out(a, [b, c], wrong)
    else:
        builder.edge(a, b, wrong if kind == "condition" else later).edge(a, c)
    error, events = await failing(builder.build())
    assert isinstance(error, ZeroDivisionError)
    assert error.__notes__ == ["An edge of node a, superstep 2"]
    assert not of(events, ev.NodeFailed)
    assert of(events, ev.RunFailed)[0].node == "a"


async def test_a_selection_of_unknown_nodes() -> None:
    a, b, c = node("a", passing), node("b", ending), node("c", ending)
    error, _ = await failing(WorkflowBuilder(a, name="w").fan_out(a, [b, c], lambda data, ids: ["b", "zz"]).build())
    assert isinstance(error, RoutingError)
    assert "'zz'" in str(error)
    assert error.nodes == ("a",)


async def test_yielding_much_keeps_one_of_it() -> None:
    big = bytes(64_000_000)

    async def generous(data: Any, ctx: Context) -> None:
        for _ in range(64):
            ctx.yield_output(big)
            ctx.send(big)

    a, b = node("a", generous), node("b", ending, accepts=str)
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    tracemalloc.start()
    events: list[Any] = []
    result = await workflow.run("x", events=events)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(result.outputs) == 64
    assert peak < 8_000_000


async def test_ten_thousand_queued_messages(tmp_path: Path) -> None:
    async def many(data: Any, ctx: Context) -> None:
        for number in range(10_000):
            ctx.send(number)

    seen = 0

    async def count(data: int, ctx: Context) -> None:
        nonlocal seen
        seen += 1

    a, b = node("a", many), node("b", count, accepts=int)
    store = SqliteStore(tmp_path / "runs.db", Codec())
    workflow = WorkflowBuilder(a, name="w").edge(a, b).build()
    await workflow.run("x", store=store)
    assert seen == 10_000
    middle = (await store.infos())[1]
    assert len((await store.load(middle.id)).messages) == 10_000
    await store.close()


async def test_a_graph_of_five_thousand_nodes() -> None:
    start, last = node("start", passing), node("last", ending, accepts=ListOf(str))
    middle = [node(f"n{number}", passing, accepts=str) for number in range(5000)]
    builder = WorkflowBuilder(start, name="w", outputs=[last]).fan_out(start, middle).fan_in(middle, last)
    workflow = builder.build()
    result = await workflow.run("x", store=MemoryStore(Codec()))
    assert len(result.outputs[0]) == 5000
    chain = [node(f"c{number}", passing) for number in range(5000)]
    long = WorkflowBuilder(chain[0], name="w", max_supersteps=6000).chain([*chain, node("end", ending)]).build()
    assert (await long.run("x")).outputs == ("x",)


async def hanging(data: Any, ctx: Context) -> None:
    await asyncio.Event().wait()


async def stubborn(data: Any, ctx: Context) -> None:
    while not _released[0].is_set():
        try:
            await _released[0].wait()
        except asyncio.CancelledError:
            continue
    ctx.send("too late")
    ctx.yield_output("too late")


_released: list[asyncio.Event] = []
"""Lets the stubborn node end; one for each test, since an event belongs to a loop."""


@pytest.fixture
def short_grace(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(stopping, "GRACE", 0.05)
    _released[:] = [asyncio.Event()]
    yield
    _released[0].set()


async def stopped(workflow: Workflow, events: list[Any]) -> None:
    """Cancels the run as soon as the node runs."""
    task = asyncio.ensure_future(workflow.run("x", events=events))
    for _ in range(50):
        await asyncio.sleep(0)
    assert any(e.node == "stuck" for e in of(events, ev.NodeStarted))
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("alone", [True, False])
async def test_a_node_that_hangs_is_stopped(alone: bool) -> None:
    a, b, c = node("a", passing), node("stuck", hanging), node("c", ending)
    builder = WorkflowBuilder(a, name="w").edge(a, b)
    events: list[Any] = []
    workflow = (builder if alone else builder.edge(a, c)).build()
    await stopped(workflow, events)
    assert workflow.state == "CANCELLED"
    assert not of(events, ev.RunWarned)


@pytest.mark.parametrize("alone", [True, False])
async def test_a_node_that_swallows_the_stop_is_left_behind_and_named(alone: bool, short_grace: None) -> None:
    a, b, c = node("a", passing), node("stuck", stubborn), node("c", ending)
    builder = WorkflowBuilder(a, name="w").edge(a, b)
    workflow = (builder if alone else builder.edge(a, c)).build()
    events: list[Any] = []
    await stopped(workflow, events)
    assert workflow.state == "CANCELLED"
    warned = of(events, ev.RunWarned)
    assert [w.node for w in warned] == ["stuck"]
    assert "does not stop" in warned[0].message
    with pytest.raises(RunRejected, match="does not end"):
        await workflow.run("y")
    told = len(events)
    _released[0].set()
    for _ in range(20):
        await asyncio.sleep(0)
    assert len(events) == told


async def test_a_node_that_swallows_the_stop_does_not_hold_up_a_failure(short_grace: None) -> None:
    async def fails(data: Any, ctx: Context) -> None:
        await asyncio.sleep(0)
        raise ValueError("boom")

    a, b, c = node("a", passing), node("stuck", stubborn), node("c", fails)
    events: list[Any] = []
    with pytest.raises(ValueError, match="boom"):
        await WorkflowBuilder(a, name="w").fan_out(a, [b, c]).build().run("x", events=events)
    assert [w.node for w in of(events, ev.RunWarned)] == ["stuck"]
    assert of(events, ev.RunFailed)[0].node == "c"
    _released[0].set()
    for _ in range(20):
        await asyncio.sleep(0)
