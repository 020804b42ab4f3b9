"""What a branch took is kept with it: counted once, after a restart too, in files of earlier versions unknown."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest
from studio.agents.cost import Cost
from studio.agents.messages import Usage
from studio.checkpoints import RunRecord, SqliteStore
from studio.debugger.memory_run_store import MemoryRunStore
from studio.debugger.run_usage import usage_before, usage_of, usage_text, with_call
from studio.engine import Codec
from studio.engine import events as ev

CODEC = Codec()
SPENT = Usage(120, 30, 5, None, False, Cost({"USD": Decimal("0.0123")}, date(2026, 5, 1)))


@pytest.mark.parametrize("usage", [None, Usage(), Usage(1, 2), SPENT])
def test_the_same_comes_back(usage: Usage | None) -> None:
    assert usage_of(usage_text(usage, CODEC), CODEC) == usage


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"$": "see", "n": 4}', '"x"'])
def test_what_cannot_be_read_is_unknown(text: str) -> None:
    assert usage_of(text, CODEC) is None


def test_calls_are_added_and_failures_are_not() -> None:
    def call(usage: Usage | None, error: str = "") -> ev.ModelCallFinished:
        return ev.ModelCallFinished(0.0, "a", "i", "c", usage, None, error)

    total = with_call(None, call(Usage(1, 2)))
    total = with_call(total, call(None, "refused"))
    total = with_call(total, ev.SuperstepStarted(0.0, 1))
    assert total == Usage(1, 2)
    assert with_call(total, call(Usage(10, 20))) == Usage(11, 22)
    untold = with_call(total, call(None))
    assert untold is not None
    assert (untold.input, untold.partial) == (1, True), "nothing told is not nothing used"


def test_a_branch_that_was_cut_took_at_least_what_follows() -> None:
    known = RunRecord("r", 1, "main", usage=usage_text(Usage(1, 2), CODEC))
    assert usage_before(known, CODEC, resumed=True) == Usage(1, 2)
    cut = usage_before(RunRecord("r", 1, "main"), CODEC, resumed=True)
    assert cut is not None
    assert (cut + Usage(3, 4)).partial
    assert usage_before(RunRecord("r", 1, "main"), CODEC, resumed=False) is None


@pytest.mark.parametrize("kind", ["file", "memory"])
async def test_stores_keep_it(tmp_path: Path, kind: str) -> None:
    store = SqliteStore(tmp_path / "runs.db", CODEC) if kind == "file" else MemoryRunStore(CODEC)
    await store.start_run(RunRecord("r", 1, "main"))
    await store.update_run("r", usage=usage_text(SPENT, CODEC))
    [record] = await store.runs()
    assert usage_of(record.usage, CODEC) == SPENT
    await store.close()


async def test_an_early_file_gets_its_column_when_a_run_is_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "runs.db", CODEC)
    await store.start_run(RunRecord("r", 1, "main"))
    store._database.execute("ALTER TABLE run DROP COLUMN usage")
    await store.close()
    early = SqliteStore(tmp_path / "runs.db", CODEC)
    assert [r.usage for r in await early.runs()] == [""]
    await early.update_run("r", usage=usage_text(Usage(1, 2), CODEC))
    await early.start_run(RunRecord("s", 2, "main"))
    assert [usage_of(r.usage, CODEC) for r in await early.runs()] == [Usage(1, 2), None]
    await early.close()
