"""Measures the timeline: ``python -m tests.benchmarks.timeline_child CHECKPOINTS BRANCHES``."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.bridge.window_store import WindowStore
from studio.bridge.workspace import Workspace
from studio.checkpoints import Checkpoint, QueuedMessage, RetentionRules, RunRecord, RunStore, SqliteStore
from studio.debugger.event_codec import EventEncoder
from studio.debugger.session import Runnable
from studio.document.model import AgentNode, Workflow
from studio.engine import Codec
from studio.engine import events as ev
from studio.ui.theme import Theme, fonts
from studio.ui.timeline import TimelinePanel

from tests.benchmarks.children import answer
from tests.benchmarks.figures import percentile

CODEC = Codec()
DRAWING = Workflow(id="bench", name="Bench", start="a", nodes=(AgentNode(id="a", name="A", instructions="Go."),))


async def fill(path: Path, checkpoints: int, branches: int) -> None:
    """A main branch, and forks at every other of its checkpoints; a turn of a conversation in each."""
    store = SqliteStore(path, CODEC)
    own = checkpoints // branches
    main: list[str] = []
    for number in range(branches):
        key = f"b{number}"
        start = main[(number * 2) % len(main)] if main else None
        await store.start_run(RunRecord(key, 1, "main" if not number else f"Fork {number}", start, "go", "completed"))
        parent, encoder, log = start, EventEncoder(CODEC), []
        for n in range(own):
            id = f"{key}.{n}"
            text = f"turn {number} {n} " * 20
            message = QueuedMessage(f"m{n}", "a", None, text)
            state = {"draft": text, "turn": n}
            await store.save(
                Checkpoint(id, parent, key, "bench", "sig", "superstep", n, 1.0 + n, (message,), (), state)
            )
            events = (
                ev.SuperstepStarted(float(n), n + 1), ev.NodeStarted(float(n), n + 1, "a", f"i{n}", (), text),
                ev.MessageQueued(float(n), n + 1, f"m{n}", "a", None, text, f"i{n}"),
                ev.NodeFinished(n + 0.5, n + 1, "a", f"i{n}", (text,)),
                ev.CheckpointSaved(n + 0.6, id, parent, "superstep", n), ev.SuperstepFinished(n + 0.7, n + 1, id),
            )  # fmt: skip
            log += [encoder.encode(event) for event in events]
            parent = id
            if not number:
                main.append(id)
        await store.append_events(key, log)
    await store.close()


async def _until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while not done():  # noqa: ASYNC110
            await asyncio.sleep(0.001)


async def _never(_workflow: Workflow) -> Runnable:
    raise AssertionError


class Held:
    """The longest stretch of work on the loop in one piece while it is entered, in seconds of its own thread."""

    def __init__(self) -> None:
        self.own = 0.0
        self._heart: asyncio.Task[None] | None = None

    def __enter__(self) -> None:
        self._heart = asyncio.create_task(self._beat())

    def __exit__(self, *_error: object) -> None:
        assert self._heart is not None
        self._heart.cancel()

    async def _beat(self) -> None:
        before = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            self.own, before = max(self.own, now - before), now


class _Bench:
    def __init__(self, path: Path, theme: Theme) -> None:
        self._path, self._theme = path, theme
        self.steps: dict[str, float] = {}
        self.floor: dict[str, float] = {}

    def _note(self, name: str, started: float) -> None:
        self.steps[name] = (time.perf_counter() - started) * 1000

    async def measure(self) -> None:
        held = Held()
        model, panel = await self._open(held)
        self.steps["open_held"] = held.own * 1000
        await self._close(model, panel)
        started, spent = time.perf_counter(), time.process_time()
        model, panel = await self._open(None)
        panel.view.viewport().repaint()
        self._note("open", started)
        self.steps["open_cpu"] = (time.process_time() - spent) * 1000
        self._read_with_sql()
        self._scroll(panel)
        await self._work(model, panel)
        await self._close(model, panel)

    async def _open(self, held: Held | None) -> tuple[RunModel, TimelinePanel]:
        """A model and a panel that shows all of it."""

        async def open_store() -> RunStore:
            return WindowStore(self._path, CODEC)

        services = RunServices(lambda: DRAWING, open_store, _never, CODEC)
        model = RunModel(services)
        panel = TimelinePanel(self._theme)
        panel.resize(1400, 372)
        panel.show()
        panel.set_workspace(Workspace(DocumentModel(DRAWING, None), model))
        with held or nullcontext():
            await _until(lambda: bool(panel.view.plan.spots))
        return model, panel

    async def _close(self, model: RunModel, panel: TimelinePanel) -> None:
        await model.close()
        panel.set_workspace(None)
        panel.close()

    def _read_with_sql(self) -> None:
        started = time.perf_counter()
        connection = sqlite3.connect(self._path)
        connection.execute(
            "SELECT e.id, e.parent, e.head, c.rest FROM checkpoint c JOIN entry e ON e.id=c.entry"
        ).fetchall()
        connection.execute("SELECT * FROM run").fetchall()
        connection.close()
        self.floor["open"] = (time.perf_counter() - started) * 1000

    def _scroll(self, panel: TimelinePanel) -> None:
        frames, own = [], []
        bar = panel.view.verticalScrollBar()
        for step in range(120):
            started, spent = time.perf_counter(), time.thread_time()
            bar.setValue(bar.maximum() * step // 120)
            panel.view.viewport().repaint()
            frames.append((time.perf_counter() - started) * 1000)
            own.append((time.thread_time() - spent) * 1000)
        self.steps["scroll_p95"] = percentile(frames, 0.95)
        self.steps["scroll_own_p95"] = percentile(own, 0.95)

    async def _work(self, model: RunModel, panel: TimelinePanel) -> None:
        found: list[Any] = []
        model.found.connect(lambda _query, ids, _problem: found.append(ids))
        started = time.perf_counter()
        model.search('text:"turn 3 7"')
        await _until(lambda: bool(found) and len(found[-1]) > 0)
        self._note("search_first", started)
        started, found[:] = time.perf_counter(), []
        model.search("node:a draft")
        await _until(lambda: bool(found))
        self._note("search_again", started)
        seen: list[Any] = []
        model.previewed.connect(seen.append)
        started = time.perf_counter()
        model.preview(RetentionRules(last=5))
        await _until(lambda: bool(seen))
        self._note("preview", started)
        compared: list[Any] = []
        model.compared.connect(lambda _a, _b, result: compared.append(result))
        started = time.perf_counter()
        model.compare("b0", "b9")
        await _until(lambda: bool(compared))
        self._note("compare", started)
        started = time.perf_counter()
        model.details("b5.3")
        await _until(lambda: model.details("b5.3") is not None)
        self._note("details", started)
        started = time.perf_counter()
        model.prune(RetentionRules(last=5))
        await _until(lambda: bool(model.discarded))
        self._note("prune", started)
        done: list[Any] = []
        model.compacted.connect(done.append)
        started = time.perf_counter()
        model.compact()
        await _until(lambda: bool(done))
        self._note("compact", started)


def _main() -> None:
    app = QApplication(sys.argv[:1])
    fonts.register()
    fonts.load()
    path = Path("timeline.db")
    asyncio.run(fill(path, int(sys.argv[1]), int(sys.argv[2])))
    size = path.stat().st_size
    bench = _Bench(path, Theme("dark"))
    run(app, bench.measure)
    answer({"steps": bench.steps, "floor": bench.floor, "bytes": size, "bytes_after": path.stat().st_size})


if __name__ == "__main__":
    _main()
