"""Every checkpoint of eight reference graphs, resumed in four ways: the rest of the run is the same each time."""

from __future__ import annotations

import asyncio
import json
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from studio.checkpoints import SqliteStore
from studio.engine import Codec, Workflow, encode

from tests.engine.restoring import GRAPHS, Heard, built, play, replay

ROOT = Path(__file__).parents[2]


@dataclass
class Reference:
    """A run to its end, and what happened after each of its checkpoints."""

    name: str
    path: Path
    store: SqliteStore
    workflow: Workflow
    heard: Heard
    ids: list[str]
    rows: list[Any]
    whole: dict[str, Any]
    rest: dict[str, dict[str, Any]]
    calls: list[str]
    """Which agent made each model call."""

    def before(self, checkpoint: str) -> Counter[str]:
        """Model calls of each agent before the checkpoint."""
        return Counter(self.calls[: self.heard.marks[checkpoint][2]])

    def check(self, checkpoint: str, found: dict[str, Any]) -> None:
        """The rest was played alike, and hangs on the checkpoint."""
        wanted = self.rest[checkpoint]
        assert {key: found[key] for key in wanted} == wanted
        parents = [tuple(pair) for pair in found["parents"]]
        if parents:
            assert [parent for _, parent in parents] == [checkpoint, *(id for id, _ in parents[:-1])]

    async def check_untouched(self) -> None:
        """What was saved first is there to the byte."""
        assert stored(self.path)[: len(self.rows)] == self.rows
        for id, wanted in self.whole.items():
            assert encode(await self.store.load(id)) == wanted


def stored(path: Path) -> list[Any]:
    with sqlite3.connect(path) as connection:
        rows = connection.execute("SELECT * FROM entry WHERE id > 0 ORDER BY id").fetchall()
    connection.close()
    return rows


@pytest_asyncio.fixture(params=list(GRAPHS))
async def reference(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Reference]:
    path = tmp_path / "runs.db"
    store = SqliteStore(path, Codec())
    workflow, builder = built(request.param)
    heard = Heard(builder)
    await play(workflow, heard, store, data="go")
    ids = [info.id for info in await store.infos()]
    whole = {id: encode(await store.load(id)) for id in ids}
    rest = {id: heard.since(heard.marks[id]) for id in ids}
    calls = [call["agent"] for call in builder.model_calls]
    yield Reference(request.param, path, store, workflow, heard, ids, stored(path), whole, rest, calls)
    await store.close()


def test_the_graphs_do_what_they_are_for() -> None:
    assert len(GRAPHS) == 8


async def test_fresh_instance_and_twice(reference: Reference) -> None:
    assert len(reference.ids) >= 2
    for id in reference.ids:
        first = await replay(reference.name, reference.store, id, reference.before(id))
        reference.check(id, first)
        reference.check(id, await replay(reference.name, reference.store, id, reference.before(id)))
    await reference.check_untouched()


async def test_same_instance_and_twice(reference: Reference) -> None:
    workflow, builder = reference.workflow, reference.heard.builder
    for id in reference.ids:
        for _ in range(2):
            builder.rewind(reference.before(id))
            heard = Heard(builder)
            mark = heard.here
            await play(workflow, heard, reference.store, checkpoint=id)
            reference.check(id, {**heard.since(mark), "parents": heard.parents})
    await reference.check_untouched()


async def test_new_process(reference: Reference) -> None:
    wanted = {id: dict(reference.before(id)) for id in reference.ids}
    command = [sys.executable, "-m", "tests.engine.restoring", str(reference.path), reference.name, json.dumps(wanted)]

    def run() -> subprocess.CompletedProcess[str]:
        return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)

    done = await asyncio.to_thread(run)
    assert done.returncode == 0, done.stderr
    for id, found in json.loads(done.stdout).items():
        reference.check(id, found)
    await reference.check_untouched()
