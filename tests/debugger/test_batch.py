"""A workflow for every row of a table."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from studio.debugger.assertions import Outcome
from studio.debugger.batch import Batch, Row, RowResult, TableProblem, done_before, read_table


def table(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_csv_and_json_lines_become_inputs(tmp_path: Path) -> None:
    path = table(tmp_path, "a.csv", '\ufeffid,input,note\n7,"two\nlines",x\n8,plain,y\n')
    assert read_table(path) == [Row(1, "two\nlines", "7"), Row(2, "plain", "8")]
    assert [r.input for r in read_table(path, "note")] == ["x", "y"]
    path = table(tmp_path, "b.csv", "topic\nrain\nsun\n")
    assert [r.input for r in read_table(path)] == ["rain", "sun"]
    path = table(tmp_path, "c.csv", "a,b\n1,2\n")
    assert [r.input for r in read_table(path)] == [{"a": "1", "b": "2"}]
    path = table(tmp_path, "d.jsonl", '"text"\n\n{"input": {"x": 1}, "name": "n"}\n[1, 2]\n')
    assert read_table(path) == [Row(1, "text"), Row(2, {"x": 1}, "n"), Row(3, [1, 2])]


@pytest.mark.parametrize(
    ("name", "text", "column", "sentence"),
    [
        ("a.csv", "x,y\n1\n", None, "a.csv, line 2: 2 values are wanted"),
        ("a.csv", "x\n", None, "a.csv has no rows"),
        ("a.jsonl", '{"x": 1}\n{', None, "a.jsonl, line 2: this is no JSON"),
        ("a.csv", "x,y\n1,2\n", "z", "a.csv, row 1: there is no column z"),
    ],
)
def test_a_table_that_cannot_be_read_says_where(
    tmp_path: Path, name: str, text: str, column: str | None, sentence: str
) -> None:
    with pytest.raises(TableProblem, match=sentence):
        read_table(table(tmp_path, name, text), column)


ROWS = [Row(n, f"in {n}") for n in range(1, 7)]


def outcome(output: str = "out", failure: str = "", cost: float = 0.0) -> Outcome:
    return Outcome(outputs=[output], failure=failure, cost=cost, tokens=5)


async def test_rows_run_side_by_side_and_failures_come_first() -> None:
    running = most = 0
    free = asyncio.Event()

    async def run(row: Row) -> Outcome:
        nonlocal running, most
        running += 1
        most = max(most, running)
        if running == 3:
            free.set()
        await free.wait()
        await asyncio.sleep(0)
        running -= 1
        return outcome(f"out {row.number}", "broken" if row.number == 4 else "")

    told: list[RowResult] = []
    results = await Batch(ROWS, run, told.append, parallel=3).run()
    assert most == 3
    assert [(r.number, r.state) for r in results][:2] == [(4, "failed"), (1, "completed")]
    assert {r.number for r in told} == {1, 2, 3, 4, 5, 6}
    assert next(r for r in results if r.number == 2).output == "out 2"


async def test_no_run_begins_when_so_much_was_spent() -> None:
    async def run(row: Row) -> Outcome:
        return outcome(cost=0.4)

    batch = Batch(ROWS, run, lambda _result: None, parallel=1, max_cost=1.0)
    results = await batch.run()
    assert [r.state for r in results] == ["not run"] * 3 + ["completed"] * 3
    assert batch.capped
    assert batch.cost == pytest.approx(1.2)

    async def slow(row: Row) -> Outcome:
        await asyncio.sleep(0)
        return outcome(cost=0.4)

    two = Batch(ROWS, slow, lambda _result: None, parallel=2, max_cost=1.0)
    await two.run()
    assert two.cost == pytest.approx(1.2), "what the second of two that run will cost is counted before a third begins"


async def test_a_stopped_batch_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    ran: list[int] = []

    async def run(row: Row) -> Outcome:
        if row.number == 3:
            await asyncio.Event().wait()
        ran.append(row.number)
        return outcome(f"out {row.number}", "broken" if row.number == 2 else "")

    def told(result: RowResult) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(result.to_json("w")) + "\n")
        if result.number == 2:
            running.cancel()

    running = asyncio.create_task(Batch(ROWS, run, told, parallel=1).run())
    await asyncio.gather(running, return_exceptions=True)
    with path.open("a", encoding="utf-8") as file:
        file.write('{"row": 5, "sta')  # the program was killed while it wrote
    done = done_before(path, ROWS, "w")
    assert list(done) == [1]
    assert (done[1].output, done[1].tokens) == ("out 1", 5)

    async def rest(row: Row) -> Outcome:
        ran.append(row.number)
        return outcome()

    results = await Batch(ROWS, rest, lambda _result: None, done=done).run()
    assert ran == [1, 2, 2, 3, 4, 5, 6]
    assert all(r.state == "completed" for r in results)
    changed: list[Any] = [Row(1, "another input"), *ROWS[1:]]
    assert done_before(path, changed, "w") == {}
    assert done_before(path, ROWS, "another") == {}, "results of another workflow with the same table"
