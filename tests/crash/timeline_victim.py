"""Runs, answers, forks, prunes, puts back and compacts again and again, without a display, until it is killed."""

from __future__ import annotations

import asyncio
import sys

from PySide6.QtWidgets import QApplication
from studio.agents.connection import preload
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.workspaces import Workspaces
from studio.checkpoints import RetentionRules
from studio.debugger.states import RunState
from studio.settings import trust

from tests.crash.run_victim import INPUT, go_on, workflow
from tests.crash.victims import say

ROUNDS = 200
DELAY_MS = 0.2
"""Short, so that the moments hit the other work too."""


async def _quiet(model: RunModel) -> None:
    """Waits until the model has carried out what it was asked."""
    async with asyncio.timeout(60):
        while not model.can("restore")[0] or model.compacting:  # noqa: ASYNC110
            await asyncio.sleep(0.002)


async def _round(model: RunModel, number: int) -> None:
    say(round=number, doing="run")
    model.run(f"{INPUT} {number}")
    await go_on(model, RunState.PREPARING)
    say(doing="fork")
    own = [c.checkpoint for c in model.checkpoints if c.branch == model.branch]
    before = len(model.branches)
    model.fork(own[len(own) // 2])
    async with asyncio.timeout(60):
        while len(model.branches) == before:  # noqa: ASYNC110
            await asyncio.sleep(0.002)
    await go_on(model, model.state)
    say(doing="mark")
    model.mark(own[1], name=f"round {number}", tags=("kept",))
    say(doing="prune")
    model.prune(RetentionRules(last=3))
    await _quiet(model)
    if number % 3 == 0:
        say(doing="put back")
        model.put_back()
        await _quiet(model)
    if number % 4 == 1:
        say(doing="delete")
        model.delete_branch(model.branches[0].branch)
        await _quiet(model)
    if number % 2:
        say(doing="compact")
        model.compact()
        await _quiet(model)


async def _main() -> None:
    document = workflow(DELAY_MS)
    trust.trust(document)
    workspaces = Workspaces()
    model = workspaces.open(document, None).run
    model.failed_to_start.connect(lambda text: say(problem=text))
    preload()
    say(begin=True)
    for number in range(1, ROUNDS + 1):
        await _round(model, number)
    await workspaces.close_all()


if __name__ == "__main__":
    run(QApplication(sys.argv[:1]), _main)
