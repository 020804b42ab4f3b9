"""A window of its own program, without a display: runs, forks, names and takes away, again and again, then waits until
it sees what all others did. ``python -m tests.bridge.window_child FILE NAME ROUNDS TOTAL``: how many runs there will
be."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from PySide6.QtWidgets import QApplication
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.workspaces import Workspaces
from studio.debugger.states import ENDED, RunState
from studio.files import read_workflow

from tests.debugger.graphs import until

_LIMIT = 120
"""Seconds in which anything comes on a machine that is busy with several programs."""


async def _round(model: RunModel, name: str, number: int) -> None:
    mine = len(model.branches)
    model.run(f"{name} {number}")
    await until(lambda: len(model.branches) > mine and model.state is RunState.COMPLETED, _LIMIT)
    branch = model.branch
    own = [c.checkpoint for c in model.checkpoints if c.branch == branch]
    assert own, "what is shown is what was run here"
    model.mark(own[1], name=f"{name} {number}")
    model.fork(own[1])
    await until(lambda: model.branch != branch and model.state is RunState.COMPLETED, _LIMIT)
    model.delete_checkpoints(own[:1])  # its own: what the other window names must not be taken away before it does
    await until(lambda: not model._unwritten and own[0] not in {c.checkpoint for c in model.checkpoints}, _LIMIT)


async def _live(file: Path, name: str, rounds: int, total: int) -> None:
    workspaces = Workspaces()
    problems: list[str] = []
    model = workspaces.open(read_workflow(file), file, journal=False).run
    model.failed_to_start.connect(problems.append)
    try:
        for number in range(rounds):
            await _round(model, name, number)
        ended = {state.value for state in ENDED}
        await until(lambda: len(model.branches) == total and all(b.state in ended for b in model.branches), _LIMIT)
        await until(lambda: len(model.discarded) == 2 * rounds, _LIMIT)
        await until(lambda: len([c for c in model.checkpoints if c.name]) == 2 * rounds, _LIMIT)
        rows = sorted((b.number, b.name, b.state, b.input_text) for b in model.branches)
        names = sorted(c.name for c in model.checkpoints if c.name)
        away = len(model.discarded)
        print(json.dumps({"rows": rows, "names": names, "away": away, "problems": problems}), flush=True)
    finally:
        await workspaces.close_all()


if __name__ == "__main__":
    given = sys.argv[1:]
    run(QApplication(sys.argv[:1]), lambda: _live(Path(given[0]), given[1], int(given[2]), int(given[3])))
