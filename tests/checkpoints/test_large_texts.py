"""Large texts in the logs of runs: one copy in the file for all branches, gone with the last log that has them."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from studio.agents.messages import Data, Message, Text
from studio.checkpoints import Checkpoint, RunRecord, SqliteStore
from studio.checkpoints.large_texts import LOST, has_large
from studio.checkpoints.packing import LARGE
from studio.checkpoints.salvage import salvage
from studio.checkpoints.upkeep import Stop
from studio.debugger.event_codec import EventDecoder, EventEncoder
from studio.engine import Codec
from studio.engine import events as ev

IMAGE = "data:image/png;base64," + "iVBOR" * 400_000
BRANCHES = 12


def _events(image: str = IMAGE) -> list[ev.Event]:
    said = Message("user", (Text("What is this?"), Data(image, "image/png")))
    return [
        ev.MessageQueued(0.0, 1, "m1", "a", None, said, "i1"),
        ev.NodeStarted(0.1, 1, "b", "i2", (), said),
        ev.NodeFinished(0.2, 1, "b", "i2", (f"{image} again", "short")),
    ]


async def _filled(path: Path, branches: int = BRANCHES) -> SqliteStore:
    store = SqliteStore(path, Codec())
    for n in range(branches):
        await store.start_run(RunRecord(f"r{n}", n + 1, "main"))
        encoder = EventEncoder(Codec())
        await store.append_events(f"r{n}", [encoder.encode(event) for event in _events()])
    return store


async def _read(store: SqliteStore, run: str) -> list[Any]:
    decoder = EventDecoder(Codec())
    return [decoder.decode(event) for event in await store.load_events(run)]


async def test_an_image_in_the_logs_of_many_branches_is_in_the_file_once(tmp_path: Path) -> None:
    store = await _filled(tmp_path / "runs.db")
    for n in range(BRANCHES):
        assert await _read(store, f"r{n}") == _events()
    await store.close()
    assert (tmp_path / "runs.db").stat().st_size < 2.1 * len(IMAGE), "the image, and the text that holds it"
    again = SqliteStore(tmp_path / "runs.db", Codec())
    assert await _read(again, "r5") == _events()
    await again.close()


async def test_it_goes_with_the_last_log_that_speaks_of_it(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    store = await _filled(path, 3)
    await store.append_events("r2", [{"type": "Other", "data": "x" * (LARGE + 1)}])
    assert await store.freed_by((), ("r0", "r1")) < LARGE
    assert 2 * len(IMAGE) < await store.freed_by((), ("r0", "r1", "r2")) < 2.2 * len(IMAGE)
    assert LARGE < await store.freed_by((), ("r2",)) < 2 * LARGE, "the others speak of the image"
    await store.discard("two", 0.0, (), ("r0", "r2"))
    await store.compact(lambda _text: None, Stop())
    assert await _read(store, "r1") == _events()
    assert len(store._database.execute("SELECT * FROM large").fetchall()) == 2
    await store.delete_run("r1")
    assert store._database.execute("SELECT * FROM large").fetchall() == []
    await store.close()


async def test_a_value_that_looks_like_a_reference_is_none(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await store.start_run(RunRecord("r", 1, "main"))
    odd = ev.NodeFinished(
        0.2, 1, "b", "i2", ({"$": "large", "hash": "0" * 64}, '{"$":"large","hash":"' + "0" * 64 + '"}', IMAGE)
    )
    await store.append_events("r", [EventEncoder(Codec()).encode(odd)])
    assert await _read(store, "r") == [odd]
    await store.close()


async def test_a_text_that_is_lost_says_so_and_the_rest_of_the_log_is_read(tmp_path: Path) -> None:
    store = await _filled(tmp_path / "runs.db", 1)
    store._database.execute("DELETE FROM large WHERE body=?", (IMAGE,))
    queued, _, finished = await _read(store, "r0")
    assert queued.data.parts[1].uri == LOST
    assert finished.data == (f"{IMAGE} again", "short")
    await store.close()


async def test_salvage_takes_them_along(tmp_path: Path) -> None:
    store = await _filled(tmp_path / "runs.db", 2)
    await store.save(Checkpoint("c", None, "r0"))
    await store.close()
    saved = await salvage(tmp_path / "runs.db", Codec())
    assert await _read(saved, "r1") == _events()
    await saved.close()


async def test_the_loop_goes_on_while_they_are_written(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", Codec())
    await store.start_run(RunRecord("r", 1, "main"))
    events = [EventEncoder(Codec()).encode(event) for event in _events()]
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            beats += 1
            await asyncio.sleep(0)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0)
    before = beats
    await store.append_events("r", events)
    during = beats - before
    heart.cancel()
    await asyncio.gather(heart, return_exceptions=True)
    assert during > 3, "the loop stood still"
    await store.close()


@pytest.mark.parametrize(
    ("value", "large"),
    [
        ("x" * LARGE, False),
        ("x" * (LARGE + 1), True),
        ({"a": [1, {"b": "x" * (LARGE + 1)}]}, True),
        ([None, 1.5], False),
    ],
)
def test_what_is_large(value: Any, large: bool) -> None:
    assert has_large(value) is large
