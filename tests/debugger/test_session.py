"""A session drives the real engine: step, pause, breakpoints, stop, answers."""

from __future__ import annotations

import asyncio

import pytest
from studio.debugger.states import IllegalCommand, RunState
from studio.engine import Executor
from studio.engine import events as ev

from tests.debugger.graphs import Asker, Bench, agent, chain, diamond, last, until, upper

S = RunState


async def test_a_run_goes_through_its_states_and_is_recorded() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    session = bench.session()
    session.run()
    assert await session.ended() is S.COMPLETED
    assert bench.states == [S.PREPARING, S.RUNNING, S.COMPLETED]
    assert bench.outputs == ["go-a-b"]
    assert session.sentence == "Completed in 3 supersteps"
    [record] = await bench.store.runs()
    assert (record.state, record.document_fingerprint) == ("completed", "fingerprint")
    assert record.ended is not None
    assert [i.kind for i in await bench.store.infos("main")] == ["input", "superstep", "superstep", "superstep"]
    assert bench.plans[0].closed
    with pytest.raises(IllegalCommand):
        session.pause()


async def test_step_stops_at_every_boundary_with_its_queue() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    session = bench.session()
    session.step()
    seen = []
    for _ in range(3):
        await until(lambda: session.state is S.PAUSED)
        seen.append((session.sentence, [m.data for m in session.queued], len(bench.kinds(ev.NodeStarted))))
        session.step()
        assert session.state is S.STEPPING
    assert await session.ended() is S.COMPLETED
    assert seen == [
        ("Paused before superstep 1", ["go"], 0),
        ("Paused before superstep 2", ["go-a"], 1),
        ("Paused before superstep 3", ["go-a-b"], 2),
    ]


async def test_continue_after_a_step_runs_to_the_end() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    session.continue_()
    assert await session.ended() is S.COMPLETED
    assert bench.outputs == ["go-a-b"]


async def test_a_breakpoint_stops_before_its_node_while_the_parallel_node_finishes() -> None:
    slow = asyncio.Event()
    bench = Bench(lambda: diamond(upper("left", slow.wait), upper("right")))
    session = bench.session(breakpoints={"right"})
    session.run()
    await until(lambda: session.state is S.PAUSING)
    await until(lambda: session.sentence == "Pausing: waits for left")
    assert [e.node for e in bench.kinds(ev.NodeStarted)] == ["start", "left"]
    slow.set()
    await until(lambda: session.state is S.PAUSED)
    assert session.sentence == "Paused in superstep 2 — breakpoint on right"
    assert session.paused_at == "right"
    assert [e.node for e in bench.kinds(ev.NodeFinished)] == ["start", "left"]
    assert "right" not in {e.node for e in bench.kinds(ev.NodeStarted, ev.NodeFinished)}
    assert [m.data for m in session.queued] == ["go-start"]
    session.continue_()
    assert await session.ended() is S.COMPLETED
    assert bench.outputs == ["go-start-left+go-start-right"]


async def test_a_step_from_a_breakpoint_ends_at_the_next_boundary() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    session = bench.session(breakpoints={"b"})
    session.run()
    await until(lambda: session.state is S.PAUSED)
    session.step()
    await until(lambda: session.state is S.PAUSED)
    assert session.sentence == "Paused before superstep 3"
    assert session.paused_at is None
    await session.close()


async def test_pause_waits_for_the_model_and_says_so() -> None:
    bench = Bench(lambda: chain(agent("writer", {"text": "slow", "wait_ms": 60}), agent("critic", "fine")))
    session = bench.session()
    session.run()
    await until(lambda: bool(bench.kinds(ev.NodeStarted)))
    session.pause()
    assert session.state is S.PAUSING
    assert session.sentence == "Pausing: waits for writer"
    await until(lambda: session.state is S.PAUSED)
    assert session.sentence == "Paused before superstep 2"
    assert [e.node for e in bench.kinds(ev.NodeFinished)] == ["writer"]
    session.continue_()
    assert await session.ended() is S.COMPLETED


async def test_a_pause_can_be_taken_back() -> None:
    bench = Bench(lambda: chain(agent("writer", {"text": "slow", "wait_ms": 20}), last_of_agent()))
    session = bench.session()
    session.run()
    await until(lambda: bool(bench.kinds(ev.NodeStarted)))
    session.pause()
    session.continue_()
    assert await session.ended() is S.COMPLETED
    assert S.PAUSED not in bench.states


def last_of_agent() -> Executor:
    return agent("critic", "fine")


async def test_stop_while_a_model_works_ends_the_call() -> None:
    bench = Bench(lambda: chain(agent("writer", {"text": "slow", "wait_ms": 3_000_000}), agent("critic", "fine")))
    session = bench.session()
    session.run()
    await until(lambda: bool(bench.kinds(ev.ModelCallStarted)))
    session.stop()
    assert session.state is S.STOPPING
    assert await session.ended() is S.CANCELLED
    assert bench.plans[0].closed
    [record] = await bench.store.runs()
    assert record.state == "cancelled"
    assert len(asyncio.all_tasks()) == 1


@pytest.mark.parametrize("state", [S.PAUSED, S.WAITING])
async def test_stop_while_nothing_runs(state: RunState) -> None:
    bench = Bench(lambda: chain(Asker("ask"), last()))
    session = bench.session()
    session.step() if state is S.PAUSED else session.run()
    await until(lambda: session.state is state)
    session.stop()
    assert await session.ended() is S.CANCELLED


async def test_an_answer_continues_the_run() -> None:
    bench = Bench(lambda: chain(Asker("ask"), last()))
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    assert session.sentence == "Waiting for an answer to ask"
    assert (await bench.store.runs())[0].state == "waiting"
    [request] = session.requests
    session.answer({request.id: "blue"})
    assert await session.ended() is S.COMPLETED
    assert bench.outputs == ["blue"]
    times = [e.t for e in bench.events]
    assert times == sorted(times)


async def test_an_answer_while_stepping_stops_at_the_next_boundary() -> None:
    bench = Bench(lambda: chain(Asker("ask"), last()))
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    session.step()
    await until(lambda: session.state is S.WAITING)
    session.answer({session.requests[0].id: "blue"})
    await until(lambda: session.state is S.PAUSED)
    assert session.sentence == "Paused before superstep 2"
    session.continue_()
    assert await session.ended() is S.COMPLETED


async def test_an_answer_of_the_wrong_type_leaves_the_question_open() -> None:
    bench = Bench(lambda: chain(Asker("ask"), last()))
    session = bench.session()
    session.run()
    await until(lambda: session.state is S.WAITING)
    session.answer({session.requests[0].id: 7})
    await until(lambda: bool(bench.kinds(ev.RunWarned)))
    await until(lambda: session.state is S.WAITING)
    session.answer({session.requests[0].id: "blue"})
    assert await session.ended() is S.COMPLETED


async def test_an_answer_given_while_another_node_works_is_kept() -> None:
    slow = asyncio.Event()
    bench = Bench(lambda: diamond(Asker("left"), upper("right", slow.wait)))
    session = bench.session()
    session.run()
    await until(lambda: bool(session.requests))
    session.answer({session.requests[0].id: "blue"})
    assert session.state is S.RUNNING
    slow.set()
    assert await session.ended() is S.COMPLETED
    assert bench.outputs == ["blue+go-start-right"]
    assert S.WAITING not in bench.states


async def test_a_failure_names_node_reason_and_way_out() -> None:
    bench = Bench(lambda: chain(agent("writer", {"error": "no more ideas"}), agent("critic", "fine")))
    session = bench.session()
    session.run()
    assert await session.ended() is S.FAILED
    assert session.sentence == "writer failed: ScriptedError: no more ideas. Retry from the last checkpoint."
    assert (await bench.store.runs())[0].state == "failed"


async def test_closing_keeps_an_active_branch_as_it_was() -> None:
    bench = Bench(lambda: chain(upper("a"), last()))
    session = bench.session()
    session.step()
    await until(lambda: session.state is S.PAUSED)
    events = len(bench.events)
    await session.close()
    assert (await bench.store.runs())[0].state == "paused"
    assert len(bench.events) == events
    assert bench.plans[0].closed


async def test_a_stop_while_the_end_is_written_does_not_break_it_off() -> None:
    bench = Bench(lambda: chain(upper("a"), last()))
    session = bench.session()
    entered, free = asyncio.Event(), asyncio.Event()
    write = bench.store.update_run

    async def slow(id: str, **fields: object) -> None:
        if fields.get("state") == "completed":
            entered.set()
            await free.wait()
        await write(id, **fields)

    bench.store.update_run = slow  # type: ignore[method-assign]
    session.run()
    await entered.wait()
    session.stop()
    await asyncio.sleep(0)
    free.set()
    assert await session.ended() is RunState.COMPLETED
    assert [r.state for r in await bench.store.runs()] == ["completed"]


async def test_a_run_that_is_stopped_in_the_turn_it_was_started_in_ends() -> None:
    bench = Bench(lambda: chain(upper("a"), last()))
    session = bench.session()
    session.run()
    session.stop()
    assert await session.ended() is RunState.CANCELLED
    assert bench.events == []
    closed = bench.session(id="closed")
    closed.run()
    await closed.close()
    assert closed.state is RunState.CANCELLED
