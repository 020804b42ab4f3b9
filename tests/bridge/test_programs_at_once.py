"""Two windows and runs of the command line on one file of runs at the same time, each a program of its own."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from studio.checkpoints import RunRecord, SqliteStore
from studio.checkpoints.runs import free
from studio.document.model import AgentNode, DirectEdge, OfflineScript, Workflow
from studio.engine import Codec
from studio.files import write_workflow
from studio.settings.places import run_store

ROOT = Path(__file__).parents[2]
ROUNDS = 2


def _workflow() -> Workflow:
    names = ("a", "b", "c")
    return Workflow(
        id="shared-file",
        name="Shared",
        start="a",
        nodes=tuple(AgentNode(id=n, name=n.upper(), instructions=f"You are {n}.") for n in names),
        edges=(DirectEdge(id="e1", source="a", target="b"), DirectEdge(id="e2", source="b", target="c")),
        offline=OfflineScript.model_validate({"nodes": {n: {"replies": [{"echo": f"{n}: "}]} for n in names}}),
    )


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT), "QT_QPA_PLATFORM": "offscreen"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def _ended(program: subprocess.Popen[bytes]) -> dict[str, Any]:
    out, errors = program.communicate(timeout=240)
    assert program.returncode == 0, errors.decode()
    last: dict[str, Any] = json.loads(out.decode().splitlines()[-1])
    return last


def test_two_windows_and_the_command_line_work_on_one_file_at_once(tmp_path: Path) -> None:
    file = tmp_path / "shared.workflow.json"
    write_workflow(_workflow(), file)
    total = 2 * 2 * ROUNDS + 2  # a run and a fork in each round of each window, and those of the command line
    windows = [_start("tests.bridge.window_child", str(file), name, str(ROUNDS), str(total)) for name in ("one", "two")]
    calls = [_start("studio", "run", str(file), "--input", f"line {n}", "--json") for n in range(2)]
    for call in calls:
        assert _ended(call)["state"] == "completed"
    seen = [_ended(window) for window in windows]
    assert [s["problems"] for s in seen] == [[], []]
    assert seen[0]["rows"] == seen[1]["rows"], "both show the same tree"
    assert seen[0]["names"] == seen[1]["names"] == sorted(f"{w} {n}" for w in ("one", "two") for n in range(ROUNDS))
    assert [s["away"] for s in seen] == [2 * ROUNDS] * 2
    rows = seen[0]["rows"]
    assert len(rows) == total
    assert Counter(row[2] for row in rows) == {"completed": total}
    mains = [row[0] for row in rows if row[1] == "main"]
    assert sorted(mains) == list(range(1, 2 * ROUNDS + 3)), "each run has a number of its own"
    texts = [f"{w} {n}" for w in ("one", "two") for n in range(ROUNDS)]
    assert Counter(row[3] for row in rows) == {**dict.fromkeys(texts, 2), "line 0": 1, "line 1": 1}
    asyncio.run(_check_file())


async def _check_file() -> None:
    store = SqliteStore(run_store("shared-file"), Codec())
    assert store._database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    infos, runs = await store.infos(), {r.id for r in await store.runs()}
    assert len({i.id for i in infos}) == len(infos)
    for info in infos:
        loaded = await store.load(info.id)
        assert loaded.run in runs
    for run in runs:
        points = [i for i in infos if i.run == run]
        first = [i for i in points if i.parent is None or i.parent not in {p.id for p in points}]
        assert len(first) == 1, "one beginning, each other follows one of its own run"
        saved = [e for e in await store.load_events(run) if e["type"] == "CheckpointSaved"]
        assert {i.id for i in points} == {e["checkpoint"] for e in saved}, "log and checkpoints tell the same"
    assert await store.owners() == {}
    await store.close()


@pytest.mark.parametrize(
    ("record", "kept"),
    [
        (RunRecord("x", 4, "main"), (4, "main")),
        (RunRecord("x", 2, "main"), (4, "main")),
        (RunRecord("x", 2, "Fork A", "p"), (2, "Fork A 3")),
        (RunRecord("x", 3, "Fork A", "p"), (3, "Fork A")),
    ],
)
def test_what_another_program_took_meanwhile_is_not_given_twice(record: RunRecord, kept: tuple[int, str]) -> None:
    taken = [(1, "main"), (2, "main"), (3, "main"), (2, "Fork A"), (2, "Fork A 2")]
    found = free(record, taken)
    assert (found.number, found.name) == kept
    assert found.id == "x"
