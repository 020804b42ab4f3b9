"""Recordings taken from the logs of runs that are kept."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass

from studio.checkpoints import Codec, RunStore
from studio.debugger.branches import Stretch, replay
from studio.debugger.event_codec import EventDecoder
from studio.debugger.recording import Recorder, Recording
from studio.document.fingerprint import node_fingerprints
from studio.document.lines import pairs
from studio.document.model import Workflow
from studio.engine import events as ev

_BATCH = 100
"""Events decoded in one piece of work."""


def changed_nodes(old: Workflow | None, new: Workflow) -> frozenset[str]:
    """Nodes of both drawings that do something else now; none if the old drawing is not known."""
    if old is None or old is new:
        return frozenset()
    before, now = node_fingerprints(old), node_fingerprints(new)
    return frozenset(node for node in before.keys() & now.keys() if before[node] != now[node])


def before_node(workflow: Workflow, node: str) -> frozenset[str]:
    """All nodes from which something may come to this one, without itself."""
    sources: dict[str, set[str]] = {}
    for source, target, _line in pairs(workflow):
        sources.setdefault(target, set()).add(source)
    found: set[str] = set()
    waiting = [node]
    while waiting:
        new = sources.get(waiting.pop(), set()) - found
        found |= new
        waiting += new
    return frozenset(found - {node})


async def recorded_after(store: RunStore, codec: Codec, run: str, checkpoint: str | None) -> Recording:
    """What a branch did after one of its checkpoints; after its beginning, if it did not save that one itself."""
    decoder, recorder = EventDecoder(codec), Recorder()
    for at, encoded in enumerate(await store.load_events(run)):
        event = decoder.decode(encoded)
        if isinstance(event, ev.CheckpointSaved) and event.checkpoint == checkpoint:
            recorder = Recorder()
        elif event is not None:
            if isinstance(event, ev.RunStarted) and event.kind == "checkpoint":
                recorder = Recorder()  # it was resumed: what it did after that checkpoint before never counted
            recorder.fold(event)
        if at % _BATCH == _BATCH - 1:
            await asyncio.sleep(0)
    return recorder.recording


async def recorded_way(store: RunStore, codec: Codec, way: Iterable[Stretch]) -> Recording:
    """What happened on the way to a moment, from the first input on."""
    recorder = Recorder()
    await replay(way, store, codec, recorder.fold)
    return recorder.recording


@dataclass(frozen=True, slots=True)
class Visit:
    """The last time a node ran on a way: the checkpoint before that superstep, and what else happened in it."""

    checkpoint: str
    superstep: int
    recording: Recording


async def last_visit(store: RunStore, codec: Codec, way: Iterable[Stretch], node: str) -> Visit | None:
    """None if the node never ran there, or no checkpoint was saved before."""
    search = _Search(node)
    await replay(way, store, codec, search.fold)
    return search.found


class _Search:
    def __init__(self, node: str) -> None:
        self._node = node
        self._checkpoint: str | None = None
        self._before: str | None = None
        self._superstep = 0
        self._recorder = Recorder()
        self.found: Visit | None = None

    def fold(self, event: ev.Event) -> None:
        match event:
            case ev.CheckpointSaved():
                self._checkpoint = event.checkpoint
            case ev.RunStarted(kind="checkpoint", data=str() as resumed):
                self._checkpoint = resumed
            case ev.SuperstepStarted(inside=()):
                self._before, self._superstep, self._recorder = self._checkpoint, event.superstep, Recorder()
            case ev.NodeStarted(inside=()) if event.node == self._node and self._before is not None:
                self.found = Visit(self._before, self._superstep, self._recorder.recording)
        self._recorder.fold(event)
