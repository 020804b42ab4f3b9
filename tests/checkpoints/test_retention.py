"""Rules of retention, and what they do to a file: hidden first, put back as it was, gone for good when compacted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from studio.checkpoints import Checkpoint, CheckpointInfo, CheckpointNotFound, Mark, RunRecord, SqliteStore
from studio.checkpoints.retention import Kept, RetentionRules, plan_retention
from studio.checkpoints.upkeep import Stop, Stopped
from studio.debugger.memory_run_store import MemoryRunStore
from studio.engine import Codec

NOW = 1_000_000.0


def _infos() -> list[CheckpointInfo]:
    """Six of a main branch, two of a fork of the third, a day between them."""
    made = []
    for n in range(8):
        branch, parent = ("main", f"c{n - 1}" if n else None) if n < 6 else ("fork", "c2" if n == 6 else "c6")
        created = NOW - (8 - n) * 86_400
        made.append(CheckpointInfo(f"c{n}", parent, branch, "w", "s", "superstep", n, created, 1000))
    return made


def _gone(kept: Kept | None = None, *, file_bytes: int = 0, **rules: Any) -> str:
    given = RetentionRules(**{"last": None, **rules})
    found = plan_retention(_infos(), kept or Kept({}), given, NOW, file_bytes=file_bytes)
    assert found.kept + len(found.gone) == 8
    return " ".join(found.ids)


def test_each_rule_takes_what_it_says_and_nothing_else() -> None:
    assert _gone() == ""
    assert _gone(last=2) == "c0 c1 c3", "c2 is where the fork begins"
    assert _gone(last=2, branch_points=False) == "c0 c1 c2 c3"
    assert _gone(days=3.5) == "c0 c1 c3 c4"
    assert _gone(megabytes=0.004, file_bytes=8000) == "c0 c1 c3 c4", "the oldest, until it fits"
    assert _gone(last=2, megabytes=0.0045, file_bytes=8000) == "c0 c1 c3 c4"


def test_names_pins_tags_open_requests_and_work_in_progress_protect() -> None:
    marks = {"c0": Mark("first"), "c1": Mark(pinned=True), "c3": Mark(tags=("good",))}
    assert _gone(Kept(marks), last=1) == "c4 c6"
    assert _gone(Kept(marks), last=1, named=False) == "c0 c3 c4 c6"
    assert _gone(Kept(marks), last=1, pinned=False) == "c1 c4 c6"
    assert _gone(Kept({}, open_branches=("fork",)), days=0) == "c0 c1 c3 c4 c5 c6"
    assert _gone(Kept({}, busy_branches=("main",)), days=0) == "c6 c7"
    assert _gone(Kept({}, forked=("c5",)), days=0) == "c0 c1 c3 c4 c6 c7"
    found = plan_retention(_infos(), Kept(marks, open_branches=("fork",)), RetentionRules(last=1), NOW)
    assert (found.named, found.pinned, found.branch_points, found.open_requests) == (2, 1, 1, 1)
    assert found.bytes == 2000


def test_rules_survive_and_nonsense_in_the_file_has_no_effect() -> None:
    rules = RetentionRules(named=False, last=3, days=1.5, megabytes=10, automatic=True)
    assert RetentionRules.from_json(rules.to_json()) == rules
    assert RetentionRules.from_json({"last": 0, "days": "x", "named": 1, "other": 2}) == RetentionRules()
    assert RetentionRules.from_json({"last": None}).last is None
    assert RetentionRules.from_json([]) == RetentionRules()


Store = SqliteStore | MemoryRunStore


@pytest.fixture(params=["file", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return SqliteStore(tmp_path / "runs.db", Codec()) if request.param == "file" else MemoryRunStore(Codec())


async def _fill(store: Store) -> None:
    for run in ("main", "fork"):
        await store.start_run(RunRecord(run, 1, run, document_fingerprint=f"of {run}"))
        await store.append_events(run, [{"type": run, "text": f"{run} " * 2000}])
        await store.save_document(f"of {run}", f"document of {run}")
    parent: str | None = None
    for n in range(12):
        run = "main" if n < 8 else "fork"
        state = {"all": [f"turn {i} " * 40 for i in range(n + 1)], "own": f"{n} " * 3000}
        await store.save(Checkpoint(f"c{n}", parent, run, superstep=n, state=state))
        parent = f"c{n}"
    await store.set_mark("c3", Mark("kept", tags=("good", "draft")))


async def test_what_is_discarded_can_be_put_back_until_it_is_compacted(store: Store) -> None:
    await _fill(store)
    assert await store.discarded() == []
    first = await store.discard("2 checkpoints", 1.5, ["c1", "c2"])
    second = await store.discard("Fork", 2.5, ["c8", "c9", "c10", "c11"], ["fork"])
    one, two = await store.discarded()
    assert (one.number, one.at, one.text, sorted(one.checkpoints), one.runs) == (
        first, 1.5, "2 checkpoints", ["c1", "c2"], ())  # fmt: skip
    assert (two.number, two.runs) == (second, ("fork",))
    await store.put_back(first)
    assert [b.number for b in await store.discarded()] == [second]
    assert (await store.load("c1")).state["own"] == "1 " * 3000
    said: list[str] = []
    done = await store.compact(said.append, Stop())
    assert (done.checkpoints, done.runs) == (4, 1)
    assert await store.discarded() == []
    assert [r.id for r in await store.runs()] == ["main"]
    assert await store.load_events("fork") == []
    assert len(await store.infos()) == 8
    for n in range(8):
        assert (await store.load(f"c{n}")).state["all"] == [f"turn {i} " * 40 for i in range(n + 1)]
    assert await store.marks() == {"c3": Mark("kept", tags=("good", "draft"))}
    await store.close()


async def test_compacting_shrinks_the_file_by_what_was_announced(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await _fill(store)
    gone = [f"c{n}" for n in range(8, 12)]
    announced = await store.freed_by(gone, ["fork"])
    await store.discard("Fork", 0.0, gone, ["fork"])
    sizes = await store.sizes()
    assert sizes.free >= announced > 30_000
    done = await store.compact(lambda _text: None, Stop())
    assert done.after <= sizes.file - 0.8 * announced
    assert done.after == (await store.sizes()).file == (tmp_path / "runs.db").stat().st_size
    with pytest.raises(KeyError):
        await store.load_document("of fork")
    assert await store.load_document("of main") == "document of main"
    await store.close()
    again = SqliteStore(tmp_path / "runs.db", Codec())
    with pytest.raises(CheckpointNotFound):
        await again.load("c9")
    await again.save(Checkpoint("c20", "c7", "main", superstep=8, state={"all": ["new"]}))
    assert (await again.load("c20")).parent == "c7"
    await again.close()


async def test_a_compaction_that_is_stopped_changes_nothing(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await _fill(store)
    await store.discard("some", 0.0, ["c0", "c1"])
    stop = Stop()
    stop.set()
    with pytest.raises(Stopped):
        await store.compact(lambda _text: None, stop)
    assert [len(b.checkpoints) for b in await store.discarded()] == [2]
    assert (await store.load("c0")).superstep == 0
    await store.close()


async def test_what_another_program_puts_back_just_before_compacting_begins_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, other = SqliteStore(tmp_path / "runs.db", Codec()), SqliteStore(tmp_path / "runs.db", Codec())
    await _fill(store)
    number = await store.discard("some", 0.0, ["c0", "c1"])
    begin = store._database.begin

    async def later() -> None:
        monkeypatch.undo()
        await other.put_back(number)
        await begin()

    monkeypatch.setattr(store._database, "begin", later)
    done = await store.compact(lambda _text: None, Stop())
    assert (done.checkpoints, done.runs) == (0, 0)
    assert (await store.load("c0")).superstep == 0
    await store.close()
    await other.close()


async def test_own_and_shared_bytes_of_a_checkpoint(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await _fill(store)
    last, middle = await store.weight("c11"), await store.weight("c5")
    assert 9000 < last.own < 10_000, "its own text of 9 kB and its last turn"
    assert last.shared > 3000, "eleven turns that others have too"
    assert middle.own > 6000
    assert (await store.weight("nobody")).own == 0
    await store.delete(["c11"])
    assert (await store.weight("c10")).own > (await store.freed_by(["c5"])) * 0.9
    await store.close()


async def test_rules_are_kept_in_the_file_and_marks_of_an_early_file_get_tags(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    assert await store.retention() == RetentionRules()
    await store.set_retention(RetentionRules(last=3, automatic=True))
    await store.set_mark("x", Mark("name"))
    database = store._database
    database.execute("ALTER TABLE mark DROP COLUMN tags")
    assert await store.marks() == {"x": Mark("name")}
    await store.set_mark("y", Mark(tags=("a",)))
    assert await store.marks() == {"x": Mark("name"), "y": Mark(tags=("a",))}
    await store.close()
    again = SqliteStore(tmp_path / "runs.db", Codec())
    assert await again.retention() == RetentionRules(last=3, automatic=True)
    await again.close()
