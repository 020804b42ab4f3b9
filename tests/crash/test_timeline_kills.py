"""``kill -9`` in the middle of everything that is done with the runs of a workflow: running with parallel agents,
answering, forking, marking, retention, putting back, deleting, compacting, resuming."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from studio.agents.offline.model import OfflineModel
from studio.bridge.run_model import RunModel
from studio.checkpoints import Checkpoint, Mark, RunRecord, SqliteStore
from studio.debugger.states import ACTIVE, RunState
from studio.engine import Codec
from studio.settings.places import run_store

from tests.bridge.conftest import OnLoop
from tests.crash.nursery import KILLED, Nursery
from tests.crash.points import End
from tests.crash.run_victim import go_on
from tests.crash.test_runs import next_program
from tests.crash.timeline_victim import DELAY_MS, LIMIT, PHASES, quiet
from tests.crash.victims import Said, live_in
from tests.debugger.graphs import until

KILLS, LONG_KILLS = 20, 200
GROWS = ("run", "answer", "fork", "edit", "resume")
"""Phases in which checkpoints are saved; the others either happened or did not."""
_CUT = End("run", 4, only="INSERT INTO entry (parent, head, body)")
"""Three checkpoints of the run are there."""


@dataclass(frozen=True)
class Left:
    """What a file of runs holds. ``hidden``: what was taken away and can come back."""

    runs: dict[str, RunRecord]
    points: dict[str, Checkpoint]
    marks: dict[str, Mark]
    hidden: frozenset[str]
    hidden_runs: frozenset[str]

    @property
    def facts(self) -> tuple[object, ...]:
        """What a person sees of it."""
        return frozenset(self.runs), frozenset(self.points), self.hidden, self.hidden_runs, tuple(self.marks.items())


def left_in(home: Path, monkeypatch: pytest.MonkeyPatch, gone: Collection[str] = ()) -> Left:
    """Reads everything, and checks what must hold of every file, killed or not. ``gone``: checkpoints that may have
    been removed for good."""
    live_in(home, monkeypatch)

    async def read() -> Left:
        store = SqliteStore(run_store("killed"), Codec())
        try:
            assert store._database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
            assert await store.owners() == {}, "a process that is gone owns nothing"
            runs, infos, batches = await store.runs(), await store.infos(), await store.discarded()
            points = {info.id: await store.load(info.id) for info in infos}
            assert len(points) == len(infos), "no duplicate"
            hidden = frozenset(c for batch in batches for c in batch.checkpoints)
            hidden_runs = frozenset(run for batch in batches for run in batch.runs)
            return Left({r.id: r for r in runs}, points, await store.marks(), hidden, hidden_runs)
        finally:
            await store.close()

    left = asyncio.run(read())
    check_tree(left, frozenset(gone))
    return left


def check_tree(left: Left, gone: frozenset[str]) -> None:
    """One root per run, no orphan, no hole but those that retention made."""
    numbers = Counter((run.number, run.name) for run in left.runs.values())
    assert max(numbers.values()) == 1, "no name is given twice"
    for point in left.points.values():
        assert point.run in left.runs, "no orphan"
    for run in left.runs.values():
        own = [p for p in left.points.values() if p.run == run.id]
        roots = [p for p in own if p.parent is None]
        assert len(roots) <= 1, "one root per run"
        begins = {p.parent for p in own} - {p.id for p in own} - gone
        assert len(begins) <= 1, "each but the first goes on from one before it"
    assert left.hidden_runs <= set(left.runs)


@dataclass(frozen=True)
class Past:
    """A home in which each phase can happen, and what it looks like before and after; ``points`` of each phase."""

    home: Path
    before: Left
    after: dict[str, Left]
    points: dict[str, int]


def lived(nursery: Nursery, past: Path, home: Path, life: str, end: End | None = None) -> tuple[int, Said]:
    """A life in a copy of a home."""
    shutil.copytree(past, home)
    return nursery.live(home, life, end)


@pytest.fixture
def nursery(tmp_path: Path) -> Iterator[Nursery]:
    with Nursery(tmp_path) as made:
        yield made


@pytest.fixture
def past(nursery: Nursery, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Past:
    home = tmp_path / "past"
    assert nursery.live(home, "past")[0] == 0
    code, _ = nursery.live(home, "run", _CUT)
    assert code == KILLED
    before = left_in(home, monkeypatch)
    assert sorted((r.number, r.name, r.state) for r in before.runs.values()) == [
        (1, "Fork A", "completed"), (1, "main", "completed"), (2, "main", "waiting"), (3, "main", "running"),
    ]  # fmt: skip
    assert before.hidden
    after, points = {}, {}
    for life in PHASES:
        code, said = lived(nursery, home, tmp_path / life, life)
        assert code == 0
        assert [line["problem"] for line in said if "problem" in line] == []
        points[life] = next(line["points"] for line in said if "points" in line)
        after[life] = left_in(tmp_path / life, monkeypatch, before.hidden if life == "compact" else ())
        assert after[life].facts != before.facts, f"{life} does something"
    return Past(home, before, after, points)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forks")
def test_killed_in_everything_the_tree_is_whole_and_goes_on(
    on_loop: OnLoop, nursery: Nursery, past: Past, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    _kill(on_loop, nursery, past, monkeypatch, moments, KILLS)


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="victims are forks")
def test_killed_at_two_hundred_points(
    on_loop: OnLoop, nursery: Nursery, past: Past, monkeypatch: pytest.MonkeyPatch, moments: random.Random
) -> None:
    _kill(on_loop, nursery, past, monkeypatch, moments, LONG_KILLS)


def _kill(
    on_loop: OnLoop, nursery: Nursery, past: Past, monkeypatch: pytest.MonkeyPatch, moments: random.Random, kills: int
) -> None:
    each = kills // len(PHASES)
    killed: Counter[str] = Counter()
    for life in PHASES:
        for n in range(each):
            at = 1 + int(past.points[life] * (n + moments.random()) / each)
            home = past.home.parent / f"{life} {n}"
            code, said = lived(nursery, past.home, home, life, End(life, at, beside=n % 2 == 1))
            killed[life] += code == KILLED
            where = f"{life}, killed at point {at} of {past.points[life]}"
            assert [line["problem"] for line in said if "problem" in line] == [], where
            left = left_in(home, monkeypatch, past.before.hidden if life == "compact" else ())
            check_left(past, life, left, said, where)
            if life in GROWS:
                check_goes_on(on_loop, past.before, left, life, where)
            shutil.rmtree(home)
    print(f"killed: {dict(killed)} of {each} each; points: {past.points}")
    assert all(killed[life] for life in PHASES), "an exact end always comes"


def check_left(past: Past, life: str, left: Left, said: Said, where: str) -> None:
    """Nothing that was there is changed; what was done is done whole or not at all."""
    before = past.before
    for id in before.points.keys() & left.points.keys():
        assert left.points[id] == before.points[id], where
    told = {line["checkpoint"] for line in said if "checkpoint" in line}
    if life in GROWS:
        assert before.points.keys() <= left.points.keys(), where
        assert told <= left.points.keys(), f"{where}: what was shown is there"
        assert (left.marks, left.hidden, left.hidden_runs) == (before.marks, before.hidden, before.hidden_runs), where
        new = left.runs.keys() - before.runs.keys()
        assert len(new) <= (life in ("run", "fork", "edit")), where
        concerned = new or {r.id for r in before.runs.values() if r.number == {"answer": 2, "resume": 3}.get(life)}
        assert {left.points[p].run for p in left.points.keys() - before.points.keys()} <= concerned, where
    elif life == "mark":
        after = past.after[life].marks
        assert left.facts[:-1] == before.facts[:-1], where
        names = [left.marks.get(id, Mark()).name for id in after if after[id] != before.marks.get(id)]
        done = [name == after[id].name for id, name in zip(_changed(past), names, strict=True)]
        assert done == sorted(done, reverse=True), f"{where}: one after the other"
        for id in left.marks:
            assert left.marks[id] in (before.marks.get(id), after[id]), where
    else:
        assert left.facts in (before.facts, past.after[life].facts), where


def _changed(past: Past) -> list[str]:
    after = past.after["mark"].marks
    return [id for id in after if after[id] != past.before.marks.get(id)]


def check_goes_on(on_loop: OnLoop, before: Left, left: Left, life: str, where: str) -> None:
    """The next program shows the tree; what waits shows its form, what was cut resumes to its end, and what had
    finished by the last checkpoint is not called again."""
    new = [r.id for r in left.runs.values() if r.id not in before.runs]
    number = {"answer": 2, "resume": 3}.get(life)
    concerned = new or [r.id for r in left.runs.values() if r.number == number]

    async def script(model: RunModel) -> None:
        await until(lambda: len(model.branches) == len(left.runs) - len(left.hidden_runs), LIMIT)
        await quiet(model)
        assert not [b for b in model.branches if b.state in {s.value for s in ACTIVE} - {"waiting", "paused"}], where
        for branch in concerned:
            await _end(model, branch, where)

    assert next_program(on_loop, script, DELAY_MS) == [], where


async def _end(model: RunModel, branch: str, where: str) -> None:
    view = next(b for b in model.branches if b.branch == branch)
    own = [c for c in model.checkpoints if c.branch == branch]
    if view.state == "completed" or not own:
        return
    waits = view.state == "waiting"
    assert waits or model.is_interrupted(branch), f"{where}: {view.state}"
    saved = own[-1].superstep
    called: list[str] = []
    reply = OfflineModel.reply

    def noted(self: OfflineModel, body: dict[str, Any], node: str | None = None) -> Any:
        called.append(node or self.node_of(body["messages"]))
        return reply(self, body, node)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(OfflineModel, "reply", noted)
        model.show_branch(branch) if waits else model.resume(branch)
        await until(lambda: model.branch == branch and model.state not in (RunState.IDLE, RunState.PAUSED), LIMIT)
        if waits:
            await until(lambda: bool(model.requests), LIMIT)
        await go_on(model, model.state)
    assert model.outputs[-1].node == "critic", where
    assert {c.checkpoint for c in own} <= {c.checkpoint for c in model.checkpoints if c.branch == branch}, where
    ran = {i.node: i.superstep for i in model.invocations.values()}
    assert len(set(called)) == len(called), where
    assert all(ran[node] > saved for node in called), f"{where}: {called} after {saved}, of {ran}"


def test_work_that_is_half_done_is_seen() -> None:
    def left(hidden: str = "", marks: str = "") -> Left:
        points = {id: Checkpoint(id, None if id == "a" else chr(ord(id) - 1), "r") for id in "abc"}
        named = {id: Mark(f"name of {id}") for id in marks}
        return Left({"r": RunRecord("r", 1, "main")}, points, named, frozenset(hidden), frozenset())

    after = {"prune": left("ab"), "mark": left(marks="abc")}
    past = Past(Path(), left(), after, {})
    check_left(past, "prune", left("ab"), [], "")
    check_left(past, "mark", left(marks="ab"), [], "")
    for life, wrong in (("prune", left("a")), ("mark", left(marks="ac")), ("mark", left("a", "a"))):
        with pytest.raises(AssertionError):
            check_left(past, life, wrong, [], "")
    lost = Left(left().runs, {"a": left().points["a"]}, {}, frozenset(), frozenset())
    with pytest.raises(AssertionError):
        check_left(past, "run", lost, [], "")
    with pytest.raises(AssertionError, match="what was shown is there"):
        check_left(past, "run", left(), [{"checkpoint": "d"}], "")
    hole = Left(left().runs, {id: left().points[id] for id in "ac"}, {}, frozenset(), frozenset())
    with pytest.raises(AssertionError, match="goes on from one before it"):
        check_tree(hole, frozenset())
    check_tree(hole, frozenset("b"))
