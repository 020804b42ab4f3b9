"""All branches and checkpoints of a workflow, as the timeline shows them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from studio.agents.messages import Usage
from studio.bridge.run_views import BranchView, CheckpointView
from studio.checkpoints import CheckpointInfo, Mark, RunRecord, RunStore
from studio.debugger.branches import MAIN, Stretch, ancestry, fork_name, next_number, shown_state
from studio.debugger.states import INTERRUPTED, RunState
from studio.engine.events import CheckpointSaved

if TYPE_CHECKING:
    from studio.checkpoints.upkeep import Discarded


_PIECE = 500
"""Views that are made in one piece of work: about a millisecond."""


class BranchTree:
    """Loaded once from the store, then kept up to date by the sessions of this program."""

    def __init__(self) -> None:
        self.branches: list[BranchView] = []
        self.checkpoints: list[CheckpointView] = []
        self._records: dict[str, RunRecord] = {}
        self._infos: dict[str, CheckpointInfo] = {}
        self._marks: dict[str, Mark] = {}
        self._own: set[str] = set()
        self._elsewhere: Mapping[str, str] = {}
        self.discarded: Sequence[Discarded] = ()
        """What was taken away and can be put back, oldest first."""
        self._hidden: list[RunRecord] = []
        self.read: Callable[[], object] = lambda: None
        """Called when the store was read: what was typed meanwhile is newer."""
        self.usage_of: Callable[[str], Usage | None] = lambda _text: None
        """What a record says of its model calls."""
        self._made: dict[str, CheckpointView] = {}
        """Views that the next look will show."""

    async def find_waiting(self, store: RunStore) -> None:
        """A branch that had only questions left when its program was killed waits for answers; it lost nothing."""
        for view in self.branches:
            point = self.last_checkpoint(view.branch) if view.state == INTERRUPTED else None
            if point is not None and self._infos[point].run == view.branch:
                checkpoint = await store.load(point)
                if checkpoint.requests and not checkpoint.messages:
                    view.state = RunState.WAITING.value

    async def load(self, store: RunStore) -> bool:
        """Reads what there is; what is shown already stays the same object. Gives whether anything is different."""
        known = set(self._infos)
        records = {r.id: r for r in await store.runs()}
        infos = {i.id: i for i in await store.infos()}
        marks, elsewhere = await store.marks(), await store.owners()
        hidden = await store.discarded()
        await self._make_views(infos.values())
        hidden_runs = {run for batch in hidden for run in batch.runs}
        gone = {c for batch in hidden for c in batch.checkpoints}
        gone |= {i.id for i in infos.values() if i.run in hidden_runs}
        gone |= known - set(infos)  # what was saved while this was read is not known from before
        before = self._facts()
        self._hidden = [r for r in records.values() if r.id in hidden_runs]
        self._elsewhere, self.discarded = elsewhere, hidden
        for id in [r for r in self._records if r in hidden_runs or (r not in self._own and r not in records)]:
            del self._records[id]
        for id in gone:
            self._infos.pop(id, None)
        ours = self._own & set(self._records)
        self._records.update({r.id: r for r in records.values() if r.id not in hidden_runs and r.id not in ours})
        self._infos = {**{i: self._infos.get(i, info) for i, info in infos.items() if i not in gone}, **self._infos}
        self._records = {**{r: self._records[r] for r in records if r in self._records}, **self._records}
        touched, self._marks = self._marks.keys() | marks.keys(), marks
        self._show(touched)
        self.read()
        return before != self._facts()

    def _facts(self) -> tuple[object, ...]:
        branches = tuple((b.branch, b.name, b.state, b.elsewhere) for b in self.branches)
        return branches, tuple(self._infos), dict(self._marks), len(self.discarded)

    async def _make_views(self, infos: Iterable[CheckpointInfo]) -> None:
        """Makes the views of checkpoints that are new, in pieces: thousands are read when a file is opened."""
        shown = {c.checkpoint for c in self.checkpoints}
        for at, info in enumerate([i for i in infos if i.id not in shown]):
            self._made[info.id] = self._checkpoint(info)
            if at % _PIECE == _PIECE - 1:
                await asyncio.sleep(0)

    def _show(self, touched: Collection[str]) -> None:
        """Makes the views of what is known. ``touched``: the checkpoints whose marks may be others now."""
        branches = {b.branch: b for b in self.branches}
        checkpoints = {**self._made, **{c.checkpoint: c for c in self.checkpoints}}
        self._made.clear()
        shown = [branches.get(r.id) or self._branch(r) for r in self._records.values()]
        for view in shown:
            record = self._records[view.branch]
            view.elsewhere = self._elsewhere.get(record.id, "")
            if record.id not in self._own:
                view.name, view.state = record.name, shown_state(record, self._own | self._elsewhere.keys())
                view.usage = self.usage_of(record.usage)
        self.branches[:] = shown
        self.checkpoints[:] = [checkpoints.get(i.id) or self._checkpoint(i) for i in self._infos.values()]
        for id in touched:
            point = checkpoints.get(id)
            if point is not None:
                mark = self.mark(id)
                point.name, point.note, point.pinned, point.tags = mark.name, mark.note, mark.pinned, mark.tags

    def clear(self) -> None:
        """Forgets everything: another workflow is shown."""
        self.branches.clear()
        self.checkpoints.clear()
        self._records.clear()
        self._infos.clear()
        self._marks.clear()
        self.discarded = ()

    def new_run(self, id: str, text: str) -> RunRecord:
        """The record of a run from an input."""
        return RunRecord(id, next_number(self._taken()), MAIN, input=text)

    def _taken(self) -> list[RunRecord]:
        """What numbers and names are taken by; what was taken away may come back."""
        return [*self._hidden, *self._records.values()]

    def new_fork(self, id: str, checkpoint: str, note: str) -> RunRecord:
        """The record of a branch from a checkpoint."""
        origin = self.record_of(checkpoint)
        number = origin.number if origin is not None else next_number(self._taken())
        name = fork_name(r.name for r in self._taken() if r.number == number)
        text = origin.input if origin is not None else ""
        return RunRecord(id, number, name, parent_checkpoint=checkpoint, input=text, note=note)

    def begin(self, record: RunRecord) -> None:
        """A session of ours runs this branch."""
        self._own.add(record.id)
        self._records[record.id] = record
        self.branches.append(self._branch(record))

    def update(self, record: RunRecord, state: str, seconds: float, usage: Usage | None) -> None:
        """How the branch stands now."""
        if record.id in self._records:
            self._records[record.id] = replace(record, state=state)
            view = self.branch(record.id)
            if view is not None:
                view.state, view.started, view.seconds = state, record.started, seconds
                view.number, view.name = record.number, record.name
                view.usage = usage

    def saved(self, event: CheckpointSaved, record: RunRecord, signature: str) -> None:
        """A session of ours saved a checkpoint."""
        e, created = event, time.time()
        info = CheckpointInfo(e.checkpoint, e.parent, record.id, "", signature, e.kind, e.superstep, created, e.bytes)
        if e.checkpoint not in self._infos:
            self._infos[e.checkpoint] = info
            self.checkpoints.append(self._checkpoint(info))

    def mark(self, checkpoint: str) -> Mark:
        """What a person wrote on a checkpoint."""
        info = self._infos.get(checkpoint)
        return self._marks.get(checkpoint) or Mark(info.name if info is not None else "")

    def set_mark(self, checkpoint: str, mark: Mark) -> None:
        """Another name, note or pin."""
        self._marks[checkpoint] = mark
        for view in self.checkpoints:
            if view.checkpoint == checkpoint:
                view.name, view.note, view.pinned, view.tags = mark.name, mark.note, mark.pinned, mark.tags

    def rename(self, branch: str, name: str) -> None:
        """Another name of a branch that is still there."""
        if branch in self._records:
            self._records[branch] = replace(self._records[branch], name=name)
        for view in self.branches:
            if view.branch == branch:
                view.name = name

    def busy_elsewhere(self) -> bool:
        """Whether another program works on a branch of this workflow."""
        return bool(self._elsewhere)

    def infos(self) -> list[CheckpointInfo]:
        """All checkpoints that are shown, in the order they were saved."""
        return list(self._infos.values())

    def fork_points(self) -> set[str]:
        """The checkpoints that branches begin at."""
        return {r.parent_checkpoint for r in self._records.values() if r.parent_checkpoint is not None}

    def emptied(self, gone: Collection[str], keep: Collection[str]) -> tuple[str, ...]:
        """The branches that lose their last checkpoint; not those whose log the way of another branch leads through."""
        had = {i.run for i in self._infos.values()}
        away = frozenset(gone)
        have = {i.run for i in self._infos.values() if i.id not in away} | set(keep)
        empty = {run for run in had - have if run in self._records}
        while True:
            left = [r for r in self._records.values() if r.id not in empty]
            needed = {self._infos[r.parent_checkpoint].run for r in left if r.parent_checkpoint in self._infos}
            if not needed & empty:
                return tuple(sorted(empty))
            empty -= needed

    def own_checkpoints(self, branch: str) -> list[CheckpointView]:
        """What was saved in a branch."""
        return [view for view in self.checkpoints if view.branch == branch]

    def branch(self, id: str) -> BranchView | None:
        """The view of a branch."""
        return next((b for b in self.branches if b.branch == id), None)

    def record(self, id: str) -> RunRecord | None:
        """The record of a branch."""
        return self._records.get(id)

    def record_of(self, checkpoint: str) -> RunRecord | None:
        """The record of the branch a checkpoint was saved in."""
        info = self._infos.get(checkpoint)
        return self._records.get(info.run) if info is not None else None

    def last_checkpoint(self, branch: str) -> str | None:
        """The newest checkpoint on the way of a branch: its own, or the one it was forked from."""
        own = [i.id for i in self._infos.values() if i.run == branch]
        record = self._records.get(branch)
        return own[-1] if own else record.parent_checkpoint if record is not None else None

    def way_to(self, branch: str, checkpoint: str | None) -> list[Stretch]:
        """The logs that lead to a checkpoint of a branch, None: to the end of the branch."""
        return ancestry(branch, checkpoint, self._records, self._infos)

    def mark_unfit(self, signature: str) -> bool:
        """Says at each checkpoint whether the graph ``signature`` can go on from it; whether something changed."""
        changed = False
        for view in self.checkpoints:
            kept = self._infos[view.checkpoint].signature
            unfit = bool(signature and kept) and kept != signature
            problem = "The graph has changed since. Map its nodes to go on from here." if unfit else ""
            changed |= problem != view.problem
            view.problem = problem
        return changed

    def _branch(self, record: RunRecord) -> BranchView:
        seconds = (record.ended - record.started) if record.ended is not None and record.started else 0.0
        state = shown_state(record, self._own)
        return BranchView(
            record.id, record.number, record.name, state, record.started, record.note, seconds,
            self.usage_of(record.usage), record.input, began=record.parent_checkpoint,
        )  # fmt: skip

    def _checkpoint(self, info: CheckpointInfo) -> CheckpointView:
        mark = self.mark(info.id)
        return CheckpointView(
            info.id,
            info.parent,
            info.run,
            info.kind,
            info.superstep,
            info.created,
            info.bytes,
            mark.name,
            note=mark.note,
            pinned=mark.pinned,
            tags=mark.tags,
        )
