"""Damaged files: whatever is asked of them, the answer is right or an error that says so; nothing else is raised."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from studio.agents.messages import user
from studio.checkpoints import Checkpoint, PendingRequest, QueuedMessage, SqliteStore, StoreError, UnknownType
from studio.engine import Codec

PAGE = 4096
IDS = [f"{1_700_000_000_000_000_000 + n:016x}abcd" for n in range(40)]


async def whole(path: Path) -> bytes:
    """A file with everything in it, as one piece."""
    store, said = SqliteStore(path, Codec()), []
    for n, id in enumerate(IDS):
        said.append(user(f"text number {n} " * 20))
        await store.save(
            Checkpoint(
                id, IDS[n - 1] if n else None, "run", "flow", "sig", superstep=n, created=1.5,
                messages=(QueuedMessage(f"m{n}", "a", None, list(said)),),
                requests=(PendingRequest("r", "a", {"x": [1, 2, 3]}, "str"),),
                state={"k": n, "l": list(range(n))},
                executors={"a": {"session": {"messages": list(said)}}},
                fan_in={"f": (QueuedMessage("mm", "a", None, "t"),)},
                name="" if n % 7 else "named",
            )
        )  # fmt: skip
    await store.close()
    return path.read_bytes()


def damaged(content: bytes, number: int) -> bytes:
    """Bytes changed, the end cut off, a page emptied, or a piece overwritten."""
    chance, found = random.Random(number), bytearray(content)
    match number % 4:
        case 0:
            for _ in range(chance.choice((1, 5, 50))):
                found[chance.randrange(100, len(found))] = chance.randrange(256)
        case 1:
            del found[chance.randrange(len(found)) :]
        case 2:
            at = chance.randrange(1, len(found) // PAGE) * PAGE
            found[at : at + PAGE] = bytes(PAGE)
        case _:
            at = chance.randrange(100, len(found) - 500)
            found[at : at + 500] = chance.randbytes(500)
    return bytes(found)


async def asked(store: SqliteStore) -> None:
    """Everything that reads, then what writes."""
    questions: list[Callable[[], Awaitable[object]]] = [
        store.infos, store.latest, lambda: store.latest("run"), lambda: store.latest("other"),
        *(lambda id=id: store.load(id) for id in (IDS[0], IDS[20], IDS[39])),
        store.marks, store.drafts, store.runs, store.owners, store.sizes, store.discarded, store.retention,
        lambda: store.weight(IDS[5]), lambda: store.freed_by(IDS[:5]),
        lambda: store.save(Checkpoint("new", IDS[39], state={"k": 1})),
        lambda: store.delete(IDS[:10]), lambda: store.prune(3),
    ]  # fmt: skip
    for question in questions:
        try:
            await question()
        except (StoreError, UnknownType):
            continue


@pytest.mark.parametrize("part", range(4))
async def test_damaged_files_give_errors_that_say_so(tmp_path: Path, part: int) -> None:
    content = await whole(tmp_path / "whole.db")
    for number in range(part, 80, 4):
        path = tmp_path / f"{number}.db"
        path.write_bytes(damaged(content, number))
        try:
            store = SqliteStore(path, Codec())
        except StoreError:
            continue
        await asked(store)
        await store.close()


async def test_a_value_of_a_class_that_this_codec_lacks_is_no_damage(tmp_path: Path) -> None:
    from dataclasses import dataclass

    @dataclass(frozen=True)
    class Note:
        text: str
        more: str

    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec(Note))
    await store.save(Checkpoint("c", state={"k": Note("x" * 40, "y" * 40)}))
    await store.close()
    store = SqliteStore(path, Codec())
    with pytest.raises(UnknownType, match="Note"):
        await store.load("c")
    await store.close()
