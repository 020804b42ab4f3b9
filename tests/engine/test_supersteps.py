"""Delivery: edges, order, overlap, errors inside a superstep."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest
from studio.engine import (
    ANY,
    Case,
    Context,
    ConvergenceError,
    FunctionExecutor,
    NodeStopped,
    RoutingError,
    RunRejected,
    WorkflowBuilder,
)
from studio.engine import events as e

from tests.engine.nodes import Blocker, ending, failing, joining, node, passing


def of(events: Sequence[Any], kind: type) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def names(events: Sequence[Any]) -> list[str]:
    return [type(event).__name__ for event in events]


async def test_fan_out_and_fan_in() -> None:
    a, b, c, d = passing("a"), passing("b", "b:"), passing("c", "c:"), joining("d")
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [b, c]).fan_in([c, b], d).build()
    result = await workflow.run("x")
    assert result.outputs == ("c:x|b:x",)
    assert (result.state, workflow.superstep, workflow.queued) == ("IDLE", 3, ())


async def test_events_of_a_superstep_in_order() -> None:
    a = ending("a")
    events: list[Any] = []
    await WorkflowBuilder(a, name="w").build().run("x", events=events)
    assert names(events) == [
        "RunStarted",
        "StatusChanged",
        "MessageQueued",
        "SuperstepStarted",
        "MessageRouted",
        "NodeStarted",
        "OutputYielded",
        "NodeFinished",
        "SuperstepFinished",
        "StatusChanged",
    ]


async def test_async_conditions_and_selections_are_awaited() -> None:
    async def holds(data: Any) -> bool:
        await asyncio.sleep(0)
        return bool(data == "x")

    async def never(data: Any) -> bool:
        return False

    async def both(data: Any, targets: list[str]) -> list[str]:
        return [*targets, targets[0]]

    a, b, c, d, f = passing("a"), ending("b"), ending("c"), ending("d"), ending("f")
    built = WorkflowBuilder(a, name="w").edge(a, b, holds).edge(a, c, never).fan_out(a, [d, f], both).build()
    assert (await built.run("x")).outputs == ("x", "x", "x")

    s, t, u = passing("s"), ending("t"), ending("u")
    switched = WorkflowBuilder(s, name="w").switch(s, [Case(never, t), Case(holds, u)], default=t_default()).build()
    events: list[Any] = []
    await switched.run("x", events=events)
    assert [v.node for v in of(events, e.OutputYielded)] == ["u"]


def t_default() -> FunctionExecutor:
    return ending("default")


async def test_why_a_message_was_not_delivered() -> None:
    async def run(data: str, ctx: Context) -> None:
        ctx.send(data)
        ctx.send(1)
        ctx.send(data, "c")
        ctx.send(data, "nobody")

    a, b, c = FunctionExecutor("a", run, accepts=str), ending("b"), ending("c")
    workflow = (
        WorkflowBuilder(a, name="w").edge(a, b, lambda data: False, edge_id="e1").edge(a, c, edge_id="e2").build()
    )
    events: list[Any] = []
    result = await workflow.run("x", events=events)
    routed = [(r.edge, r.delivered, r.reason) for r in of(events, e.MessageRouted) if r.superstep == 2]
    assert routed == [
        ("e1", False, "condition"),
        ("e1", False, "type"),
        ("e1", False, "target"),
        ("e1", False, "target"),
        ("e2", True, ""),
        ("e2", False, "type"),
        ("e2", True, ""),
        ("e2", False, "target"),
    ]
    assert result.outputs == ("x", "x")


async def test_a_message_without_edges_costs_a_superstep() -> None:
    a = passing("a")
    workflow = WorkflowBuilder(a, name="w").build()
    events: list[Any] = []
    await workflow.run("x", events=events)
    assert workflow.superstep == 2
    assert [r.reason for r in of(events, e.MessageRouted)] == ["", "no_edge"]


async def test_a_node_runs_without_overlap_in_delivery_order() -> None:
    running, order = 0, []

    async def one_at_a_time(data: str, ctx: Context) -> None:
        nonlocal running
        assert running == 0
        running += 1
        await asyncio.sleep(0)
        running -= 1
        order.append(ctx.sources[0])
        ctx.yield_output(data)

    async def late(data: str, ctx: Context) -> None:
        for _ in range(5):
            await asyncio.sleep(0)
        ctx.send(data)

    def graph(order: Any) -> Any:
        a, slow, fast, c = passing("a"), node("slow", late), passing("fast"), node("c", one_at_a_time)
        return WorkflowBuilder(a, name="w", order=order).fan_out(a, [slow, fast]).edge(slow, c).edge(fast, c).build()

    await graph("delivery").run("x")
    await graph("arrival").run("x")
    assert order == ["slow", "fast", "fast", "slow"]


async def test_messages_of_one_source_over_one_edge_wait_for_each_other() -> None:
    running = 0

    async def two(data: str, ctx: Context) -> None:
        ctx.send("1")
        ctx.send("2")

    async def slow(data: str, ctx: Context) -> None:
        nonlocal running
        running += 1
        assert running == 1
        await asyncio.sleep(0)
        running -= 1
        ctx.yield_output(data)

    a, b, c = node("a", two), node("b", slow), ending("c")
    workflow = WorkflowBuilder(a, name="w").edge(a, b).edge(a, c).build()
    assert (await workflow.run("x")).outputs == ("1", "2", "1", "2")


async def test_outputs_come_in_delivery_order_not_as_they_happened() -> None:
    blocker = Blocker("slow")

    async def after(data: str, ctx: Context) -> None:
        await blocker.go.wait()
        ctx.yield_output("slow")

    async def first(data: str, ctx: Context) -> None:
        ctx.yield_output("fast")
        blocker.go.set()

    a, slow, fast = passing("a"), node("slow", after), node("fast", first)
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [slow, fast]).build()
    assert (await workflow.run("x")).outputs == ("slow", "fast")


async def test_an_error_cancels_and_awaits_the_other_nodes() -> None:
    blocker = Blocker("slow")

    async def fails(data: str, ctx: Context) -> None:
        await blocker.started.wait()
        raise ValueError("boom")

    a, bad, done = passing("a"), node("bad", fails), ending("done")
    workflow = (
        WorkflowBuilder(a, name="w").fan_out(a, [blocker.node, bad]).edge(blocker.node, done).edge(bad, done).build()
    )
    events: list[Any] = []
    with pytest.raises(ValueError, match="boom") as raised:
        await workflow.run("x", events=events)
    assert blocker.cancelled
    assert raised.value.__notes__ == ["Node bad, superstep 2"]
    assert [f.node for f in of(events, e.NodeFailed)] == ["bad"]
    assert names(events)[-2:] == ["RunFailed", "StatusChanged"]
    assert (workflow.state, workflow.superstep) == ("FAILED", 1)
    assert [s.superstep for s in of(events, e.SuperstepFinished)] == [1]


async def test_a_failed_run_with_messages_left_refuses_a_new_input() -> None:
    async def sends_and_fails(data: str, ctx: Context) -> None:
        ctx.send(data)
        raise ValueError("boom")

    workflow = WorkflowBuilder(node("a", sends_and_fails), name="w").build()
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x")
    events: list[Any] = []
    with pytest.raises(RunRejected, match="left in this instance"):
        await workflow.run("x", events=events)
    assert (workflow.state, events) == ("FAILED", [])


async def test_an_error_of_a_condition_is_no_error_of_a_node() -> None:
    def bad(data: Any) -> bool:
        raise ZeroDivisionError("condition")

    a, b = passing("a"), ending("b")
    workflow = WorkflowBuilder(a, name="w").edge(a, b, bad).build()
    events: list[Any] = []
    with pytest.raises(ZeroDivisionError):
        await workflow.run("x", events=events)
    assert of(events, e.NodeFailed) == []
    assert of(events, e.RunFailed)[0].error == "ZeroDivisionError"


async def test_a_selection_may_only_name_targets() -> None:
    a, b, c = passing("a"), ending("b"), ending("c")
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [b, c], lambda data, targets: ["zz"]).build()
    with pytest.raises(RoutingError, match="'zz'") as raised:
        await workflow.run("x")
    assert raised.value.nodes == ("a",)


async def test_a_node_that_cancels_itself_fails_the_run() -> None:
    async def cancels(data: str, ctx: Context) -> None:
        raise asyncio.CancelledError

    a, b, c = passing("a"), node("b", cancels), ending("c")
    workflow = WorkflowBuilder(a, name="w").fan_out(a, [b, c]).build()
    with pytest.raises(NodeStopped) as raised:
        await workflow.run("x")
    assert (raised.value.nodes, workflow.state) == (("b",), "FAILED")


async def test_a_loop_ends_at_the_limit_and_names_the_node() -> None:
    a = passing("a")
    workflow = WorkflowBuilder(a, name="w", max_supersteps=3).edge(a, a).build()
    with pytest.raises(ConvergenceError, match="3 supersteps") as raised:
        await workflow.run("x")
    assert raised.value.nodes == ("a",)
    assert len(workflow.queued) == 1


async def test_a_run_without_waiting_makes_one_task_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    loop = asyncio.get_running_loop()
    made: list[Any] = []
    create = loop.create_task
    monkeypatch.setattr(loop, "create_task", lambda *a, **k: made.append(a) or create(*a, **k))
    a, b, c = passing("a"), passing("b"), ending("c")
    await WorkflowBuilder(a, name="w").chain([a, b, c]).build().run("x")
    assert len(made) == 1


async def test_a_long_run_lets_others_work() -> None:
    turns = 0

    async def busy(data: int, ctx: Context) -> None:
        sum(range(3000))
        ctx.send(data + 1)

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    a = node("a", busy, int, (int,))
    workflow = WorkflowBuilder(a, name="w", max_supersteps=1000).edge(a, a).build()
    beside = asyncio.ensure_future(other())
    with pytest.raises(ConvergenceError):
        await workflow.run(0)
    beside.cancel()
    assert turns > 2


async def test_two_runs_at_once_are_refused() -> None:
    blocker = Blocker("a")
    workflow = WorkflowBuilder(blocker.node, name="w").build()
    first = asyncio.ensure_future(workflow.run("x"))
    await blocker.started.wait()
    with pytest.raises(RunRejected, match="already running"):
        await workflow.run("y")
    blocker.go.set()
    assert (await first).state == "IDLE"


async def test_ten_thousand_messages() -> None:
    async def many(data: str, ctx: Context) -> None:
        for number in range(10_000):
            ctx.send(str(number))

    count = 0

    async def counts(data: str, ctx: Context) -> None:
        nonlocal count
        count += 1

    a, b = node("a", many), node("b", counts)
    await WorkflowBuilder(a, name="w").edge(a, b).build().run("x")
    assert count == 10_000


async def test_a_failure_names_its_node_in_the_event() -> None:
    a, b = passing("a"), failing("b")
    events: list[Any] = []
    with pytest.raises(ValueError, match="boom"):
        await WorkflowBuilder(a, name="w").edge(a, b).build().run("x", events=events)
    (failed,) = of(events, e.NodeFailed)
    assert (failed.node, failed.superstep, failed.error, failed.message) == ("b", 2, "ValueError", "boom")
    assert of(events, e.RunFailed)[0].node == "b"


async def test_none_is_an_input_like_any_other() -> None:
    a = ending("a", accepts=ANY)
    assert (await WorkflowBuilder(a, name="w").build().run(None)).outputs == (None,)
