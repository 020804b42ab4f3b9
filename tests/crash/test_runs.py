"""A run that is killed: at most the superstep in progress is missing, and it goes on to the same end."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from studio.bridge.run_model import RunModel
from studio.bridge.workspaces import Workspaces
from studio.checkpoints import RunRecord, SqliteStore
from studio.debugger.states import RunState
from studio.engine import Codec
from studio.settings import trust
from studio.settings.places import run_store

from tests.bridge.conftest import OnLoop
from tests.crash.run_victim import INPUT, go_on, outputs, workflow
from tests.crash.victims import KILLS, Said, Victim, kill_at_moments, live_in
from tests.debugger.graphs import until


def next_program(on_loop: OnLoop, script: Callable[[RunModel], Awaitable[None]], delay_ms: float = 8) -> list[str]:
    """Opens the workflow as a new program does; gives the sentences of what did not work."""
    problems: list[str] = []

    async def main() -> None:
        document = workflow(delay_ms)
        trust.trust(document)
        workspaces = Workspaces()
        model = workspaces.open(document, None).run
        model.failed_to_start.connect(problems.append)
        try:
            await script(model)
        finally:
            await workspaces.close_all()

    on_loop(main)
    return problems


def test_a_run_killed_at_ten_moments_loses_one_superstep_at_most_and_ends_alike(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    whole = Victim("run_victim", tmp_path / "whole")
    said = whole.end()
    [expected] = [line["done"] for line in said if "done" in line]
    lines, seconds = len(said), said[-1]["t"] - said[0]["t"]
    kept = []
    for victim, killed in kill_at_moments("run_victim", tmp_path, [()] * KILLS, lines, seconds / lines, moments):
        live_in(victim.home, monkeypatch)
        kept.append(check_killed_run(on_loop, killed, expected))
    print(f"checkpoints at the ten moments of a run of {lines} lines: {kept}")
    assert len(set(kept)) > 2, "all moments hit the same supersteps: this test shows nothing"


def check_killed_run(on_loop: OnLoop, killed: Said, expected: list[list[Any]]) -> int:
    """Opens what a killed run left and continues it; returns how many checkpoints there were."""
    told = [line["checkpoint"] for line in killed if "checkpoint" in line]
    started = max((line["superstep"] for line in killed if "superstep" in line), default=0)
    counts: list[int] = []

    async def script(model: RunModel) -> None:
        if not run_store("killed").exists():
            assert not told
            counts.append(0)
            return
        await settled(model)
        counts.append(len(model.checkpoints))
        there = [checkpoint.checkpoint for checkpoint in model.checkpoints]
        assert there[: len(told)] == told, "a checkpoint that the window had shown is gone"
        if not there:
            assert started == 0
            return
        assert started <= 1 + max(c.superstep for c in model.checkpoints), "more than one superstep is missing"
        model.show_branch(model.branches[0].branch)
        await until(lambda: model.branch is not None, 60)
        last = model.checkpoints[-1].superstep
        assert [s.number for s in model.supersteps] == list(range(1, last + 1))
        assert outputs(model) == [output for output in expected if output[0] <= last]
        await go_on(model, model.state)
        assert outputs(model) == expected

    assert next_program(on_loop, script) == []
    return counts[0]


async def settled(model: RunModel) -> None:
    """Waits until the runs of before are listed."""
    listed = asyncio.Event()
    model.state_changed.connect(listed.set)
    async with asyncio.timeout(60):
        await listed.wait()


def test_a_run_killed_before_its_first_checkpoint_is_shown_and_can_be_started_again(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    live_in(tmp_path, monkeypatch)

    async def killed() -> None:
        store = SqliteStore(run_store("killed"), Codec())
        await store.start_run(RunRecord("r2", 2, "main", input=INPUT, state="running", started=1.0))
        await store.close()

    async def first(model: RunModel) -> None:
        model.run("another poem")
        await go_on(model, RunState.PREPARING)

    async def second(model: RunModel) -> None:
        await settled(model)
        assert [(b.number, b.name, b.state) for b in model.branches] == [
            (1, "main", "completed"),
            (2, "main", "interrupted"),
        ]
        model.show_branch("r2")
        await until(lambda: model.branch == "r2", 60)
        assert model.sentence == "Interrupted before the first checkpoint. Run it again."
        assert (model.state, outputs(model)) == (RunState.CANCELLED, [])
        model.restart()
        await go_on(model, RunState.PREPARING)
        assert (model.branches[-1].number, model.branches[-1].input_text) == (3, INPUT)

    assert next_program(on_loop, first) == []
    asyncio.run(killed())
    assert next_program(on_loop, second) == []
