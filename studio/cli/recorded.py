"""A run that was kept, or a test file, as what a proof of an export is given."""

from __future__ import annotations

import asyncio
from pathlib import Path

from studio.checkpoints import SqliteStore, StoreError
from studio.cli.exits import FAILED, Stop, usage
from studio.debugger.branches import ancestry, replay
from studio.debugger.recording import Recorder
from studio.debugger.run_tests import SUFFIX, RunTest, TestProblem, made_from, read_test
from studio.document.model import Workflow
from studio.engine import Codec
from studio.engine.values import plain
from studio.settings.places import run_store

LAST = "last"


def recorded_run(key: str, workflow: Workflow, store: str) -> RunTest:
    """The run: of a test file, or of the store by the id or name of its branch, or the last one. Ends the program
    with a sentence if there is none."""
    if key.endswith(SUFFIX):
        try:
            return read_test(Path(key))
        except TestProblem as problem:
            usage(str(problem))
        except OSError as problem:
            usage(f"{key} cannot be read: {problem.strerror}.")
    path = run_store(workflow.id) if store == "default" else Path(store)
    if not path.exists():
        usage(f"No run of this workflow was kept: {path.name} does not exist.")
    try:
        return asyncio.run(_of_store(key, path))
    except (StoreError, OSError) as problem:
        raise Stop(FAILED, f"The run database cannot be read: {problem}.") from None


async def _of_store(key: str, path: Path) -> RunTest:
    codec = Codec()
    store = SqliteStore(path, codec)
    try:
        gone = {run for batch in await store.discarded() for run in batch.runs}
        records = {run.id: run for run in await store.runs() if run.id not in gone}
        named = [run for run in records.values() if key in (LAST, run.id, run.name)]
        if not named:
            usage(f"There is no run {key}. “checkpoints list” shows what there is.")
        run = max(named, key=lambda found: (found.number, found.started or 0))
        recorder = Recorder()
        infos = {info.id: info for info in await store.infos()}
        await replay(ancestry(run.id, None, records, infos), store, codec, recorder.fold)
    finally:
        await store.close()
    if not recorder.recording.calls:
        usage(f"No model answered in run {run.number} {run.name}; a proof without it uses scripted replies.")
    given = run.input or plain(recorder.recording.input)
    return made_from(recorder.recording, f"{run.name} of run {run.number}", "", given, [])
