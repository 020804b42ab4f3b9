"""Checkpoints are found by their ids whether they have a row in the table already or not."""

from __future__ import annotations

import random
import sqlite3
from pathlib import Path

import pytest
from studio.checkpoints import Checkpoint, CheckpointNotFound, SqliteStore, StoreError
from studio.checkpoints.index import BATCH
from studio.checkpoints.salvage import salvage
from studio.engine import Codec

FIRST = 1_700_000_000_000_000_000


def number_id(number: int, end: str = "abcd") -> str:
    return f"{FIRST + number:016x}{end}"


def opened(path: Path) -> SqliteStore:
    return SqliteStore(path, Codec())


async def check(store: SqliteStore, wanted: list[str]) -> None:
    assert [info.id for info in await store.infos()] == wanted
    latest = await store.latest()
    assert (latest and latest.id) == (wanted[-1] if wanted else None)
    for id in wanted[:: max(len(wanted) // 7, 1)]:
        assert (await store.load(id)).workflow == id


def rows(path: Path) -> int:
    with sqlite3.connect(path) as connection:
        count: int = connection.execute("SELECT count(*) FROM checkpoint").fetchone()[0]
    connection.close()
    return count


async def test_rows_are_written_for_many_at_once_and_nothing_is_missing_meanwhile(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store, reader = opened(path), opened(path)
    ids: list[str] = []
    for number in range(2 * BATCH + 5):
        ids.append(number_id(number))
        await store.save(Checkpoint(ids[-1], ids[-2] if number else None, workflow=ids[-1]))
        if number % 20 == 0:
            await check(reader, ids)
    assert rows(path) == 2 * BATCH
    assert [info.parent for info in await reader.infos()] == [None, *ids[:-1]]
    await reader.close()
    await store.close()
    store = opened(path)
    await check(store, ids)
    await store.close()


@pytest.mark.parametrize("later", [False, True], ids=["waiting", "with a row"])
async def test_an_id_is_saved_once(tmp_path: Path, later: bool) -> None:
    path = tmp_path / "runs.db"
    store, other = opened(path), opened(path)
    ids = [number_id(number) for number in range(BATCH + 1 if later else 3)]
    for id in ids:
        await store.save(Checkpoint(id, workflow=id))
    for writer in (store, other):
        with pytest.raises(StoreError, match="there already"):
            await writer.save(Checkpoint(ids[1], workflow="another"))
        await check(writer, ids)
    with pytest.raises(CheckpointNotFound):
        await store.load(number_id(1, "ffff"))
    await other.save(Checkpoint(number_id(1, "ffff"), workflow=number_id(1, "ffff")))
    await check(store, [*ids, number_id(1, "ffff")])
    await other.close()
    await store.close()


@pytest.mark.parametrize("seed", range(6))
async def test_two_stores_on_one_file_in_any_order(tmp_path: Path, seed: int) -> None:
    """Saves, removals and openings in a random order, against a plain list."""
    chance, path = random.Random(seed), tmp_path / "runs.db"
    stores = [opened(path), opened(path)]
    wanted: list[str] = []
    number = 0
    for _ in range(260):
        store = stores[chance.randrange(2)]
        match chance.choices(("save", "old", "text", "delete", "last", "open"), (80, 6, 6, 3, 3, 2))[0]:
            case "save":
                number += chance.randrange(1, 4)
                id = number_id(number, chance.choice(("aaaa", "bbbb")))
            case "old":
                id = number_id(chance.randrange(-50, number + 1), chance.choice(("aaaa", "bbbb", "cccc")))
            case "text":
                id = f"fork {chance.randrange(40)}"
            case "open":
                at = stores.index(store)
                await store.close()
                stores[at] = opened(path)
                await check(stores[at], wanted)
                continue
            case "delete":
                gone = set(chance.sample(wanted, len(wanted) // 2))
                assert await store.delete(gone) == len(gone)
                wanted = [id for id in wanted if id not in gone]
                continue
            case _:  # the numbers of the last entries are given again
                gone = set(wanted[-5:])
                assert await store.delete(gone) == len(gone)
                wanted = wanted[:-5]
                continue
        if id in wanted:
            with pytest.raises(StoreError, match="there already"):
                await store.save(Checkpoint(id))
        else:
            await store.save(Checkpoint(id, wanted[-1] if wanted else None, workflow=id, state={"k": id * 9}))
            wanted.append(id)
    for store in stores:
        await check(store, wanted)
        await store.close()


async def test_a_file_of_version_3_is_read_and_gone_on_with(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = opened(path)
    ids = [number_id(number) for number in range(90, 0, -1)]  # numbers that do not grow have their rows at once
    first = f"{FIRST + 10**9:016x}abcd"
    await store.save(Checkpoint("text", workflow="text"))
    await store.save(Checkpoint(first, workflow=first, created=5.0, name="named"))
    for id in ids:
        await store.save(Checkpoint(id, workflow=id))
    await store.delete([first])
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE entry SET parent=NULL WHERE id=0")
        connection.execute("PRAGMA user_version=3")
    connection.close()
    store = opened(path)
    await check(store, ["text", *ids])
    new = [number_id(number) for number in range(200, 210)]
    for id in new:
        await store.save(Checkpoint(id, workflow=id))
    await check(store, ["text", *ids, *new])
    await store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA user_version").fetchone()[0] == 4
        assert connection.execute("SELECT parent FROM entry WHERE id=0").fetchone()[0] == 92
    connection.close()
    store = opened(path)
    await check(store, ["text", *ids, *new])
    await store.close()


async def damaged(path: Path, statement: str) -> list[str]:
    """A file with more checkpoints than one batch of the index, and what a statement did to it; gives their ids."""
    store = opened(path)
    ids = [number_id(number) for number in range(BATCH + 10)]
    for id in ids:
        await store.save(Checkpoint(id, workflow=id))
    await store.close()
    with sqlite3.connect(path) as connection:
        connection.execute(statement)
    connection.close()
    return ids


async def test_the_heads_find_what_a_damaged_table_has_lost(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    ids = await damaged(path, "DELETE FROM checkpoint")
    found = await salvage(path, Codec())
    await check(found, ids)
    assert (found.lost.readable, found.lost.checkpoints) == (len(ids), 0)
    await found.close()


async def test_what_cannot_be_loaded_is_not_listed_after_a_salvage(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    ids = await damaged(path, "UPDATE entry SET body='no JSON' WHERE id IN (3, (SELECT max(id) FROM entry))")
    found = await salvage(path, Codec())
    await check(found, [id for number, id in enumerate(ids) if number not in (2, len(ids) - 1)])
    assert (found.lost.readable, found.lost.checkpoints) == (len(ids) - 2, 2)
    await found.close()
