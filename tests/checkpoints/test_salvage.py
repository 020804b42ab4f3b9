"""A file that is damaged, foreign or of another version: nothing of it is changed, and what can be read is read."""

from __future__ import annotations

import random
import sqlite3
from hashlib import sha256
from pathlib import Path

import pytest
from studio.checkpoints import Checkpoint, RunRecord, SqliteStore, StoreError, UnusableStore
from studio.checkpoints.database import VERSION
from studio.checkpoints.salvage import salvage
from studio.engine import Codec

CODEC = Codec()
MANY = 60


async def _file(tmp_path: Path) -> Path:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, CODEC)
    for number, run in enumerate(("one", "two"), 1):
        await store.start_run(RunRecord(run, number, "main", input=f"input {number}"))
        for n in range(MANY // 2):
            state = {"text": f"{run} {n} " * 300}
            await store.save(Checkpoint(f"{run}{n}", f"{run}{n - 1}" if n else None, run, superstep=n, state=state))
            await store.append_events(run, [{"type": "StateWritten", "value": f"{run} {n}"}])
    await store.close()
    return path


def _digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


async def test_overwritten_pages_lose_what_is_on_them_and_nothing_else(tmp_path: Path) -> None:
    path = await _file(tmp_path)
    content = bytearray(path.read_bytes())
    pages = len(content) // 4096
    place = random.Random(7)
    for page in place.sample(range(pages // 3, pages - 4), 3):
        content[page * 4096 : page * 4096 + 600] = bytes(600)
    path.write_bytes(content)
    before = _digest(path)
    store = await salvage(path, CODEC)
    infos = await store.infos()
    assert len(infos) == store.lost.readable
    assert 0 < store.lost.readable < MANY
    assert store.lost.readable + store.lost.checkpoints <= MANY
    assert "can be read" in store.lost.sentence()
    for info in infos:
        loaded = await store.load(info.id)
        assert loaded.state["text"].startswith(f"{info.run} {info.superstep} ")
    with pytest.raises(StoreError, match="read only"):
        await store.save(Checkpoint("new"))
    with pytest.raises(StoreError, match="read only"):
        await store.start_run(RunRecord("x", 3, "main"))
    copy = store._database.path
    await store.close()
    assert not copy.exists()
    assert _digest(path) == before


async def test_a_file_that_was_cut_off_and_one_that_is_no_database(tmp_path: Path) -> None:
    path = await _file(tmp_path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2 // 4096 * 4096])
    store = await salvage(path, CODEC)
    assert store.lost.readable < MANY
    await store.close()
    path.write_bytes(b"nothing that anybody knows " * 500)
    with pytest.raises(UnusableStore, match="nothing of it was changed") as error:
        SqliteStore(path, CODEC)
    assert error.value.kind == "damaged"
    before = _digest(path)
    store = await salvage(path, CODEC)
    assert (store.lost.readable, store.lost.runs) == (0, 0)
    assert store.lost.sentence() == "Nothing of it can be read."
    await store.close()
    assert _digest(path) == before


@pytest.mark.parametrize(
    ("pragmas", "kind", "words"),
    [
        ((f"PRAGMA user_version={VERSION + 4}",), "newer", f"has version {VERSION + 4} of the format"),
        (("PRAGMA user_version=1",), "older", "has version 1 of the format"),
        (("PRAGMA application_id=42",), "foreign", "a database of another program"),
    ],
)
async def test_another_version_or_program_is_refused_and_not_touched(
    tmp_path: Path, pragmas: tuple[str, ...], kind: str, words: str
) -> None:
    path = await _file(tmp_path)
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=DELETE")
    for pragma in pragmas:
        connection.execute(pragma)
    connection.close()
    before = _digest(path)
    with pytest.raises(UnusableStore, match=words) as error:
        SqliteStore(path, CODEC)
    assert error.value.kind == kind
    assert _digest(path) == before


async def test_a_database_of_another_program_without_any_version_gets_no_tables(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.commit()
    connection.close()
    before = _digest(path)
    with pytest.raises(UnusableStore, match="another program"):
        SqliteStore(path, CODEC)
    assert _digest(path) == before


async def test_what_tells_whose_the_checkpoints_are_is_lost_and_it_says_that_they_are(tmp_path: Path) -> None:
    path = await _file(tmp_path)
    connection = sqlite3.connect(path)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name='origin'").fetchone()
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"Z" * 4096
    path.write_bytes(content)
    store = await salvage(path, CODEC)
    assert store.lost.sentence() == "2 branches and 0 checkpoints can be read; others are lost."
    await store.close()


@pytest.mark.parametrize("kept", [0, 4])
async def test_an_event_that_is_cut_in_the_middle_takes_no_other_with_it(tmp_path: Path, kept: int) -> None:
    """``kept``: with the number of the page that follows SQLite takes the row for whole."""
    path = await _file(tmp_path)
    store = SqliteStore(path, CODEC)
    await store.append_events("two", [{"type": "StateWritten", "value": "w" * 20_000}])
    await store.append_events("two", [{"type": "StateWritten", "value": "the last one"}])
    await store.close()
    content = bytearray(path.read_bytes())
    page = next(p for p in range(0, len(content), 4096) if content[p + 4 : p + 4096] == b"w" * 4092)
    content[page + kept : page + 4096] = b'"' * (4096 - kept)
    path.write_bytes(content)
    salvaged = await salvage(path, CODEC)
    texts = [event["value"] for event in await salvaged.load_events("two")]
    assert texts == [*(f"two {n}" for n in range(MANY // 2)), "the last one"]
    assert salvaged.lost.sentence() == (
        f"2 branches and {MANY} checkpoints can be read. Missing as well: parts of what happened in the runs."
    )
    await salvaged.close()
