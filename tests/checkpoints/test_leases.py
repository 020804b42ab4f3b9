"""One process at a time works on a run; a killed one owns nothing any more."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from studio.checkpoints import RunIsElsewhere, SqliteStore
from studio.engine import Codec

_OWNER = """
import asyncio, sys
from studio.checkpoints import SqliteStore
from studio.engine import Codec

async def main():
    store = SqliteStore(sys.argv[1], Codec())
    store.program = "the command line"
    await store.claim_run("r1")
    print("claimed", flush=True)
    await asyncio.Event().wait()

asyncio.run(main())
"""


def _another_process(file: Path) -> subprocess.Popen[bytes]:
    process = subprocess.Popen([sys.executable, "-c", _OWNER, str(file)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"claimed\n"
    return process


async def test_a_run_of_a_living_process_is_elsewhere_until_it_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "runs.db"
    store = SqliteStore(file, Codec())
    other = _another_process(file)
    try:
        words = f"the command line (process {other.pid})"
        assert await store.owners() == {"r1": words}
        with pytest.raises(RunIsElsewhere, match="the command line"):
            await store.claim_run("r1")
        await store.claim_run("r2")
        assert await store.owners() == {"r1": words}, "what is ours is not elsewhere"
    finally:
        other.kill()
        other.communicate()
    assert await store.owners() == {}
    await store.claim_run("r1")
    await store.close()
    assert [p.name for p in tmp_path.iterdir()] == ["runs.db"], "nothing is left beside the file"


async def test_two_stores_of_one_process_do_not_share_a_run_and_a_released_one_is_free(tmp_path: Path) -> None:
    one, two = (SqliteStore(tmp_path / "runs.db", Codec()) for _ in range(2))
    await one.claim_run("r1")
    await one.claim_run("r1")
    with pytest.raises(RunIsElsewhere):
        await two.claim_run("r1")
    await two.release_run("r1")
    assert list(await two.owners()) == ["r1"], "only the owner gives a run up"
    await one.release_run("r1")
    await two.claim_run("r1")
    assert list(await one.owners()) == ["r1"]
    await two.close()
    assert await one.owners() == {}
    await one.close()


async def test_what_another_connection_wrote_is_noticed_once(tmp_path: Path) -> None:
    one, two = (SqliteStore(tmp_path / "runs.db", Codec()) for _ in range(2))
    assert not one.changed_elsewhere()
    await one.claim_run("r1")
    assert not one.changed_elsewhere(), "its own writing is no news"
    await two.claim_run("r2")
    assert one.changed_elsewhere()
    assert not one.changed_elsewhere()
    await one.close()
    await two.close()
