"""The log of a superstep is in the store before its checkpoint."""

from __future__ import annotations

from typing import Any

from studio.checkpoints import Checkpoint, RunRecord
from studio.debugger.event_log import EventLog, LoggedFirst
from studio.debugger.memory_run_store import MemoryRunStore
from studio.engine import Codec
from studio.engine.events import SuperstepStarted


class Watched(MemoryRunStore):
    """Tells in which order things were kept."""

    def __init__(self, codec: Codec) -> None:
        super().__init__(codec)
        self.order: list[str] = []

    async def append_events(self, run: str, events: Any) -> None:
        self.order.append("events")
        await super().append_events(run, events)

    async def save(self, checkpoint: Checkpoint) -> int:
        self.order.append("checkpoint")
        return await super().save(checkpoint)


async def test_events_are_kept_before_the_checkpoint() -> None:
    store = Watched(Codec())
    await store.start_run(RunRecord("r", 1, "main"))
    log = EventLog(store, "r", Codec(), lambda _problem: None)
    log.append(SuperstepStarted(0.0, 1))
    await LoggedFirst(store, log).save(Checkpoint("c1", run="r"))
    assert store.order == ["events", "checkpoint"]
    assert len(await store.load_events("r")) == 1
