"""A batch as the window sees it: a table of inputs, the rows that are done, and one signal per change."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.bridge.owned_tasks import OwnedTasks
from studio.bridge.run_services import RunServices
from studio.debugger.assertions import Outcome
from studio.debugger.batch import Batch, Row, RowResult, TableProblem, done_before, read_table
from studio.debugger.playing import play

RESULTS = ".results.jsonl"


class BatchModel(QObject):
    """Results are kept beside the table, line by line: a batch that was stopped goes on with what is missing."""

    changed = Signal()
    """Rows, results, or whether it runs."""

    def __init__(self, services: RunServices, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._services = services
        self._tasks = OwnedTasks(self._fail)
        self._batch: Batch | None = None
        self._task: asyncio.Task[list[RowResult]] | None = None
        self.path: Path | None = None
        self.rows: list[Row] = []
        self.problem = ""
        """Why the table cannot be read or the results not be written; a sentence."""
        self.running = False

    @property
    def results(self) -> list[RowResult]:
        """All rows: failures first, then those that were not run, then the others."""
        return self._batch.ordered() if self._batch is not None else []

    @property
    def cost(self) -> float:
        """What all rows have cost so far."""
        return self._batch.cost if self._batch is not None else 0.0

    @property
    def capped(self) -> bool:
        """Whether the cap on cost stopped it."""
        return self._batch is not None and self._batch.capped

    @property
    def keeps_results(self) -> bool:
        """Whether results may be written: a workflow that keeps no message on disk has them in the window alone."""
        return self._services.document().runs_on_disk

    @property
    def output(self) -> Path | None:
        """Where the results are kept."""
        return self.path.with_suffix(RESULTS) if self.path is not None else None

    def open(self, path: Path) -> None:
        """Reads a table and what an earlier batch has done of it."""
        if not self.running:
            self._tasks.turn(lambda: self._open(path))

    async def _open(self, path: Path) -> None:
        self.path, self.problem, self.rows, self._batch = path, "", [], None
        try:
            self.rows = await asyncio.to_thread(read_table, path)
            workflow = self._services.document().id
            done = await asyncio.to_thread(done_before, path.with_suffix(RESULTS), self.rows, workflow)
            self._batch = Batch(self.rows, self._run, self._told, done=done)
        except TableProblem as problem:
            self.problem = str(problem)
        except OSError as error:
            self.problem = f"{path.name} cannot be read: {error.strerror or error}."
        self.changed.emit()

    def start(self, *, parallel: int = 4, max_cost: float | None = None, again: bool = False) -> None:
        """Runs every row that is not completed; ``again``: all rows, and the results so far are gone."""
        if self.running or self._batch is None or (again and not self._forget()):
            return
        kept = {n: r for n, r in self._batch.results.items() if r.state == "completed" and not again}
        self._batch = Batch(self.rows, self._run, self._told, parallel=parallel, max_cost=max_cost, done=kept)
        self.running, self.problem = True, ""
        self._tasks.turn(self._drive)
        self.changed.emit()

    def _forget(self) -> bool:
        """Takes away what an earlier batch wrote; False if that is not possible."""
        try:
            if self.output is not None and self.keeps_results:
                self.output.unlink(missing_ok=True)
        except OSError as error:
            self._fail(f"The results cannot be written: {error.strerror or error}.")
            return False
        return True

    async def _drive(self) -> None:
        assert self._batch is not None
        self._task = asyncio.ensure_future(self._batch.run())
        try:
            await self._task
        except asyncio.CancelledError:
            if not self._task.cancelled():
                self._task.cancel()
                raise
        except OSError as error:
            self.problem = f"The results cannot be written: {error.strerror or error}."
        finally:
            self._task, self.running = None, False
            self.changed.emit()

    def stop(self) -> None:
        """Cancels the rows that run; those that are done stay done."""
        if self._task is not None:
            self._task.cancel()

    async def close(self) -> None:
        """Ends what runs."""
        self.stop()
        await self._tasks.close()

    async def _run(self, row: Row) -> Outcome:
        document = self._services.document()
        return await play(document, row.input, lambda: self._services.prepare(document), self._services.codec)

    def _told(self, result: RowResult) -> None:
        if self.output is not None and self.keeps_results:
            with self.output.open("a", encoding="utf-8") as file:
                file.write(json.dumps(result.to_json(self._services.document().id), ensure_ascii=False) + "\n")
        self.changed.emit()

    def _fail(self, sentence: str) -> None:
        self.problem = sentence
        self.changed.emit()
