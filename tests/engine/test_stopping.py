"""Who cancelled what: a node or an edge that cancels itself fails, nothing beside it hangs, a stop stays a stop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from studio.engine import ANY, Context, FunctionExecutor, NodeStopped, SubWorkflowExecutor, Workflow, WorkflowBuilder
from studio.engine import events as ev
from studio.engine import superstep as superstep_module

Run = Callable[[Any, Context], Awaitable[None]]


class Odd(BaseException):
    """No ``Exception``: what test frameworks and other event loops raise."""


def node(id: str, run: Run) -> FunctionExecutor:
    return FunctionExecutor(id, run, accepts=ANY, yields=[ANY])


async def passing(data: Any, ctx: Context) -> None:
    ctx.send(data)


async def ending(data: Any, ctx: Context) -> None:
    ctx.yield_output(data)


async def hanging(data: Any, ctx: Context) -> None:
    await asyncio.Event().wait()


async def cancels_its_task(data: Any, ctx: Context) -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def raises_odd(data: Any, ctx: Context) -> None:
    await asyncio.sleep(0)
    raise Odd("no Exception")


async def raises_generator_exit(data: Any, ctx: Context) -> None:
    await asyncio.sleep(0)
    raise GeneratorExit


def graph(run: Run, *, beside_hanging: bool) -> Workflow:
    """a -> odd -> end, and beside it a node that never ends by itself."""
    a, odd, last = node("a", passing), node("odd", run), node("end", ending)
    built = WorkflowBuilder(a, name="w").edge(odd, last)
    # The hanging node comes first: it is the one that is waited for when the other fails.
    return (built.fan_out(a, [node("stuck", hanging), odd]) if beside_hanging else built.edge(a, odd)).build()


async def told(workflow: Workflow) -> tuple[BaseException, list[Any]]:
    """Runs to the error, never longer than half a minute."""
    events: list[Any] = []
    # The task is looked at, not awaited: a GeneratorExit would close the coroutine that waits for it.
    run = asyncio.create_task(workflow.run("x", events=events))
    await asyncio.wait([run], timeout=30)
    raised = run.exception()
    assert raised is not None
    return raised, events


@pytest.mark.parametrize("beside_hanging", [False, True])
@pytest.mark.parametrize(
    ("run", "error"), [(cancels_its_task, NodeStopped), (raises_odd, Odd), (raises_generator_exit, GeneratorExit)]
)
async def test_what_is_no_ordinary_error_fails_its_node_at_once(
    run: Run, error: type[BaseException], beside_hanging: bool
) -> None:
    workflow = graph(run, beside_hanging=beside_hanging)
    raised, events = await told(workflow)
    assert type(raised) is error
    assert raised.__notes__ == ["Node odd, superstep 2"]
    assert [(e.node, e.error) for e in events if isinstance(e, ev.NodeFailed)] == [("odd", error.__name__)]
    assert [e.node for e in events if isinstance(e, ev.RunFailed)] == ["odd"]
    assert workflow.state == "FAILED"


@pytest.mark.parametrize("beside_hanging", [False, True])
@pytest.mark.parametrize("later", [False, True])
async def test_a_condition_that_cancels_itself_fails_the_run(later: bool, beside_hanging: bool) -> None:
    def at_once(data: Any) -> bool:
        raise asyncio.CancelledError

    async def after_a_while(data: Any) -> bool:
        await asyncio.sleep(0)
        raise asyncio.CancelledError

    a, b, c = node("a", passing), node("stuck", hanging), node("c", ending)
    built = WorkflowBuilder(a, name="w")
    if beside_hanging:
        built.edge(a, b)
    workflow = built.edge(a, c, after_a_while if later else at_once).build()
    raised, events = await told(workflow)
    assert isinstance(raised, NodeStopped)
    assert raised.nodes == ("a",)
    assert not [e for e in events if isinstance(e, ev.NodeFailed)]
    assert [e.node for e in events if isinstance(e, ev.RunFailed)] == ["a"]


async def test_a_node_that_cancels_itself_and_ends_at_once_does_not_cancel_the_run() -> None:
    async def careless(data: Any, ctx: Context) -> None:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        ctx.send("went on")

    workflow = graph(careless, beside_hanging=False)
    events: list[Any] = []
    failed = 0
    try:
        # Python 3.13 and later can take such a cancellation back; before that it is met, and the node is named.
        assert (await workflow.run("x", events=events)).outputs == ("went on",)
    except NodeStopped as stopped:
        assert stopped.nodes == ("odd",)
        failed = 1
    assert workflow.state == ("FAILED" if failed else "IDLE")
    assert sum(isinstance(e, ev.NodeFailed) for e in events) == failed


async def broken_group(then: type[Exception] | None, data: Any, ctx: Context) -> None:
    async def child() -> None:
        await asyncio.sleep(0)
        raise ValueError("in a child")

    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(child())
    except* ValueError:
        if then is not None:
            raise then("given up") from None
    ctx.send("mended")


@pytest.mark.parametrize("nested", [False, True])
async def test_a_task_group_that_failed_inside_a_node_does_not_cancel_the_run(nested: bool) -> None:
    async def mended(data: Any, ctx: Context) -> None:
        await broken_group(None, data, ctx)

    async def given_up(data: Any, ctx: Context) -> None:
        await broken_group(KeyError, data, ctx)

    def whole(run: Run) -> Workflow:
        inner = graph(run, beside_hanging=False)
        if not nested:
            return inner
        sub, last = SubWorkflowExecutor(inner, "sub"), node("last", ending)
        return WorkflowBuilder(sub, name="outer").edge(sub, last).build()

    assert (await whole(mended).run("x")).outputs == ("mended",)
    workflow = whole(given_up)
    raised, _ = await told(workflow)
    assert isinstance(raised, (KeyError, ExceptionGroup))
    assert workflow.state == "FAILED"


@pytest.mark.parametrize("beside_hanging", [False, True])
async def test_a_node_that_cancels_itself_in_a_nested_workflow(beside_hanging: bool) -> None:
    sub = SubWorkflowExecutor(graph(cancels_its_task, beside_hanging=beside_hanging), "sub")
    workflow = WorkflowBuilder(sub, name="outer").edge(sub, node("last", ending)).build()
    raised, _ = await told(workflow)
    assert isinstance(raised, NodeStopped)
    assert workflow.state == "FAILED"


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("beside", [False, True])
async def test_a_stop_from_outside_is_no_failure_of_a_node(beside: bool, nested: bool) -> None:
    started = asyncio.Event()

    async def waits(data: Any, ctx: Context) -> None:
        started.set()
        await asyncio.Event().wait()

    inner = graph(waits, beside_hanging=beside)
    sub = SubWorkflowExecutor(inner, "sub")
    workflow = WorkflowBuilder(sub, name="outer").edge(sub, node("last", ending)).build() if nested else inner
    events: list[Any] = []
    task = asyncio.ensure_future(workflow.run("x", events=events))
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert workflow.state == "CANCELLED"
    assert not [e for e in events if isinstance(e, (ev.NodeFailed, ev.RunFailed))]


def test_the_end_of_the_loop_is_a_stop() -> None:
    events: list[Any] = []
    started: list[asyncio.Event] = []

    async def waits(data: Any, ctx: Context) -> None:
        started[0].set()
        await asyncio.Event().wait()

    workflow = graph(waits, beside_hanging=False)

    async def leaves() -> asyncio.Task[Any]:
        started.append(asyncio.Event())
        run = asyncio.get_running_loop().create_task(workflow.run("x", events=events))
        await started[0].wait()
        return run

    assert asyncio.run(leaves()).cancelled()
    assert workflow.state == "CANCELLED"
    assert not [e for e in events if isinstance(e, (ev.NodeFailed, ev.RunFailed))]


async def test_an_error_whose_text_fails_is_told_all_the_same() -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no text")

    async def mute(data: Any, ctx: Context) -> None:
        raise Mute

    workflow = graph(mute, beside_hanging=True)
    raised, events = await told(workflow)
    assert type(raised) is Mute
    assert [e.message for e in events if isinstance(e, ev.NodeFailed)] == ["(its text cannot be shown: RuntimeError)"]
    assert workflow.state == "FAILED"


@pytest.mark.parametrize("watched", [False, True])
async def test_a_value_that_cannot_be_copied_passes_whether_watched_or_not(watched: bool) -> None:
    lock = threading.Lock()
    ring: list[Any] = [lock]
    ring.append(ring)

    async def sends(data: Any, ctx: Context) -> None:
        ctx.send(ring)

    result = await graph(sends, beside_hanging=False).run("x", events=[] if watched else None)
    assert result.outputs[0] is ring


async def test_a_long_chain_lets_the_rest_of_the_program_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(superstep_module, "BREATH", 0.0)
    turns = 0

    async def many(data: Any, ctx: Context) -> None:
        for number in range(320):
            ctx.send(number)

    async def counts(data: Any, ctx: Context) -> None:
        ctx.yield_output(turns)

    async def ticking() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    a, b = node("a", many), node("b", counts)
    ticker = asyncio.ensure_future(ticking())
    result = await WorkflowBuilder(a, name="w").edge(a, b).build().run("x")
    ticker.cancel()
    assert result.outputs[-1] - result.outputs[0] >= 9
