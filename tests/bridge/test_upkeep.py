"""Two programs on one file of runs; rules of retention, undo and compacting through the window's model."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from studio.bridge.run_upkeep import Preview
from studio.checkpoints import RetentionRules, SqliteStore
from studio.checkpoints.upkeep import Compaction
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.states import RunState
from studio.engine import Workflow as Graph

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk, three
from tests.debugger.graphs import CODEC, Asker, chain, last, until, upper

S = RunState


def _asking() -> Graph:
    return chain(upper("a"), Asker("ask"), last())


def test_a_run_at_work_elsewhere_is_not_called_interrupted_and_cannot_be_resumed(
    on_loop: OnLoop, tmp_path: Path
) -> None:
    gate = asyncio.Event()

    def held() -> Graph:
        return chain(upper("a"), upper("b", gate.wait), last())

    async def main() -> None:
        one, two = (Desk(held, SqliteStore(tmp_path / "runs.db", CODEC)) for _ in range(2))
        one.run.run("go")
        await until(lambda: len(one.run.checkpoints) == 2, 5)
        await until(lambda: len(two.run.checkpoints) == 2, 5)
        [branch] = two.run.branches
        assert (branch.state, branch.elsewhere.split(" (")[0]) == ("running", "another program")
        assert not two.run.is_interrupted(branch.branch)
        two.run.resume(branch.branch)
        two.run.delete_branch(branch.branch)
        assert "at work in another program" in two.problems[-1]
        assert two.run.why_not_compact().startswith("Another program")
        two.run.show_branch(branch.branch)
        await until(lambda: [s.number for s in two.run.supersteps] == [1, 2], 5)
        await until(lambda: "shown as far as it has saved" in two.run.sentence, 5)
        gate.set()
        await one.reach(S.COMPLETED)
        await until(lambda: two.run.state is S.COMPLETED, 5)
        assert [o.text for o in two.run.outputs] == ["go-a-b"], "what is shown follows to the end"
        assert (branch.state, branch.elsewhere) == ("completed", "")
        two.run.run("again")
        await until(lambda: len(two.run.branches) == 2 and two.run.state is S.COMPLETED, 5)
        await until(lambda: [b.number for b in one.run.branches] == [1, 2], 5)
        for desk in (one, two):
            await desk.run.close()
            desk.run.deleteLater()

    on_loop(main)


def test_a_branch_that_another_window_answered_is_not_answered_again(on_loop: OnLoop, tmp_path: Path) -> None:
    async def first(desk: Desk) -> None:
        desk.run.run("go")
        await desk.reach(S.WAITING)

    async def both() -> None:
        one, two = (Desk(_asking, SqliteStore(tmp_path / "runs.db", CODEC)) for _ in range(2))
        for desk in (one, two):
            await until(lambda desk=desk: bool(desk.run.branches), 5)
            desk.run._watch_timer.stop()  # the two answer at the same moment
            desk.run.show_branch(desk.run.branches[0].branch)
            await desk.reach(S.WAITING)
        one.run.answer({one.run.requests[0].request: "yes"})
        await one.reach(S.COMPLETED)
        two.run.answer({two.run.requests[0].request: "no"})
        await until(lambda: bool(two.problems), 5)
        assert two.problems == [
            "This branch went on elsewhere since it was shown here. Show it again to see how it stands now."
        ]
        two.run.look_elsewhere()
        await until(lambda: two.run.branches[0].state == "completed", 5)
        two.run.show_branch(two.run.branches[0].branch)
        await two.reach(S.COMPLETED)
        assert [o.text for o in two.run.outputs] == ["yes"]
        for desk in (one, two):
            await desk.run.close()
            desk.run.deleteLater()

    on_desk(on_loop, _asking, first, SqliteStore(tmp_path / "runs.db", CODEC))
    on_loop(both)


@pytest.mark.parametrize("kind", ["file", "memory"])
def test_rules_take_away_put_back_and_compact(on_loop: OnLoop, tmp_path: Path, kind: str) -> None:
    store = SqliteStore(tmp_path / "runs.db", CODEC) if kind == "file" else MemoryRunStore(CODEC)

    async def script(desk: Desk) -> None:
        run, previews, done = desk.run, list[Preview](), list[Compaction | None]()
        run.previewed.connect(previews.append)
        run.compacted.connect(done.append)
        for number, text in enumerate(("one", "two"), 1):
            run.run(text)
            await until(lambda n=number: len(run.branches) == n and run.state is S.COMPLETED, 5)  # type: ignore[misc]
        order = [c.checkpoint for c in run.checkpoints]
        run.mark(order[1], tags=("good", " ", "good"))
        assert run.checkpoints[1].tags == ("good",)
        rules = RetentionRules(last=1)
        run.preview(rules)
        await until(lambda: bool(previews), 5)
        assert previews[0].retention.ids == (order[0], order[2], *order[4:7])
        assert (previews[0].branches, previews[0].retention.named) == ((), 1)
        assert (previews[0].freed > 100) == (kind == "file")
        run.prune(rules)
        await until(lambda: len(run.checkpoints) == 3, 5)
        assert [b.text for b in run.discarded] == ["5 checkpoints by the rules"]
        run.put_back()
        await until(lambda: len(run.checkpoints) == 8, 5)
        assert [c.checkpoint for c in run.checkpoints] == order, "in the order they were saved"
        run.delete_branch(run.branches[0].branch)
        await until(lambda: len(run.branches) == 1, 5)
        run.restore(run.checkpoints[1].checkpoint)
        await desk.reach(S.PAUSED)
        assert run.why_not_compact() == "Wait until the run has ended, or stop it."
        run.stop()
        await desk.reach(S.CANCELLED)
        run.compact()
        assert run.compacting
        await until(lambda: bool(done), 5)
        assert done[0] is not None
        assert (done[0].checkpoints, done[0].runs) == (4, 1)
        assert run.discarded == ()
        assert run.compacting == ""
        assert [r.number for r in await store.runs()] == [2]

    assert on_desk(on_loop, three, script, store).problems == []


def test_automatic_rules_are_applied_when_a_run_ends_and_survive_a_restart(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def first(desk: Desk) -> None:
        desk.run.set_retention(RetentionRules(last=2, automatic=True))
        desk.run.run("go")
        await desk.reach(S.COMPLETED)
        await until(lambda: len(desk.run.checkpoints) == 2, 5)

    async def second(desk: Desk) -> None:
        desk.run.measure()
        await until(lambda: desk.run.rules.automatic, 5)
        assert desk.run.rules.last == 2
        assert len(desk.run.checkpoints) == 2
        desk.run.restore(desk.run.checkpoints[0].checkpoint)
        await desk.reach(S.PAUSED)
        desk.run.run("")
        await desk.reach(S.COMPLETED)
        assert [o.text for o in desk.run.outputs] == ["go-a-b"]

    assert on_desk(on_loop, three, first, store).problems == []
    assert on_desk(on_loop, three, second, store).problems == []
