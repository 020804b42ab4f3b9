"""Names, notes and pins stay with their checkpoints; a deleted run takes its own away and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from studio.checkpoints import Checkpoint, CheckpointNotFound, Mark, QueuedMessage, RunRecord, SqliteStore
from studio.debugger.memory_run_store import MemoryRunStore
from studio.engine import Codec

Store = SqliteStore | MemoryRunStore


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return SqliteStore(tmp_path / "runs.db", Codec()) if request.param == "file" else MemoryRunStore(Codec())


async def _two_branches(store: Store) -> None:
    for run in ("main", "fork"):
        await store.start_run(RunRecord(run, 1, run))
        await store.append_events(run, [{"type": run}])
    long = QueuedMessage("m", "a", None, "a long text " * 50)
    for id, parent, run in (("c0", None, "main"), ("c1", "c0", "main"), ("f2", "c1", "fork"), ("f3", "f2", "fork")):
        await store.save(Checkpoint(id, parent, run, messages=(long,), state={"key": "value " * 50, "id": id}))


async def test_marks_are_kept_changed_and_taken_away(store: Store) -> None:
    await _two_branches(store)
    assert await store.marks() == {}
    await store.set_mark("c1", Mark("best draft", "Keep.", pinned=True))
    await store.set_mark("f3", Mark(pinned=True))
    await store.set_mark("f3", Mark("other"))
    assert await store.marks() == {"c1": Mark("best draft", "Keep.", pinned=True), "f3": Mark("other")}
    await store.set_mark("c1", Mark())
    assert await store.marks() == {"f3": Mark("other")}
    await store.close()


async def test_marks_survive_in_the_file(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await _two_branches(store)
    await store.set_mark("c1", Mark("é", "two\nlines", pinned=True))
    await store.close()
    again = SqliteStore(tmp_path / "runs.db", Codec())
    assert await again.marks() == {"c1": Mark("é", "two\nlines", pinned=True)}
    await again.close()


async def test_a_deleted_run_leaves_the_others_whole(store: Store) -> None:
    await _two_branches(store)
    await store.set_mark("c1", Mark("here"))
    await store.set_mark("f3", Mark("there"))
    whole = await store.load("f3")
    assert await store.delete_run("main") == 2
    assert [r.id for r in await store.runs()] == ["fork"]
    assert await store.load_events("main") == []
    assert await store.load_events("fork") == [{"type": "fork"}]
    assert await store.marks() == {"f3": Mark("there")}
    assert [i.id for i in await store.infos()] == ["f2", "f3"]
    assert await store.load("f3") == whole
    with pytest.raises(CheckpointNotFound):
        await store.load("c1")
    await store.close()


async def test_answers_that_were_begun_are_kept_and_taken_away(store: Store) -> None:
    assert await store.drafts() == {}
    await store.set_drafts({"r1": "half a sen", "r2": {"pages": 3}, "r3": True})
    await store.set_drafts({"r1": "half a sentence", "r3": None})
    assert await store.drafts() == {"r1": "half a sentence", "r2": {"pages": 3}}
    await store.close()
