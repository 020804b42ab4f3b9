"""The chart of invocations with a long run: ``python -m tests.benchmarks.invocations_child EVENTS INVOCATIONS``."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from studio.bridge.document_model import DocumentModel
from studio.bridge.loop import run
from studio.bridge.run_model import RunModel
from studio.bridge.run_services import RunServices
from studio.bridge.window_store import WindowStore
from studio.bridge.workspace import Workspace
from studio.checkpoints import Checkpoint, RunRecord, RunStore, SqliteStore
from studio.debugger.event_codec import EventEncoder
from studio.debugger.session import Runnable
from studio.document.model import AgentNode, SubWorkflowNode, Workflow
from studio.engine import Codec
from studio.engine import events as ev
from studio.ui.invocations import InvocationsPanel
from studio.ui.theme import Theme, fonts

from tests.benchmarks.children import answer
from tests.benchmarks.figures import percentile
from tests.benchmarks.timeline_child import Held, _until

CODEC = Codec()
INNER = 6
"""Nodes inside each sub-workflow."""
GROUPS = 30
"""Sub-workflows; a superstep runs one of them, with all that is inside."""
WORKERS = tuple(f"n{at}" for at in range(INNER))


def drawing() -> Workflow:
    """Sub-workflow nodes; what is inside of them does not matter here."""
    inner = Workflow(start="n0", nodes=tuple(AgentNode(id=node, name=node.title()) for node in WORKERS))
    groups = tuple(SubWorkflowNode(id=f"g{at}", name=f"Group {at}", embedded=inner) for at in range(GROUPS))
    return Workflow(id="bench", name="Bench", start="g0", nodes=groups)


def happened(events: int, invocations: int) -> list[ev.Event]:
    """A run of that size; one invocation in 97 failed. What is missing to the number of events are tokens."""
    made: list[ev.Event] = [ev.RunStarted(0.0, "input", "go")]
    steps = invocations // (INNER + 1)
    spare = max(0, events - 1 - steps * (3 + 2 * (INNER + 1)))
    for step in range(1, steps + 1):
        t, group = step * 0.5, f"g{step % GROUPS}"
        made += [ev.SuperstepStarted(t, step), ev.NodeStarted(t, step, group, f"{step}", (), "in")]
        for at, node in enumerate(WORKERS):
            key, began, inside = f"{step}.{at}", t + at * 0.01, (group,)
            made.append(ev.NodeStarted(began, 1, node, key, (), "in", inside))
            tokens = min(2, spare)
            made += [ev.TokensArrived(began, node, key, "word ", inside=inside)] * tokens
            spare -= tokens
            bad = (step * INNER + at) % 97 == 0
            made.append(
                ev.NodeFailed(began + 0.3, 1, node, key, "ValueError", "no number", inside)
                if bad
                else ev.NodeFinished(began + 0.3, 1, node, key, ("out",), inside)
            )
        made.append(ev.NodeFinished(t + 0.4, step, group, f"{step}", ("out",)))
        made += [ev.CheckpointSaved(t + 0.4, f"c{step}", None, "superstep", step), ev.SuperstepFinished(t + 0.4, step)]
    return made


async def fill(path: Path, events: int, invocations: int) -> int:
    """Saves that run with its last checkpoint; gives how many events it has."""
    store, encoder = SqliteStore(path, CODEC), EventEncoder(CODEC)
    log = happened(events, invocations)
    last = next(event.checkpoint for event in reversed(log) if isinstance(event, ev.CheckpointSaved))
    await store.start_run(RunRecord("b", 1, "main", None, "go", "completed"))
    await store.save(Checkpoint(last, None, "b", "bench", "sig", "superstep", invocations, 1.0, (), (), {}))
    await store.append_events("b", [encoder.encode(event) for event in log])
    await store.close()
    return len(log)


async def _never(_workflow: Workflow) -> Runnable:
    raise AssertionError


class _Bench:
    def __init__(self, path: Path, bars: int, theme: Theme) -> None:
        self._path, self._bars, self._theme = path, bars, theme
        self.steps: dict[str, float] = {}

    async def measure(self) -> None:
        held = Held()
        model, panel = await self._open(held)
        self.steps["open_held"] = held.own * 1000
        await self._close(model, panel)
        began, spent = time.perf_counter(), time.process_time()
        model, panel = await self._open(None)
        panel.chart.viewport().repaint()
        self.steps["open"] = (time.perf_counter() - began) * 1000
        self.steps["open_cpu"] = (time.process_time() - spent) * 1000
        self._gestures(panel)
        await self._close(model, panel)

    async def _open(self, held: Held | None) -> tuple[RunModel, InvocationsPanel]:
        document = drawing()

        async def open_store() -> RunStore:
            return WindowStore(self._path, CODEC)

        model = RunModel(RunServices(lambda: document, open_store, _never, CODEC))
        panel = InvocationsPanel(self._theme)
        panel.resize(1100, 300)
        panel.show()
        panel.set_workspace(Workspace(DocumentModel(document, None), model))
        with held or nullcontext():
            await _until(lambda: bool(model.branches))
            model.show_branch("b")
            await _until(lambda: sum(len(row.bars) for row in panel.chart.plan.rows) >= self._bars)
        return model, panel

    async def _close(self, model: RunModel, panel: InvocationsPanel) -> None:
        await model.close()
        panel.set_workspace(None)
        panel.close()

    def _gestures(self, panel: InvocationsPanel) -> None:
        """What a person does, each with the picture that follows."""
        chart = panel.chart
        down, along = chart.verticalScrollBar(), chart.horizontalScrollBar()
        self._times("paint", [chart.viewport().update] * 10, panel)
        self._times("rows", [lambda at=at: down.setValue(down.maximum() * at // 60) for at in range(60)], panel)
        self._times("zoom", [lambda: chart.zoom(1.25)] * 30, panel)
        self._times("along", [lambda at=at: along.setValue(along.maximum() * at // 60) for at in range(60)], panel)
        self._times("next_error", [lambda: chart.next_error(1)] * 40, panel)
        keys = [Qt.Key.Key_Right, Qt.Key.Key_Down] * 20
        self._times("keys", [lambda key=key: chart.keyPressEvent(_press(key)) for key in keys], panel)
        chart.fit()
        self._times("follow", [panel.refresh] * 10, panel)

    def _times(self, name: str, does: list[Callable[[], object]], panel: InvocationsPanel) -> None:
        took = []
        for one in does:
            began = time.thread_time()
            one()
            panel.chart.viewport().repaint()
            took.append((time.thread_time() - began) * 1000)
        self.steps[name] = percentile(took, 1.0)


def _press(key: Qt.Key) -> QKeyEvent:
    return QKeyEvent(QEvent.Type.KeyPress, key, Qt.KeyboardModifier.NoModifier)


def _main() -> None:
    app = QApplication(sys.argv[:1])
    fonts.register()
    fonts.load()
    path = Path("invocations.db")
    events, invocations = int(sys.argv[1]), int(sys.argv[2])
    count = asyncio.run(fill(path, events, invocations))
    bench = _Bench(path, invocations // (INNER + 1) * (INNER + 1), Theme("dark"))
    run(app, bench.measure)
    answer({"steps": bench.steps, "events": count})


if __name__ == "__main__":
    _main()
