"""``kill -9`` at random moments of runs with parallel agents, answers, forks, retention and compaction."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

import pytest
from studio.bridge.run_model import RunModel
from studio.checkpoints import Checkpoint, CheckpointInfo, RunRecord, SqliteStore
from studio.debugger.states import ACTIVE, RunState
from studio.engine import Codec
from studio.settings.places import run_store

from tests.bridge.conftest import OnLoop
from tests.crash.run_victim import go_on
from tests.crash.test_runs import next_program, settled
from tests.crash.timeline_victim import DELAY_MS
from tests.crash.victims import kill_at_moments, live_in
from tests.debugger.graphs import until

LINES = 14
"""Two rounds: every kind of work comes at least once."""
DELAY = 0.06
KILLS = 10


def test_killed_at_random_moments_the_tree_is_whole_and_goes_on(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    _kill(on_loop, tmp_path, monkeypatch, moments, KILLS, LINES)


@pytest.mark.long
def test_killed_at_two_hundred_random_moments(
    on_loop: OnLoop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    _kill(on_loop, tmp_path, monkeypatch, moments, 200, 60)


def _kill(
    on_loop: OnLoop, folder: Path, monkeypatch: pytest.MonkeyPatch, moments: random.Random, kills: int, lines: int
) -> None:
    doing: Counter[str] = Counter()
    kept: list[int] = []
    for victim, said in kill_at_moments("timeline_victim", folder, [()] * kills, lines, DELAY, moments):
        live_in(victim.home, monkeypatch)
        problems = [line["problem"] for line in said if "problem" in line]
        assert problems == [], victim.errors.read_text(encoding="utf-8")
        doing[next((line["doing"] for line in reversed(said) if "doing" in line), "begin")] += 1
        kept.append(check_whole())
        if run_store("killed").exists():
            check_goes_on(on_loop)
    print(f"killed while: {dict(doing)}; checkpoints then: {kept}")
    assert len(doing) > 2, "all moments hit the same work: this test shows nothing"


def check_whole() -> int:
    """What the store holds after a kill; gives how many checkpoints."""
    if not run_store("killed").exists():
        return 0

    async def read() -> tuple[list[RunRecord], list[CheckpointInfo], dict[str, Checkpoint], set[str], set[str]]:
        store = SqliteStore(run_store("killed"), Codec())
        runs, infos = await store.runs(), await store.infos()
        loaded = {info.id: await store.load(info.id) for info in infos}
        batches = await store.discarded()
        assert await store.owners() == {}, "a process that is gone owns nothing"
        problems = store._database.execute("PRAGMA integrity_check").fetchall()
        assert problems == [("ok",)]
        await store.close()
        gone = {c for batch in batches for c in batch.checkpoints}
        return runs, infos, loaded, gone, {run for batch in batches for run in batch.runs}

    runs, infos, loaded, gone, gone_runs = asyncio.run(read())
    records = {run.id: run for run in runs}
    assert len(records) == len(runs)
    assert len({info.id for info in infos}) == len(infos), "no duplicate"
    for info in infos:
        assert info.run in records, "no orphan"
        assert loaded[info.id].parent == info.parent
    for run in runs:
        own = [info for info in infos if info.run == run.id]
        roots = [info for info in own if info.parent is None]
        assert len(roots) <= 1, "one root per run"
        pruned = {i.parent for i in own} - {i.id for i in own}
        assert len(pruned) <= 1 or gone or not roots, "the chain has no holes but those that were made"
    assert gone_runs <= set(records)
    return len(infos)


def check_goes_on(on_loop: OnLoop) -> None:
    """The next program shows the tree; what waits shows its form, what was cut resumes to its end."""

    async def script(model: RunModel) -> None:
        await settled(model)
        for branch in list(model.branches):
            assert branch.state not in {s.value for s in ACTIVE} or branch.state in ("waiting", "paused")
        cut = [b for b in model.branches if b.state in ("interrupted", "waiting")]
        for branch in cut[-1:]:
            waits = branch.state == "waiting"
            if not waits and not model.is_interrupted(branch.branch):
                continue
            finished = set(_finished(model, branch.branch))
            model.show_branch(branch.branch) if waits else model.resume(branch.branch)
            await until(lambda: model.state not in (RunState.IDLE, RunState.PAUSED), 60)
            if waits:
                await until(lambda: bool(model.requests), 60)
            await go_on(model, model.state)
            assert finished <= set(_finished(model, branch.branch))
            assert model.outputs[-1].node == "critic"

    assert next_program(on_loop, script, DELAY_MS) == []
    assert check_whole() > 0


def _finished(model: RunModel, branch: str) -> list[str]:
    return [c.checkpoint for c in model.checkpoints if c.branch == branch]
