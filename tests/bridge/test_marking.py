"""Names, notes, pins, names of branches and deleted branches, through the run model and after a restart."""

from __future__ import annotations

import pytest
from studio.checkpoints import Mark
from studio.debugger.states import RunState

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, KeptStore, on_desk, three
from tests.debugger.graphs import CODEC, until

S = RunState


def test_names_notes_and_pins_are_shown_at_once_and_after_a_restart(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def first(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        chosen = run.checkpoints[1].checkpoint
        desk.updates.clear()
        run.mark(chosen, name=" best draft ")
        assert run.checkpoints[1].name == "best draft"
        assert desk.updates[-1].checkpoints
        run.mark(chosen, note="Keep.", pinned=True)
        run.mark(chosen, name="best")
        run.rename_branch(str(run.branch), "First try")
        assert run.branches[0].name == "First try"
        run.rename_branch(str(run.branch), "  ")
        assert run.branches[0].name == "First try"

    async def second(desk: Desk) -> None:
        run = desk.run
        await until(lambda: bool(run.branches), 5)
        view = run.checkpoints[1]
        assert (view.name, view.note, view.pinned) == ("best", "Keep.", True)
        assert run.branches[0].name == "First try"
        run.fork(view.checkpoint)
        await desk.reach(S.COMPLETED)
        assert [b.name for b in run.branches] == ["First try", "Fork A"]

    on_desk(on_loop, three, first, store)
    assert on_desk(on_loop, three, second, store).problems == []


def test_a_branch_that_runs_keeps_its_new_name(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def script(desk: Desk) -> None:
        run = desk.run
        run.step("go")
        await desk.reach(S.PAUSED)
        run.rename_branch(str(run.branch), "Mine")
        run.run("")
        await desk.reach(S.COMPLETED)
        assert run.branches[0].name == "Mine"
        assert [r.name for r in await store.runs()] == ["Mine"]

    on_desk(on_loop, three, script, store)


def test_a_deleted_branch_is_gone_and_its_fork_stays(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        main = str(run.branch)
        run.mark(run.checkpoints[1].checkpoint, name="named")
        run.fork(run.checkpoints[1].checkpoint)
        await until(lambda: len(run.branches) == 2 and run.state is S.COMPLETED, 5)
        fork = str(run.branch)
        assert fork != main
        assert run.removal_of(main)[0] == 4
        assert run.removal_of(main)[2] == 1
        run.delete_branch(main)
        await until(lambda: len(run.branches) == 1 and run.can("run")[0], 5)
        assert run.branches[0].branch == fork
        assert {c.branch for c in run.checkpoints} == {fork}
        assert (run.branch, run.state) == (fork, S.COMPLETED), "the fork that is shown stays shown"
        run.restore(run.checkpoints[0].checkpoint)
        await desk.reach(S.PAUSED)
        run.run("")
        await desk.reach(S.COMPLETED)
        assert [o.text for o in run.outputs] == ["go-a-b"]
        run.delete_branch(fork)
        await until(lambda: [b.branch for b in run.branches] == [run.branch] and run.can("run")[0], 5)

    assert on_desk(on_loop, three, script, store).problems == []


def test_deleting_the_shown_branch_shows_nothing(on_loop: OnLoop) -> None:
    store = KeptStore(CODEC)

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        run.delete_branch(str(run.branch))
        await until(lambda: not run.branches and run.can("run")[0], 5)
        assert (run.branch, run.here, run.state, run.supersteps) == (None, None, S.IDLE, [])
        assert [batch.text for batch in run.discarded] == ["main of run 1"]
        run.run("again")
        await desk.reach(S.COMPLETED)
        assert [b.number for b in run.branches] == [2], "the number of a run that can come back is not given again"

    assert on_desk(on_loop, three, script, store).problems == []


def test_what_is_typed_while_the_tree_is_read_again_stays(on_loop: OnLoop, monkeypatch: pytest.MonkeyPatch) -> None:
    store = KeptStore(CODEC)

    async def script(desk: Desk) -> None:
        run = desk.run
        run.run("go")
        await desk.reach(S.COMPLETED)
        chosen, marks = run.checkpoints[1].checkpoint, store.marks

        async def meanwhile() -> dict[str, Mark]:
            before = await marks()
            run.mark(chosen, name="typed")
            run.rename_branch(str(run.branch), "Mine")
            return before

        monkeypatch.setattr(store, "marks", meanwhile)
        run._tasks.turn(run._look_elsewhere)
        await until(lambda: run.checkpoints[1].name == "typed", 5)
        monkeypatch.undo()
        await until(lambda: not run._unwritten, 5)
        assert (run.checkpoints[1].name, run.branches[0].name) == ("typed", "Mine")
        assert (await store.marks())[chosen].name == "typed"
        assert run._typed == []

    assert on_desk(on_loop, three, script, store).problems == []
