"""Restore, fork and the tree of branches."""

from __future__ import annotations

from typing import Any

import pytest
from studio.checkpoints import RunRecord
from studio.debugger.branches import Stretch, ancestry, fork_name, replay, shown_state
from studio.debugger.forks import QueueEdits
from studio.debugger.states import RunState
from studio.engine import events as ev

from tests.debugger.graphs import CODEC, Asker, Bench, agent, chain, last, until, upper

S = RunState


async def _checkpoints(bench: Bench, run: str = "main") -> list[Any]:
    return [await bench.store.load(info.id) for info in await bench.store.infos(run)]


async def test_restore_stands_at_the_checkpoint_and_makes_no_branch_until_it_goes_on() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    first = bench.session()
    first.run()
    await first.ended()
    at_one = (await _checkpoints(bench))[1]
    restored = bench.session(id="fork", checkpoint=at_one)
    restored.restore()
    assert restored.state is S.PAUSED
    assert restored.sentence == "Restored before superstep 2"
    assert [m.data for m in restored.queued] == ["go-a"]
    assert len(await bench.store.runs()) == 1
    restored.step()
    await until(lambda: restored.state is S.PAUSED)
    assert restored.sentence == "Paused before superstep 3"
    restored.continue_()
    assert await restored.ended() is S.COMPLETED
    infos = await bench.store.infos("fork")
    assert infos[0].parent == at_one.id
    assert [i.superstep for i in infos] == [2, 3]
    assert bench.outputs == ["go-a-b", "go-a-b"]


async def test_a_fork_with_an_edited_message_leaves_the_first_branch_unchanged() -> None:
    bench = Bench(lambda: chain(upper("a"), upper("b"), last()))
    first = bench.session()
    first.run()
    await first.ended()
    before = await _checkpoints(bench), await bench.store.load_events("main"), (await bench.store.runs())[0]
    at_one = before[0][1]
    edits = QueueEdits().with_text(at_one.messages[0].id, "EDITED")
    fork = bench.session(id="fork", checkpoint=at_one, edits=edits)
    fork.restore()
    fork.continue_()
    assert await fork.ended() is S.COMPLETED
    assert bench.outputs == ["go-a-b", "EDITED-b"]
    infos = await bench.store.infos("fork")
    assert [(i.kind, i.superstep) for i in infos] == [("fork", 1), ("superstep", 2), ("superstep", 3)]
    assert infos[0].parent == at_one.id
    assert infos[1].parent == infos[0].id
    after = await _checkpoints(bench), await bench.store.load_events("main"), (await bench.store.runs())[0]
    assert after == before


async def test_a_restored_question_can_be_answered() -> None:
    bench = Bench(lambda: chain(Asker("ask"), last()))
    first = bench.session()
    first.run()
    await until(lambda: first.state is S.WAITING)
    await first.close()
    at_one = (await _checkpoints(bench))[-1]
    again = bench.session(id="fork", checkpoint=at_one)
    again.restore()
    assert again.state is S.WAITING
    assert again.sentence == "Waiting for an answer to ask"
    again.answer({again.requests[0].id: "green"})
    assert await again.ended() is S.COMPLETED
    assert bench.outputs == ["green"]


async def test_replaying_the_logs_gives_the_moment_of_a_checkpoint_of_a_fork() -> None:
    bench = Bench(lambda: chain(agent("a", {"chunks": ["one ", "two"]}), agent("b", "three", then="repeat_last")))
    first = bench.session()
    first.run()
    await first.ended()
    at_one = (await _checkpoints(bench))[1]
    fork = bench.session(id="fork", checkpoint=at_one)
    fork.restore()
    fork.continue_()
    await fork.ended()
    records = {r.id: r for r in await bench.store.runs()}
    infos = {i.id: i for i in await bench.store.infos()}
    last_of_fork = (await bench.store.infos("fork"))[-1].id
    way = ancestry("fork", last_of_fork, records, infos)
    assert way == [Stretch("main", at_one.id), Stretch("fork", last_of_fork)]
    seen: list[ev.Event] = []
    await replay(way, bench.store, CODEC, seen.append)
    assert [(e.node, e.superstep) for e in seen if isinstance(e, ev.NodeStarted)] == [("a", 1), ("b", 2)]
    assert [e.text for e in seen if isinstance(e, ev.TokensArrived)] == ["one two", "three"]
    assert isinstance(seen[-1], ev.SuperstepFinished)
    assert seen[-1].checkpoint == last_of_fork
    assert next(e for e in seen if isinstance(e, ev.NodeStarted)) in bench.events


async def test_the_whole_log_comes_back_as_it_was() -> None:
    bench = Bench(lambda: chain(agent("a", "one"), agent("b", "two")))
    session = bench.session()
    session.run()
    await session.ended()
    seen: list[ev.Event] = []
    clock = await replay([Stretch("main", None)], bench.store, CODEC, seen.append)
    assert seen == bench.events
    assert clock == bench.events[-1].t


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        ([], "Fork A"),
        (["main", "Fork A", "Fork C"], "Fork B"),
        ([f"Fork {c}" for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"], "Fork AA"),
    ],
)
def test_fork_names(taken: list[str], expected: str) -> None:
    assert fork_name(taken) == expected


def test_an_active_branch_of_a_gone_program_was_interrupted() -> None:
    record = RunRecord("r", 1, "main", state="running")
    assert shown_state(record, ["r"]) == "running"
    assert shown_state(record, []) == "interrupted"
    assert shown_state(RunRecord("r", 1, "main", state="completed"), []) == "completed"
