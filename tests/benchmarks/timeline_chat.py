"""A chat of fifty turns that begins with an image of 2 MB, saved after every turn: how large the file is for what was
said, and how long the loop is held. ``python -m tests.benchmarks.timeline_chat TURNS``."""

from __future__ import annotations

import asyncio
import base64
import random
import sys
import time
from pathlib import Path

from studio.agents.messages import Data, Message, Text, assistant, user
from studio.checkpoints import Checkpoint, QueuedMessage, SqliteStore
from studio.engine import Codec

from tests.benchmarks.children import answer

_IMAGE_BYTES = 2_000_000


def talk(turns: int) -> list[Message]:
    """What is said, the image first."""
    image = "data:image/png;base64," + base64.b64encode(random.Random(1).randbytes(_IMAGE_BYTES)).decode()
    said = [Message("user", (Text("What is this?"), Data(image, "image/png"))), assistant("A picture.")]
    for turn in range(1, turns):
        said += [user(f"Question {turn}, about the left half"), assistant(f"Answer {turn} of many words. " * 20)]
    return said


def payload(said: list[Message]) -> int:
    """Bytes of everything that was said, once."""
    return sum(len(p.text if isinstance(p, Text) else getattr(p, "uri", "")) for m in said for p in m.parts)


def _checkpoint(said: list[Message], turn: int) -> Checkpoint:
    now = tuple(said[: 2 * turn])
    saved = {"cache": now[-1:], "full_conversation": now, "session": {"messages": list(now), "state": {}}}
    waiting = QueuedMessage(f"m{turn}", "a", None, now[-1])
    parent = f"c{turn - 1}" if turn > 1 else None
    return Checkpoint(f"c{turn}", parent, "r", superstep=turn, messages=(waiting,), executors={"a": saved})


class _Loop:
    """The longest stretch between two turns of a task that always wants its turn: of the clock, and of the loop's own
    thread, which is the work that was done on it."""

    def __init__(self) -> None:
        self.wall = self.own = 0.0

    async def beat(self) -> None:
        wall, own = time.perf_counter(), time.thread_time()
        while True:
            await asyncio.sleep(0)
            now, spent = time.perf_counter(), time.thread_time()
            self.wall, self.own = max(self.wall, now - wall), max(self.own, spent - own)
            wall, own = now, spent


async def _measure(path: Path, turns: int) -> dict[str, float]:
    said, held = talk(turns), _Loop()
    store = SqliteStore(path, Codec())
    points = [_checkpoint(said, turn) for turn in range(1, turns + 1)]
    heart = asyncio.create_task(held.beat())
    await asyncio.sleep(0)
    times = []
    for point in points:
        started = time.perf_counter()
        await store.save(point)
        times.append(time.perf_counter() - started)
    heart.cancel()
    await asyncio.gather(heart, return_exceptions=True)
    await store.close()
    size = path.stat().st_size
    return {
        "factor": size / payload(said),
        "held": held.own * 1000,
        "held_wall": held.wall * 1000,
        "first": times[0] * 1000,
        "median": sorted(times)[len(times) // 2] * 1000,
    }


if __name__ == "__main__":
    answer(asyncio.run(_measure(Path("chat.db"), int(sys.argv[1]))))
