"""All branches and checkpoints of a workflow, as the timeline shows them."""

from __future__ import annotations

import time
from dataclasses import replace

from studio.agents.messages import Usage
from studio.bridge.run_views import BranchView, CheckpointView
from studio.checkpoints import CheckpointInfo, Mark, RunRecord, RunStore
from studio.debugger.branches import MAIN, Stretch, ancestry, fork_name, next_number, shown_state
from studio.debugger.states import INTERRUPTED, RunState
from studio.engine.events import CheckpointSaved


class BranchTree:
    """Loaded once from the store, then kept up to date by the sessions of this program."""

    def __init__(self) -> None:
        self.branches: list[BranchView] = []
        self.checkpoints: list[CheckpointView] = []
        self._records: dict[str, RunRecord] = {}
        self._infos: dict[str, CheckpointInfo] = {}
        self._marks: dict[str, Mark] = {}
        self._own: set[str] = set()

    async def find_waiting(self, store: RunStore) -> None:
        """A branch that had only questions left when its program was killed waits for answers; it lost nothing."""
        for view in self.branches:
            point = self.last_checkpoint(view.branch) if view.state == INTERRUPTED else None
            if point is not None and self._infos[point].run == view.branch:
                checkpoint = await store.load(point)
                if checkpoint.requests and not checkpoint.messages:
                    view.state = RunState.WAITING.value

    async def load(self, store: RunStore) -> None:
        """Reads everything there is."""
        for record in await store.runs():
            self._records.setdefault(record.id, record)
        for info in await store.infos():
            self._infos.setdefault(info.id, info)
        self._marks.update(await store.marks())
        self.branches[:] = [self._branch(r) for r in self._records.values()]
        self.checkpoints[:] = [self._checkpoint(i) for i in self._infos.values()]

    def clear(self) -> None:
        """Forgets everything: another workflow is shown."""
        self.branches.clear()
        self.checkpoints.clear()
        self._records.clear()
        self._infos.clear()
        self._marks.clear()

    def new_run(self, id: str, text: str) -> RunRecord:
        """The record of a run from an input."""
        return RunRecord(id, next_number(self._records.values()), MAIN, input=text)

    def new_fork(self, id: str, checkpoint: str, note: str) -> RunRecord:
        """The record of a branch from a checkpoint."""
        origin = self.record_of(checkpoint)
        number = origin.number if origin is not None else next_number(self._records.values())
        name = fork_name(r.name for r in self._records.values() if r.number == number)
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
                view.name, view.note, view.pinned = mark.name, mark.note, mark.pinned

    def rename(self, branch: str, name: str) -> RunRecord:
        """Another name of a branch; gives its record."""
        record = self._records[branch] = replace(self._records[branch], name=name)
        for view in self.branches:
            if view.branch == branch:
                view.name = name
        return record

    def own_checkpoints(self, branch: str) -> list[CheckpointView]:
        """What was saved in a branch."""
        return [view for view in self.checkpoints if view.branch == branch]

    def remove(self, branch: str) -> None:
        """The branch and what was saved in it are gone."""
        for view in self.own_checkpoints(branch):
            self._infos.pop(view.checkpoint, None)
            self._marks.pop(view.checkpoint, None)
        self._records.pop(branch, None)
        self.branches[:] = [b for b in self.branches if b.branch != branch]
        self.checkpoints[:] = [c for c in self.checkpoints if c.branch != branch]

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
            record.id, record.number, record.name, state, record.started, record.note, seconds, None, record.input
        )

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
        )
