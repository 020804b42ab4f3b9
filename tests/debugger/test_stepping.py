"""Stepping node by node, and running to a node."""

from __future__ import annotations

from studio.debugger.states import RunState
from studio.engine import Workflow as Graph
from studio.engine import WorkflowBuilder
from studio.engine import events as ev
from studio.engine.hosts.subworkflow import SubWorkflowExecutor

from tests.debugger.graphs import Bench, chain, diamond, last, until, upper

S = RunState


def started(bench: Bench) -> list[str]:
    return ["/".join((*e.inside, e.node)) for e in bench.kinds(ev.NodeStarted)]


async def test_one_invocation_of_two_parallel_ones_runs_at_a_time() -> None:
    bench = Bench(lambda: diamond(upper("left"), upper("right")))
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    seen = []
    while session.state is S.PAUSED:
        session.step_node()
        await until(lambda: session.state is not S.STEPPING)
        await until(lambda: session.state in (S.PAUSED, S.COMPLETED))
        seen.append((started(bench), session.sentence))
    assert seen == [
        (["start"], "Paused before superstep 2"),
        (["start", "left"], "Paused in superstep 2 — next is right"),
        (["start", "left", "right"], "Paused before superstep 3"),
        (["start", "left", "right", "join"], "Completed in 3 supersteps"),
    ]


async def test_stepping_goes_into_a_workflow_inside() -> None:
    def graph() -> Graph:
        sub = SubWorkflowExecutor(chain(upper("x"), last("y")), "sub")
        return chain(upper("a"), sub, last())

    bench = Bench(graph)
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    for count in range(1, 6):
        session.step_node()
        await until(lambda: len(started(bench)) == count and session.state in (S.PAUSED, S.COMPLETED))  # noqa: B023
    assert started(bench) == ["a", "sub", "sub/x", "sub/y", "end"]


async def test_run_to_a_node_stops_there_once_and_lets_everything_before_pass() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), upper("c"), last()))
    session = bench.session()
    session.run_to("c")
    await until(lambda: session.state is S.PAUSED)
    assert session.sentence == "Paused before superstep 3 — before c"
    assert started(bench) == ["a", "b"]
    session.continue_()
    await session.ended()
    assert bench.outputs == ["go-a-b-c"]


async def test_a_superstep_after_stepping_nodes_runs_whole() -> None:
    bench = Bench(lambda: diamond(upper("left"), upper("right")))
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    for _ in range(2):
        session.step_node()
        await until(lambda: session.state is S.PAUSED)
    session.step()
    await until(lambda: session.state is S.PAUSED and session.superstep == 3)
    assert started(bench) == ["start", "left", "right"]
    session.continue_()
    await session.ended()


async def test_a_failing_node_while_stepping_ends_the_run() -> None:
    async def fails(data: object, ctx: object) -> None:
        raise ValueError("no")

    from studio.engine import FunctionExecutor

    bench = Bench(lambda: WorkflowBuilder(FunctionExecutor("a", fails, accepts=str), name="w").build())
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    session.step_node()
    await session.ended()
    assert session.state is S.FAILED
