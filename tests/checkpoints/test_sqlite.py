"""The SQLite store: durability, size, damage, several processes, runs."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from studio.agents.messages import Message, user
from studio.checkpoints import Checkpoint, QueuedMessage, RunRecord, SqliteStore, StoreError
from studio.checkpoints.database import connect
from studio.engine import Codec, encode
from studio.files.database import SqliteFile

ROOT = Path(__file__).parents[2]

CHILD = """
import asyncio, sys
from studio.agents.messages import user
from studio.checkpoints import Checkpoint, QueuedMessage, SqliteStore
from studio.engine import Codec

async def main():
    store = SqliteStore(sys.argv[1], Codec())
    parent, conversation = None, ()
    for number in range(1_000_000):
        conversation = (*conversation, user(f"turn {number} " + "x" * 300))
        messages = (QueuedMessage(f"m{number}", "a", None, list(conversation)),)
        await store.save(Checkpoint(f"c{number}", parent, "run", superstep=number, messages=messages))
        print(number, flush=True)
        parent = f"c{number}"

asyncio.run(main())
"""


def killed_child(path: Path, saves: int) -> int:
    """Starts a child that saves without end, kills it after some saves; gives the last number it told."""
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(path)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    assert child.stdout is not None
    last = -1
    while last < saves:
        last = int(child.stdout.readline())
    os.kill(child.pid, signal.SIGKILL)
    rest = child.stdout.read().split()
    child.wait()
    child.stdout.close()
    return int(rest[-1]) if rest else last


@pytest.mark.parametrize("saves", [1, 7, 40])
async def test_kill_9_in_the_middle_of_saving(tmp_path: Path, saves: int) -> None:
    path = tmp_path / "runs.db"
    told = await asyncio.to_thread(killed_child, path, saves)
    store = SqliteStore(path, Codec())
    infos = await store.infos()
    assert [i.id for i in infos] == [f"c{n}" for n in range(len(infos))]
    assert told + 1 <= len(infos) <= told + 2
    for info in (infos[0], infos[-1]):
        checkpoint = await store.load(info.id)
        assert [m.text.split()[1] for m in checkpoint.messages[0].data] == [str(n) for n in range(info.superstep + 1)]
    await store.save(Checkpoint("after", infos[-1].id))
    await store.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def size(path: Path) -> int:
    return sum(file.stat().st_size for file in path.parent.iterdir() if file.name.startswith(path.name))


async def conversation(path: Path, turns: int) -> int:
    """A conversation that is in the message, in two nodes and in a session, saved after every turn."""
    store = SqliteStore(path, Codec())
    said: tuple[Message, ...] = ()
    parent = None
    for number in range(turns):
        said = (*said, user(f"{number} " + "words and more words " * 25))
        saved = Checkpoint(
            f"c{number:031}",
            parent,
            "run",
            "flow",
            "s" * 64,
            superstep=number,
            messages=(QueuedMessage(f"m{number}", "a", None, said),),
            executors={id: {"full_conversation": said, "session": {"messages": list(said)}} for id in ("a", "b")},
        )
        await store.save(saved)
        parent = saved.id
    await store.close()
    return size(path)


async def test_a_conversation_costs_bytes_in_proportion_to_its_length(tmp_path: Path) -> None:
    few, many = [await conversation(tmp_path / f"{n}.db", n) for n in (100, 400)]
    payload = 400 * 500
    assert many / few < 4.3
    assert many < 3 * payload


async def test_a_loaded_conversation_that_goes_on_costs_only_what_is_new(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await conversation(path, 200)
    store = SqliteStore(path, Codec())
    last = (await store.infos())[-1]
    checkpoint = await store.load(last.id)
    message = checkpoint.messages[0]
    said = (*message.data, user("one more " * 20))
    added = await store.save(replace(checkpoint, id="next", parent=last.id, messages=(replace(message, data=said),)))
    assert added < 1500
    assert len((await store.load("next")).messages[0].data) == 201
    await store.close()


async def test_loading_never_changes_the_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await conversation(path, 20)
    before = path.read_bytes()
    store = SqliteStore(path, Codec())
    for info in await store.infos():
        await store.load(info.id)
    await store.close()
    assert path.read_bytes() == before


async def test_the_same_id_twice_is_refused_and_keeps_the_first(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await store.save(Checkpoint("c", state={"k": 1}))
    with pytest.raises(StoreError, match="there already"):
        await store.save(Checkpoint("c", state={"k": 2}))
    assert (await store.load("c")).state == {"k": 1}
    await store.close()


async def test_what_cannot_be_opened_says_why(tmp_path: Path) -> None:
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"this is no database, but long enough to be read as one" * 40)
    with pytest.raises(StoreError, match="damaged"):
        SqliteStore(damaged, Codec())
    with pytest.raises(StoreError, match="cannot be written"):
        SqliteStore(tmp_path / "no such folder" / "runs.db", Codec())
    newer = tmp_path / "newer.db"
    with sqlite3.connect(newer) as connection:
        connection.execute("PRAGMA user_version=99")
        connection.execute(f"PRAGMA application_id={0x53555053}")
    connection.close()
    with pytest.raises(StoreError, match="has version 99 of the format; this program reads version"):
        SqliteStore(newer, Codec())
    early = tmp_path / "early.db"
    with sqlite3.connect(early) as connection:
        connection.execute("PRAGMA user_version=2")
        connection.execute(f"PRAGMA application_id={0x53555053}")
    connection.close()
    with pytest.raises(StoreError, match="early version of the program"):
        SqliteStore(early, Codec())


async def test_a_file_that_lost_content_says_so(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await conversation(path, 3)
    with sqlite3.connect(path) as connection:
        connection.execute("DELETE FROM entry WHERE head IS NULL")
    connection.close()
    store = SqliteStore(path, Codec())
    with pytest.raises(StoreError, match="damaged"):
        await store.load((await store.infos())[-1].id)
    await store.close()


async def test_a_list_whose_items_lie_far_apart_is_read_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two conversations in one file, one much longer: reading backwards gives up, and the links are followed."""
    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec())
    said = [user(f"turn {number} of the short one, long enough for an entry of its own") for number in range(8)]

    async def save(id: str, parent: str | None, messages: list[Message]) -> None:
        await store.save(Checkpoint(id, parent, messages=(QueuedMessage("m", "a", None, messages),)))

    await save("short", None, said[:6])
    for number in range(100):
        await save(f"other {number}", None, [user(f"{number}, {turn}: something else entirely") for turn in range(6)])
    await save("grown", "short", said)
    await store.close()
    store = SqliteStore(path, Codec())
    found: list[int] = []
    backwards = store._database._backwards

    def noted(entry: int) -> list[tuple[int, int, str | int]]:
        rows = backwards(entry)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(store._database, "_backwards", noted)
    assert (await store.load("grown")).messages[0].data == said
    assert (await store.load("short")).messages[0].data == said[:6]
    assert found == [0, 6]
    await store.close()


async def test_two_stores_on_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    one, two = SqliteStore(path, Codec()), SqliteStore(path, Codec())

    async def many(store: SqliteStore, name: str) -> None:
        for number in range(30):
            await store.save(Checkpoint(f"{name}{number}", run=name, state={"list": [str(n) for n in range(number)]}))
            await asyncio.sleep(0)

    async with asyncio.TaskGroup() as group:
        group.create_task(many(one, "a"))
        group.create_task(many(two, "b"))
    assert len(await one.infos()) == len(await two.infos()) == 60
    assert (await one.load("b29")).state == (await two.load("a29")).state
    await one.close()
    await two.close()


async def test_a_lock_of_another_process_is_waited_for_off_the_loop(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec())
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    saving = asyncio.ensure_future(store.save(Checkpoint("c")))
    turns = 0
    for _ in range(20):
        await asyncio.sleep(0)
        turns += 1
    assert not saving.done()
    other.execute("COMMIT")
    other.close()
    await saving
    assert (turns, (await store.load("c")).id) == (20, "c")
    await store.close()


async def test_disk_full(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await store.save(Checkpoint("c0"))
    connection = store._database.connection
    pages = connection.execute("PRAGMA page_count").fetchone()[0]
    connection.execute(f"PRAGMA max_page_count={pages}")
    with pytest.raises(StoreError, match="full"):
        await store.save(Checkpoint("big", state={"text": "x" * 200_000}))
    connection.execute("PRAGMA max_page_count=1000000")
    await store.save(Checkpoint("c1", state={"text": "x" * 200_000}))
    assert [i.id for i in await store.infos()] == ["c0", "c1"]
    assert len((await store.load("c1")).state["text"]) == 200_000
    await store.close()


async def test_runs_events_and_documents(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec())
    record = RunRecord("r1", 1, "Run 1", input="hi", started=1.5, document_fingerprint="f")
    await store.start_run(record)
    await store.start_run(replace(record, id="r2", name="Fork", parent_checkpoint="c"))
    await store.update_run("r1", state="completed", ended=2.0)
    with pytest.raises(KeyError):
        await store.update_run("nobody", state="x")
    with pytest.raises(KeyError):
        await store.update_run("r1", colour="red")
    await store.append_events("r1", [{"type": "a"}, ["b", 1]])
    await store.append_events("r2", [{"type": "c"}])
    await store.append_events("r1", ["last"])
    await store.save_document("f", "text")
    await store.save_document("f", "text")
    await store.close()

    store = SqliteStore(path, Codec())
    assert [(r.id, r.state, r.ended) for r in await store.runs()] == [
        ("r1", "completed", 2.0),
        ("r2", "preparing", None),
    ]
    assert await store.load_events("r1") == [{"type": "a"}, ["b", 1], "last"]
    assert await store.load_document("f") == "text"
    with pytest.raises(KeyError):
        await store.load_document("g")
    await store.close()


async def test_latest(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    assert await store.latest() is None
    for number, run in enumerate(("a", "b", "a", "b")):
        await store.save(Checkpoint(f"c{number}", run=run))
    latest = [await store.latest(), await store.latest("a")]
    assert [info.id if info else None for info in latest] == ["c3", "c2"]
    await store.close()


async def test_a_big_log_is_folded_while_saving(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec())
    for number in range(600):
        await store.save(Checkpoint(f"c{number}", state={"text": f"{number}" + "x" * 20_000}))
        if number % 50 == 0:
            await asyncio.sleep(0.001)
    await store.close()
    assert not path.with_name("runs.db-wal").exists()
    store = SqliteStore(path, Codec())
    assert encode((await store.load("c599")).state)["text"].startswith("599x")
    await store.close()


async def test_removed_entries_are_not_referred_to_by_another_connection(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    one, two = SqliteStore(path, Codec()), SqliteStore(path, Codec())
    said = [user(f"{n} " + "words " * 30) for n in range(8)]
    first = Checkpoint("c1", messages=(QueuedMessage("m", "a", None, said),))
    await one.save(first)
    await two.load("c1")
    assert await one.delete(["c1"]) == 1
    await two.save(replace(first, id="c2"))
    await one.close()
    await two.close()
    three = SqliteStore(path, Codec())
    assert (await three.load("c2")).messages == first.messages
    await three.close()


async def test_deleting_gives_the_room_back(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    await conversation(path, 100)
    before = size(path)
    store = SqliteStore(path, Codec())
    for turn in range(3):
        infos = await store.infos()
        kept = await store.load(infos[-1].id)
        assert await store.prune(1) == len(infos) - 1
        assert await store.load(kept.id) == kept
        parent = kept.id
        for number in range(100):
            said = (*kept.messages[0].data[:50], user(f"{turn} {number} " + "words " * 80))
            await store.save(
                replace(kept, id=f"n{turn}.{number}", parent=parent, messages=(QueuedMessage("m", "a", None, said),))
            )
            parent = f"n{turn}.{number}"
    await store.close()
    assert size(path) < 3 * before


@pytest.mark.parametrize("cut", [100, 5000, 0.5, 0.9])
async def test_a_file_that_was_cut_or_scribbled_on_is_refused_with_the_reason(tmp_path: Path, cut: float) -> None:
    path = tmp_path / "runs.db"
    await conversation(path, 60)
    data = path.read_bytes()
    at = int(cut * len(data)) if isinstance(cut, float) else cut
    path.write_bytes(data[:at] + b"\xff" * 4096 + data[at + 4096 :])
    damaged, whole = 0, 0
    try:
        store = SqliteStore(path, Codec())
    except StoreError as error:
        assert "damaged" in str(error)
        return
    try:
        for number, info in enumerate(await store.infos()):
            loaded = await store.load(info.id)
            assert [m.text.split()[0] for m in loaded.messages[0].data] == [str(n) for n in range(number + 1)]
            whole += 1
    except StoreError as error:
        assert "damaged" in str(error)
        damaged += 1
    await store.close()
    assert damaged or whole == 60


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    for folder in (Path("/proc"), Path("/sys")):
        if folder.exists():
            with pytest.raises(StoreError, match="cannot be written"):
                SqliteStore(folder / "runs.db", Codec())


CHILD_SAVES = """
import asyncio, sys
from studio.agents.messages import user
from studio.checkpoints import Checkpoint, QueuedMessage, SqliteStore
from studio.engine import Codec

async def main():
    store = SqliteStore(sys.argv[1], Codec())
    for number in range(60):
        said = [user(f"{sys.argv[2]} {n} " + "x" * 200) for n in range(number + 1)]
        messages = (QueuedMessage("m", "a", None, said),)
        await store.save(Checkpoint(f"{sys.argv[2]}{number}", run=sys.argv[2], messages=messages))
    await store.close()

asyncio.run(main())
"""


async def test_two_processes_on_one_file(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    command = [sys.executable, "-c", CHILD_SAVES, str(path)]

    def run(name: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, name], cwd=ROOT, capture_output=True, text=True, check=False)

    for done in await asyncio.gather(*(asyncio.to_thread(run, name) for name in "ab")):
        assert done.returncode == 0, done.stderr
    store = SqliteStore(path, Codec())
    assert len(await store.infos()) == 120
    for name in "ab":
        for number in (0, 30, 59):
            loaded = await store.load(f"{name}{number}")
            assert [m.text.split()[:2] for m in loaded.messages[0].data] == [[name, str(n)] for n in range(number + 1)]
    await store.close()


@pytest.mark.parametrize("opened", [lambda path: connect(path).close(), lambda path: use_file(path)])
def test_many_open_a_new_file_at_once(tmp_path: Path, opened: Callable[[Path], None]) -> None:
    """SQLite refuses at once while another connection turns the file to WAL or is the last to close it."""
    for turn in range(40):
        path = tmp_path / f"{turn}.db"
        start = threading.Barrier(6)

        def go(path: Path = path, start: threading.Barrier = start) -> None:
            start.wait()
            opened(path)

        with ThreadPoolExecutor(6) as pool:
            for done in [pool.submit(go) for _ in range(6)]:
                done.result()


def use_file(path: Path) -> None:
    file = SqliteFile(path, "CREATE TABLE IF NOT EXISTS thing (name TEXT)")
    with file.using() as connection:
        connection.execute("INSERT INTO thing VALUES ('a')")
    file.close()


async def test_large_values_are_written_off_the_loop(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    big = ["word " * 400_000 + str(n) for n in range(4)]
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    others_task = asyncio.ensure_future(others())
    await store.save(Checkpoint("c", state={"big": big}))
    others_task.cancel()
    assert turns > 20
    assert (await store.load("c")).state["big"] == big
    await store.close()


def test_nothing_is_ever_unpickled() -> None:
    for room in ("checkpoints", "engine"):
        for file in (ROOT / "studio" / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            assert "pickle" not in text.replace("never pickled", ""), file
