"""Comparing two runs through the window's model: both sides have names that tell them apart."""

from __future__ import annotations

from typing import Any

from studio.debugger.run_comparison import RunComparison
from studio.debugger.states import RunState

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, on_desk, three
from tests.debugger.graphs import until


def test_two_runs_are_told_apart_by_their_numbers(on_loop: OnLoop) -> None:
    async def work(desk: Desk) -> None:
        for count, text in enumerate(("one", "two"), 1):
            desk.run.run(text)
            await until(lambda n=count: len(desk.run.branches) == n and desk.run.state is RunState.COMPLETED, 30)
        found: list[tuple[str, str, Any]] = []
        desk.run.compared.connect(lambda a, b, comparison: found.append((a, b, comparison)))
        a, b = (branch.branch for branch in desk.run.branches)
        assert desk.run.titles_of(a, b) == ("main of run 1", "main of run 2")
        assert desk.run.titles_of(a, "gone") == ("main", "gone")
        desk.run.compare(a, b)
        await until(lambda: bool(found), 30)
        comparison = found[0][2]
        assert isinstance(comparison, RunComparison)
        assert (comparison.a.title, comparison.b.title) == ("main of run 1", "main of run 2")
        assert [row.kind for row in comparison.path] == ["different"] * 3
        first = desk.run.checkpoints[0].checkpoint
        assert desk.run.titles_of(first, first) == ("main at the input of run 1",) * 2

    on_desk(on_loop, three, work)
