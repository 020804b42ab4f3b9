"""What stores remember of saved values is bounded: they are not kept alive for ever."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass
from pathlib import Path

import pytest
from studio.checkpoints import Checkpoint, MemoryStore, SqliteStore, packing
from studio.engine import Codec


@dataclass(frozen=True)
class Note:
    text: str


async def test_large_values_are_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "HELD", 100_000)
    store = SqliteStore(tmp_path / "runs.db", Codec(Note))
    seen: list[weakref.ref[Note]] = []
    for number in range(200):
        note = Note(f"{number:010}" * 1000)
        seen.append(weakref.ref(note))
        await store.save(Checkpoint(str(number), state={"k": [note] * 6}))
    del note
    gc.collect()
    alive = [ref for ref in seen if ref() is not None]
    assert len(alive) <= 100, "64 bases of changes, and what the limit allows"
    assert (await store.load("0")).state["k"][5].text == "0000000000" * 1000
    await store.close()


async def test_a_store_in_memory_lets_go_of_what_is_removed() -> None:
    store = MemoryStore(Codec(Note))
    note = Note("x")
    seen = weakref.ref(note)
    await store.save(Checkpoint("old", state={"k": note}))
    await store.save(Checkpoint("new", state={"k": Note("y")}))
    del note
    assert await store.prune(1) == 1
    gc.collect()
    assert seen() is None
    assert (await store.load("new")).state["k"] == Note("y")
