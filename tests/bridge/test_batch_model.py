"""A batch through its model: results beside the table, stop, and going on."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from studio.bridge.batch_model import BatchModel
from studio.engine import Context, FunctionExecutor, WorkflowBuilder
from studio.engine import Workflow as Graph

from tests.bridge.conftest import OnLoop
from tests.bridge.test_run_model import Desk, on_desk
from tests.debugger.graphs import until


def graph(wait: Callable[[str], Awaitable[object]]) -> Graph:
    async def run(data: Any, ctx: Context) -> None:
        await wait(data)
        if data == "bad":
            raise ValueError("broken row")
        ctx.yield_output(f"out {data}")

    node = FunctionExecutor("a", run, accepts=str, sends=(), yields=(str,))
    return WorkflowBuilder(node, name="w").build()


def model_of(desk: Desk) -> BatchModel:
    model = desk.run.batch()
    assert model is not None
    assert desk.run.batch() is model
    return model


def test_a_batch_is_stopped_and_goes_on(on_loop: OnLoop, tmp_path: Path) -> None:
    import asyncio

    table = tmp_path / "rows.csv"
    table.write_text("input\none\nbad\nslow\nlast\n", encoding="utf-8")
    ran: list[str] = []

    async def wait(data: str) -> None:
        ran.append(data)
        if data == "slow" and ran.count("slow") == 1:
            await asyncio.Event().wait()

    async def script(desk: Desk) -> None:
        model = model_of(desk)
        model.open(table)
        await until(lambda: len(model.results) == 4, 15)
        assert {r.state for r in model.results} == {"not run"}
        model.start(parallel=1)
        await until(lambda: ran == ["one", "bad", "slow"], 15)
        model.stop()
        await until(lambda: not model.running, 15)
        assert [(r.number, r.state) for r in model.results] == [
            (2, "failed"), (3, "not run"), (4, "not run"), (1, "completed"),
        ]  # fmt: skip
        assert "broken row" in model.results[0].failure
        model.open(table)  # as after a restart
        await until(lambda: [r.state for r in model.results[::3]] == ["not run", "completed"], 15)
        model.start(parallel=2)
        await until(lambda: not model.running and ran.count("last") == 1, 15)
        assert ran.count("one") == 1
        assert [(r.number, r.state) for r in model.results] == [
            (2, "failed"), (1, "completed"), (3, "completed"), (4, "completed"),
        ]  # fmt: skip
        model.start(parallel=1, again=True)
        await until(lambda: not model.running and ran.count("last") == 2, 15)
        assert ran.count("one") == 2

    on_desk(on_loop, lambda: graph(wait), script)
    kept = [json.loads(line) for line in (tmp_path / "rows.results.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [k["row"] for k in kept if k["state"] == "completed"] == [1, 3, 4]


def test_a_table_that_cannot_be_read_is_said(on_loop: OnLoop, tmp_path: Path) -> None:
    async def nothing(_data: str) -> None: ...

    async def script(desk: Desk) -> None:
        model = model_of(desk)
        model.open(tmp_path / "none.csv")
        await until(lambda: bool(model.problem), 15)
        assert model.problem.startswith("none.csv cannot be read: ")
        (tmp_path / "bad.jsonl").write_text("{", encoding="utf-8")
        model.open(tmp_path / "bad.jsonl")
        await until(lambda: "line 1" in model.problem, 15)
        model.start()
        assert not model.running

    on_desk(on_loop, lambda: graph(nothing), script)
