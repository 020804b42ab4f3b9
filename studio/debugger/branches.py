"""The tree of branches: names, ancestry, and replaying a moment from the logs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from string import ascii_uppercase

from studio.checkpoints import CheckpointInfo, Codec, RunRecord, RunStore
from studio.debugger.event_codec import EventDecoder
from studio.debugger.states import ACTIVE, HALTED, INTERRUPTED
from studio.engine import events as ev

MAIN = "main"
_BATCH = 100
"""Events decoded in one piece of work."""


def fork_name(taken: Iterable[str]) -> str:
    """The next free of "Fork A" ... "Fork Z", "Fork AA" ..."""
    names = set(taken)
    number = 0
    while (name := f"Fork {_letters(number)}") in names:
        number += 1
    return name


def _letters(number: int) -> str:
    letters = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, len(ascii_uppercase))
        letters = ascii_uppercase[rest] + letters
    return letters


def next_number(records: Iterable[RunRecord]) -> int:
    """The number of the next run from an input."""
    return max((r.number for r in records), default=0) + 1


def shown_state(record: RunRecord, own: Iterable[str]) -> str:
    """The state of a branch; one that is at work in the store but in no session of ours was interrupted. One that was
    paused or waited for answers lost nothing, and still does so."""
    return INTERRUPTED if record.state in ACTIVE - HALTED and record.id not in own else record.state


@dataclass(frozen=True, slots=True)
class Stretch:
    """Part of the way to a moment: the log of a branch, up to and with a checkpoint (None: all of it)."""

    run: str
    until: str | None


def ancestry(
    run: str, until: str | None, records: Mapping[str, RunRecord], infos: Mapping[str, CheckpointInfo]
) -> list[Stretch]:
    """The stretches from the input of the first branch to a moment of branch ``run``."""
    way: list[Stretch] = []
    seen: set[str] = set()
    while run in records and run not in seen:
        seen.add(run)
        way.append(Stretch(run, until))
        parent = records[run].parent_checkpoint
        if parent is None or parent not in infos:
            break
        run, until = infos[parent].run, parent
    way.reverse()
    return way


async def replay(way: Iterable[Stretch], store: RunStore, codec: Codec, fold: Callable[[ev.Event], None]) -> float:
    """Gives every event on the way to ``fold``, oldest first. Returns the run's time at the end of it, in seconds."""
    clock = 0.0
    for stretch in way:
        for at, event in enumerate(await _events_of(stretch, store, codec)):
            fold(event)
            clock = max(clock, event.t)
            if at % _BATCH == _BATCH - 1:
                await asyncio.sleep(0)
    return clock


async def _events_of(stretch: Stretch, store: RunStore, codec: Codec) -> list[ev.Event]:
    """The events of a stretch. What a branch did after the checkpoint that it was resumed from never counted."""
    decoder = EventDecoder(codec)
    events: list[ev.Event] = []
    for at, encoded in enumerate(await store.load_events(stretch.run)):
        event = decoder.decode(encoded)
        if event is not None:
            if isinstance(event, ev.RunStarted) and event.kind == "checkpoint" and event.data is not None:
                events = _up_to(events, event.data)
            events.append(event)
        if at % _BATCH == _BATCH - 1:
            await asyncio.sleep(0)
    return _up_to(events, stretch.until) if stretch.until is not None else events


def _up_to(events: list[ev.Event], checkpoint: str) -> list[ev.Event]:
    """The events up to a checkpoint, with the end of the superstep that it was saved in; all if it is not there."""
    for at, event in enumerate(events):
        if isinstance(event, ev.CheckpointSaved) and event.checkpoint == checkpoint:
            end = at + 1
            while end < len(events) and _belongs_to(events[end], checkpoint):
                end += 1
            return events[:end]
    return events


def _belongs_to(event: ev.Event, checkpoint: str) -> bool:
    return isinstance(event, ev.SuperstepFinished) and event.checkpoint == checkpoint
