"""A workflow run for every row of a table: in parallel, with a cap on cost, and going on where it was stopped."""

from __future__ import annotations

import asyncio
import csv
import json
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from studio.debugger.assertions import Outcome

State = Literal["completed", "failed", "not run"]


class TableProblem(ValueError):
    """A table that cannot be read; ``str()`` is a sentence with the place."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of the table, counted from 1. ``name`` is what a person calls it, if the table has such a column."""

    number: int
    input: Any
    name: str = ""


@dataclass(frozen=True, slots=True)
class RowResult:
    """What became of a row."""

    number: int
    input: Any
    state: State
    output: Any = None
    failure: str = ""
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    name: str = ""

    def to_json(self, workflow: str) -> dict[str, Any]:
        """A line of the results; ``workflow``: the id of what was run, for several may share a table."""
        return {
            "workflow": workflow, "row": self.number, "name": self.name, "state": self.state, "input": self.input,
            "output": self.output, "failure": self.failure, "tokens": self.tokens, "cost": self.cost,
            "seconds": round(self.seconds, 3),
        }  # fmt: skip


def read_table(path: Path, column: str | None = None) -> list[Row]:
    """The rows of a CSV file with a header, or of JSON lines.

    The input is the named column, else ``input``, else the only column, else the whole row as an object. A JSON line
    that is no object is the input itself. Raises :class:`TableProblem`, ``OSError``.
    """
    lines = path.suffix.lower() in (".jsonl", ".ndjson", ".json")
    try:
        found = list(_json_rows(path)) if lines else list(_csv_rows(path))
    except UnicodeDecodeError as error:
        raise TableProblem(f"{path.name} is not UTF-8 text: {error.reason} at byte {error.start}.") from None
    rows = [Row(number, _input(item, column, path, number), _name(item)) for number, item in enumerate(found, 1)]
    if not rows:
        raise TableProblem(f"{path.name} has no rows.")
    return rows


def _json_rows(path: Path) -> Iterable[Any]:
    for number, line in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except ValueError as error:
                raise TableProblem(f"{path.name}, line {number}: this is no JSON: {error}.") from None


def _csv_rows(path: Path) -> Iterable[Any]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, strict=True)
        try:
            for row in reader:
                if None in row or None in row.values():
                    wanted = len(reader.fieldnames or ())
                    raise TableProblem(f"{path.name}, line {reader.line_num}: {wanted} values are wanted.")
                yield row
        except csv.Error as error:
            raise TableProblem(f"{path.name}, line {reader.line_num}: {error}.") from None


def _input(item: Any, column: str | None, path: Path, number: int) -> Any:
    if not isinstance(item, Mapping):
        return item
    if column is not None and column not in item:
        raise TableProblem(f"{path.name}, row {number}: there is no column {column}.")
    if column is not None or "input" in item:
        return item[column or "input"]
    return next(iter(item.values())) if len(item) == 1 else dict(item)


def _name(item: Any) -> str:
    return str(item.get("name") or item.get("id") or "") if isinstance(item, Mapping) else ""


def done_before(path: Path, rows: Sequence[Row], workflow: str) -> dict[int, RowResult]:
    """What an earlier batch of this workflow (its id) has completed already, for rows whose input is still the same.
    A torn last line is left out: the program was killed while it wrote."""
    found: dict[int, RowResult] = {}
    inputs = {row.number: row.input for row in rows}
    if not path.exists():
        return found
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            kept = json.loads(line)
            number = kept["row"]
            same = kept["workflow"] == workflow and number in inputs and inputs[number] == kept["input"]
            if kept["state"] == "completed" and same:
                found[number] = RowResult(
                    number, kept["input"], "completed", kept.get("output"), "", int(kept.get("tokens", 0)),
                    float(kept.get("cost", 0)), float(kept.get("seconds", 0)), str(kept.get("name", "")),
                )  # fmt: skip
        except (ValueError, KeyError, TypeError):
            continue
    return found


class Batch:
    """Runs rows, ``parallel`` at a time. ``told`` gets every result as it comes."""

    def __init__(
        self,
        rows: Sequence[Row],
        run: Callable[[Row], Awaitable[Outcome]],
        told: Callable[[RowResult], None],
        *,
        parallel: int = 4,
        max_cost: float | None = None,
        done: Mapping[int, RowResult] | None = None,
    ) -> None:
        self._rows, self._run, self._told = rows, run, told
        self._parallel = max(1, parallel)
        self._max_cost = max_cost
        self.results: dict[int, RowResult] = dict(done or {})
        self._stopped = False
        self._running = 0

    @property
    def cost(self) -> float:
        """What all rows have cost so far, those of earlier batches included."""
        return sum(r.cost for r in self.results.values())

    @property
    def capped(self) -> bool:
        """Whether so much was spent that no further run begins."""
        return self._max_cost is not None and self.cost >= self._max_cost

    def _would_be_over(self) -> bool:
        """Whether the cap is reached when what runs now has cost what a row costs on average."""
        known = [result.cost for result in self.results.values() if result.state == "completed"]
        on_its_way = self._running * sum(known) / len(known) if known else 0.0
        return self._max_cost is not None and self.cost + on_its_way >= self._max_cost

    def stop(self) -> None:
        """Begins no further run; what runs is finished. To end that too, cancel :meth:`run`."""
        self._stopped = True

    async def run(self) -> list[RowResult]:
        """All results, failures first, else in the order of the table. Rows that were not run say so."""
        waiting = iter([row for row in self._rows if row.number not in self.results])

        async def work() -> None:
            while not self._stopped and not self._would_be_over():
                row = next(waiting, None)
                if row is None:
                    return
                self._running += 1
                result = await self._one(row)
                self._running -= 1
                self.results[row.number] = result
                self._told(result)

        workers = [asyncio.create_task(work(), name=f"batch {n}") for n in range(self._parallel)]
        try:
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return self.ordered()

    async def _one(self, row: Row) -> RowResult:
        began = time.perf_counter()
        outcome = await self._run(row)
        results = outcome.results
        return RowResult(
            row.number,
            row.input,
            "failed" if outcome.failure else "completed",
            None if outcome.failure or not results else results[-1] if len(results) == 1 else results,
            outcome.failure,
            outcome.tokens,
            outcome.cost,
            time.perf_counter() - began,
            row.name,
        )

    def ordered(self) -> list[RowResult]:
        """The grid: failures first."""
        rows = [self.results.get(r.number) or RowResult(r.number, r.input, "not run", name=r.name) for r in self._rows]
        order = {"failed": 0, "not run": 1, "completed": 2}
        return sorted(rows, key=lambda r: (order[r.state], r.number))
