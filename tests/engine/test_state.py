"""Shared state: visible at once, committed at the end, copied, conflicts by delivery order."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from studio.engine import Context, Workflow, WorkflowBuilder
from studio.engine import events as e
from studio.engine.workflow import Order

from tests.engine.nodes import node, passing


def writers(first: Any, second: Any, order: Order = "delivery") -> Workflow:
    a, b, c = passing("a"), node("b", first), node("c", second)
    return WorkflowBuilder(a, name="w", order=order).fan_out(a, [b, c]).build()


async def late(data: str, ctx: Context) -> None:
    for _ in range(3):
        await asyncio.sleep(0)
    ctx.set_state("k", "first in delivery order, last in time")


async def early(data: str, ctx: Context) -> None:
    ctx.set_state("k", "second in delivery order, first in time")


@pytest.mark.parametrize(("order", "kept"), [("delivery", "second"), ("arrival", "first")])
async def test_conflicting_writes(order: Order, kept: str) -> None:
    workflow = writers(late, early, order)
    events: list[Any] = []
    await workflow.run("x", events=events)
    assert workflow.shared_state["k"].startswith(kept)
    assert [(c.key, c.nodes) for c in events if isinstance(c, e.StateConflict)] == [("k", ("b", "c"))]


async def test_a_write_after_reading_the_other_is_no_conflict() -> None:
    async def appends_late(data: str, ctx: Context) -> None:
        await asyncio.sleep(0)
        ctx.set_state("k", [*ctx.get_state("k", []), "b"])

    async def appends(data: str, ctx: Context) -> None:
        ctx.set_state("k", [*ctx.get_state("k", []), "c"])

    workflow = writers(appends_late, appends)
    events: list[Any] = []
    await workflow.run("x", events=events)
    assert workflow.shared_state["k"] == ["c", "b"]
    assert [c for c in events if isinstance(c, e.StateConflict)] == []


async def test_values_are_copied_on_writing_and_reading() -> None:
    async def run(data: str, ctx: Context) -> None:
        value = [1]
        ctx.set_state("k", value)
        value.append(2)
        ctx.get_state("k").append(3)
        assert ctx.get_state("k") == [1]

    workflow = WorkflowBuilder(node("a", run), name="w").build()
    await workflow.run("x")
    assert workflow.shared_state == {"k": [1]}


async def test_writes_of_a_failed_superstep_are_dropped() -> None:
    async def run(data: str, ctx: Context) -> None:
        ctx.set_state("k", 1)
        raise ValueError("boom")

    workflow = WorkflowBuilder(node("a", run), name="w").build()
    workflow.seed_state({"k": 0})
    with pytest.raises(ValueError, match="boom"):
        await workflow.run("x")
    assert workflow.shared_state == {"k": 0}


async def test_reserved_keys_are_refused() -> None:
    async def run(data: str, ctx: Context) -> None:
        ctx.set_state("_k", 1)

    with pytest.raises(ValueError, match="reserved"):
        await WorkflowBuilder(node("a", run), name="w").build().run("x")
