"""What a person does with the runs of a workflow, one phase at a time, without a display, until it is killed."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Mapping

from PySide6.QtWidgets import QApplication
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.workspaces import Workspaces
from studio.checkpoints import RetentionRules
from studio.debugger.forks import QueueEdits
from studio.debugger.states import RunState
from studio.settings import trust

from tests.crash.points import End, Points
from tests.crash.run_victim import INPUT, go_on, workflow
from tests.crash.victims import say
from tests.debugger.graphs import until

DELAY_MS = 0.2
LIMIT = 60
"""Seconds in which anything comes, also on a busy machine."""
Phase = Callable[[RunModel], Awaitable[None]]


async def quiet(model: RunModel) -> None:
    """Waits until the model has carried out what it was asked."""
    turns = model._tasks

    def still() -> bool:
        at_work = bool(turns._waiting) or (turns._task is not None and not turns._task.done())
        return model.can("restore")[0] and not model.compacting and not model._unwritten and not at_work

    await until(still, LIMIT)


def branch_of(model: RunModel, number: int, name: str = "main") -> str:
    """The id of a branch."""
    return next(b.branch for b in model.branches if (b.number, b.name) == (number, name))


def points_of(model: RunModel, branch: str) -> list[str]:
    """The ids of its checkpoints."""
    return [c.checkpoint for c in model.checkpoints if c.branch == branch]


async def _new_branch(model: RunModel, begin: Callable[[], None]) -> None:
    before = len(model.branches)
    begin()
    await until(lambda: len(model.branches) > before, LIMIT)


async def _run(model: RunModel) -> None:
    await _new_branch(model, lambda: model.run(f"{INPUT} more"))
    await until(lambda: model.state is RunState.WAITING, LIMIT)


async def _answer(model: RunModel) -> None:
    model.show_branch(branch_of(model, 2))
    await until(lambda: model.can("answer")[0] and bool(model.requests), LIMIT)
    await go_on(model, model.state)


async def _fork(model: RunModel) -> None:
    own = points_of(model, branch_of(model, 1))
    await _new_branch(model, lambda: model.fork(own[-3]))
    await go_on(model, model.state)


async def _edit(model: RunModel) -> None:
    own = points_of(model, branch_of(model, 1))
    await _new_branch(model, lambda: model.fork_edited(own[-3], QueueEdits(state={"by": "hand"})))
    await go_on(model, model.state)


async def _mark(model: RunModel) -> None:
    for number, point in enumerate(points_of(model, branch_of(model, 1))[:3]):
        model.mark(point, name=f"name {number}", tags=("kept",), pinned=True)
        await quiet(model)


async def _prune(model: RunModel) -> None:
    model.prune(RetentionRules(last=1, named=False))
    await quiet(model)


async def _put_back(model: RunModel) -> None:
    model.put_back()
    await quiet(model)


async def _delete(model: RunModel) -> None:
    model.delete_branch(branch_of(model, 1, "Fork A"))
    await quiet(model)


async def _compact(model: RunModel) -> None:
    model.compact()
    await quiet(model)


async def _resume(model: RunModel) -> None:
    model.resume(branch_of(model, 3))
    await until(lambda: model.branch == branch_of(model, 3), LIMIT)
    await go_on(model, model.state)


PHASES: Mapping[str, Phase] = {
    "run": _run,
    "answer": _answer,
    "fork": _fork,
    "edit": _edit,
    "mark": _mark,
    "prune": _prune,
    "put back": _put_back,
    "delete": _delete,
    "compact": _compact,
    "resume": _resume,
}


async def _past(model: RunModel) -> None:
    """A finished run with a fork, a mark, checkpoints that were taken away; then a run that waits for an answer."""
    model.run(INPUT)
    await go_on(model, RunState.PREPARING)
    own = points_of(model, str(model.branch))
    await _new_branch(model, lambda: model.fork(own[1]))
    await go_on(model, model.state)
    model.mark(own[1], name="early", tags=("kept",))
    await quiet(model)
    model.prune(RetentionRules(last=4))
    await quiet(model)
    await _run(model)


LIVES: Mapping[str, Phase] = {**PHASES, "past": _past}


def live(life: str, end: End | None) -> None:
    """Lives in the folders of the environment; says what it does, and at its end how many points each phase had."""
    points = Points(end)
    points.watch()

    async def main() -> None:
        document = workflow(DELAY_MS)
        trust.trust(document)
        workspaces = Workspaces()
        model = workspaces.open(document, None).run
        model.failed_to_start.connect(lambda text: say(problem=text))
        model.updated.connect(lambda _update: _tell(model))
        if life != "past":
            await until(lambda: bool(model.branches), LIMIT)
            await quiet(model)
        points.enter(life)
        await LIVES[life](model)
        points.enter("")
        await workspaces.close_all()
        say(points=points.counts[life])

    run(QApplication(sys.argv[:1]), main)


_told: set[str] = set()


def _tell(model: RunModel) -> None:
    for view in model.checkpoints:
        if view.checkpoint not in _told:
            _told.add(view.checkpoint)
            say(checkpoint=view.checkpoint)
