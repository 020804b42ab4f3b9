"""Large values: one copy in the file however often they are saved, and never long work on the loop."""

from __future__ import annotations

import asyncio
import base64
import random
import time
from pathlib import Path

from studio.agents.messages import Data, Message, Text, assistant, user
from studio.checkpoints import Checkpoint, QueuedMessage, SqliteStore
from studio.engine import Codec

IMAGE = "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(2_000_000)).decode()
TURNS = 50


def _talk(turns: int) -> list[Message]:
    first = Message("user", (Text("What is this?"), Data(IMAGE, "image/png")))
    said: list[Message] = [first, assistant("A picture.")]
    for turn in range(1, turns):
        said += [user(f"Question {turn}, about the left half"), assistant(f"Answer {turn} " * 20)]
    return said


def _checkpoint(talk: list[Message], turn: int) -> Checkpoint:
    now = tuple(talk[: 2 * turn])
    saved = {"cache": now[-1:], "full_conversation": now, "session": {"messages": list(now), "state": {}}}
    message = QueuedMessage(f"m{turn}", "a", None, now[-1])
    parent = f"c{turn - 1}" if turn > 1 else None
    return Checkpoint(f"c{turn}", parent, "r", superstep=turn, messages=(message,), executors={"a": saved})


async def test_a_two_megabyte_image_in_a_chat_of_fifty_turns_is_stored_once(tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    talk = _talk(TURNS)
    store = SqliteStore(path, Codec())
    for turn in range(1, 26):
        await store.save(_checkpoint(talk, turn))
    await store.close()
    store = SqliteStore(path, Codec())  # another program goes on
    loaded = list((await store.load("c25")).executors["a"]["full_conversation"])
    talk[:50] = loaded
    for turn in range(26, TURNS + 1):
        await store.save(_checkpoint(talk, turn))
    await store.close()
    assert path.stat().st_size < len(IMAGE) * 1.1
    again = SqliteStore(path, Codec())
    last = (await again.load(f"c{TURNS}")).executors["a"]["full_conversation"]
    assert tuple(last) == tuple(talk)
    await again.close()


async def test_while_a_large_value_is_saved_the_loop_goes_on(tmp_path: Path) -> None:
    """The image is written in a thread: others get their turn on the loop while that lasts."""
    store = SqliteStore(tmp_path / "runs.db", Codec())
    beats: list[float] = []

    async def beat() -> None:
        while True:
            beats.append(time.perf_counter())
            await asyncio.sleep(0)

    heart = asyncio.create_task(beat())
    await asyncio.sleep(0)
    before = len(beats)
    await store.save(_checkpoint(_talk(2), 1))
    during = len(beats) - before
    heart.cancel()
    await asyncio.gather(heart, return_exceptions=True)
    assert during > 3, "the loop stood still"
    await store.close()
