"""Going on from an earlier run in the tab of its own drawing, beside the drawing as it is now."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from studio.bridge.workspaces import Workspaces
from studio.debugger.states import RunState
from studio.document.edits import SetFields
from studio.document.model import FunctionNode
from studio.settings import trust

from tests.bridge.conftest import OnLoop
from tests.bridge.test_workspaces import reach, two_agents
from tests.debugger.graphs import until

S = RunState


async def closing_all(main: Callable[[Workspaces], Awaitable[None]]) -> None:
    """Runs a script and ends everything after it, also when it fails."""
    workspaces = Workspaces()
    try:
        await main(workspaces)
    finally:
        await workspaces.close_all()


def test_the_old_drawing_runs_restores_and_forks_on_the_same_runs(on_loop: OnLoop) -> None:
    async def main(workspaces: Workspaces) -> None:
        document = two_agents()
        trust.trust(document)
        now = workspaces.open(document, None)
        now.run.run("a poem")
        await reach(now, S.WAITING)
        now.document.execute(SetFields("nodes", "shout", {"body": "result = 'whispered'"}), "Type")
        trust.trust(now.document.workflow)
        point = now.run.checkpoints[1].checkpoint
        await until(lambda: now.run.comparison(point) is not None, 10)
        found = now.run.comparison(point)
        assert found is not None
        assert found.old is not None
        kept = workspaces.open_kept(now, found.old, "run 1, main")
        said: list[str] = []
        kept.run.failed_to_start.connect(said.append)
        await until(lambda: len(kept.run.checkpoints) == len(now.run.checkpoints), 10)
        assert kept.run.branches[0].elsewhere, "the waiting run belongs to the other tab"
        await until(lambda: kept.run.comparison(point) is not None, 10)
        same = kept.run.comparison(point)
        assert same is not None
        assert same.drift is not None
        assert not same.drift.differs
        kept.run.fork(point)
        await until(lambda: len(kept.run.branches) == 2 and kept.run.state is S.WAITING, 10)
        assert kept.run.requests[0].question == "Is this good? A SMALL POEM", "with the code as it was"
        kept.run.answer({kept.run.requests[0].request: "fine"})
        await reach(kept, S.COMPLETED)
        workspaces.close(kept)
        now.run.stop()
        await reach(now, S.CANCELLED)
        now.run.fork(point)
        await until(lambda: now.run.state is S.WAITING, 10)
        assert now.run.requests[0].question == "Is this good? whispered", "with the code as it is"
        names = [(b.name, b.state) for b in now.run.branches]
        assert sorted(names) == [("Fork A", "completed"), ("Fork B", "waiting"), ("main", "cancelled")]
        assert said == []

    on_loop(lambda: closing_all(main))


def test_closing_it_leaves_the_worker_of_the_drawing_as_it_is_now(on_loop: OnLoop) -> None:
    async def main(workspaces: Workspaces) -> None:
        document = two_agents()
        trust.trust(document)
        now = workspaces.open(document, None)
        now.run.run("a poem")
        await reach(now, S.WAITING)
        forgotten: list[str] = []
        forget = workspaces.source.forget

        async def noted(id: str) -> None:
            forgotten.append(id)
            await forget(id)

        workspaces.source.forget = noted  # type: ignore[method-assign]
        kept = workspaces.open_kept(now, document, "run 1, main")
        closed: list[bool] = []
        kept.destroyed.connect(lambda: closed.append(True))
        workspaces.close(kept)
        await until(lambda: bool(closed), 10)
        assert forgotten == []
        now.run.answer({now.run.requests[0].request: "fine"})
        await reach(now, S.COMPLETED)
        await workspaces.close_all()
        assert forgotten == ["loop"]

    on_loop(lambda: closing_all(main))


def test_a_workflow_that_keeps_nothing_on_disk_now_keeps_nothing_there(on_loop: OnLoop) -> None:
    async def main(workspaces: Workspaces) -> None:
        document = two_agents()
        now = workspaces.open(document.model_copy(update={"runs_on_disk": False}), None)
        kept = workspaces.open_kept(now, document, "run 1, main")
        assert not kept.document.workflow.runs_on_disk
        assert isinstance(kept.document.workflow.node("shout"), FunctionNode)

    on_loop(lambda: closing_all(main))
