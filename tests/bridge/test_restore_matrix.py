"""Every checkpoint of every kind of run, restored through the window's model: at once, twice, and after a restart."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from studio.checkpoints import SqliteStore
from studio.debugger.states import RunState
from studio.engine import Workflow as Graph

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, on_desk, three
from tests.debugger.graphs import CODEC, Asker, agent, chain, diamond, last, until, upper

S = RunState


def _asks() -> Graph:
    return chain(upper("a"), Asker("ask"), upper("b"), last())


def _agents() -> Graph:
    return chain(agent("a", "one", then="one"), agent("b", "two", then="two"))


def _diamond() -> Graph:
    return diamond(upper("left"), upper("right"))


async def _to_the_end(desk: Desk) -> list[str]:
    run = desk.run
    while run.state is not S.COMPLETED:
        await until(lambda: run.state in (S.PAUSED, S.WAITING, S.COMPLETED, S.FAILED), 5)
        assert run.state is not S.FAILED, run.sentence
        if run.state is S.WAITING:
            await until(lambda: bool(run.requests), 5)
            run.answer({request.request: "yes" for request in run.requests})
            await until(lambda: run.state is not S.WAITING, 5)
        elif run.state is S.PAUSED:
            run.run("")
            await until(lambda: run.state is not S.PAUSED, 5)
    return [output.text for output in run.outputs]


async def _go_back_everywhere(desk: Desk, expected: list[str], *, times: int) -> None:
    run = desk.run
    places = [c.checkpoint for c in run.checkpoints if c.branch == run.branches[0].branch]
    before = {c.checkpoint: c.bytes for c in run.checkpoints}
    for place in places:
        for _ in range(times):
            branches = len(run.branches)
            run.restore(place)
            await until(lambda p=place: run.here == p and run.can("restore")[0], 5)  # type: ignore[misc]
            assert run.state in (S.PAUSED, S.WAITING, S.COMPLETED)
            ended = run.state is S.COMPLETED
            assert await _to_the_end(desk) == expected
            assert len(run.branches) == branches + (not ended), "a new branch, unless nothing was left to do"
    assert {c.checkpoint: c.bytes for c in run.checkpoints if c.checkpoint in before} == before


@pytest.mark.parametrize("graph", [three, _diamond, _asks, _agents])
def test_each_checkpoint_leads_to_the_same_end(on_loop: OnLoop, tmp_path: Path, graph: Callable[[], Graph]) -> None:
    expected: list[str] = []

    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await until(lambda: desk.run.state is not S.IDLE, 5)
        expected.extend(await _to_the_end(desk))
        await _go_back_everywhere(desk, expected, times=2)

    async def second(desk: Desk) -> None:
        await until(lambda: bool(desk.run.checkpoints), 5)
        await _go_back_everywhere(desk, expected, times=1)

    assert on_desk(on_loop, graph, first, SqliteStore(tmp_path / "runs.db", CODEC)).problems == []
    assert on_desk(on_loop, graph, second, SqliteStore(tmp_path / "runs.db", CODEC)).problems == []
    assert expected
