"""The run as the window sees it: commands in, views and one signal per frame out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from studio.bridge.commands import why_not
from studio.bridge.run_edits import RunEdits
from studio.bridge.run_views import BranchView
from studio.checkpoints import Mark, StoreError
from studio.debugger.answers import ValueProblem, answer_value
from studio.debugger.forks import QueueEdits
from studio.debugger.mapping import NodeMapping
from studio.debugger.session import RunSession
from studio.debugger.states import ENDED, INTERRUPTED, RunState
from studio.document.model import Workflow

_BEYOND = frozenset({RunState.FAILED, RunState.CANCELLED})
"""Ends that show what happened after the last checkpoint."""


class RunModel(RunEdits):
    """One per open workflow. Without services (a panel alone) it shows nothing and can do nothing."""

    # ------------------------------------------------------------------------------------------------- commands

    def can(self, command: str) -> tuple[bool, str]:
        """Whether a command of :mod:`studio.bridge.commands` applies, and else why not."""
        if self._services is None:
            return False, "No workflow is open."
        if self._moving and command != "stop":
            return False, "The last command is still being carried out."
        reason = why_not(
            command,
            self._now,
            can_retry=self._retry_point() is not None,
            can_resume=self.branch is not None and self.is_interrupted(self.branch),
            has_checkpoints=bool(self.checkpoints),
            has_run=self._session is not None or bool(self._last_input),
            holds_failure=bool(self.held_failures),
            has_before=self._before_here() is not None,
            has_after=self._after_here() is not None,
            differs=bool(self.drawing_differs),
        )
        return not reason, reason

    def run(self, text: str) -> None:
        """Starts a run with this input, or continues a paused one."""
        self._go_on(text, step=False)

    def step(self, text: str) -> None:
        """Starts paused before the first superstep, or lets one superstep run."""
        self._go_on(text, step=True)

    def _go_on(self, text: str, *, step: bool) -> None:
        if not self._may("step" if step else "run"):
            return
        session = self._session
        if session is None or session.state in ENDED:
            self._start(text, RunSession.step if step else RunSession.run)
        elif self._edits:
            edits = self._edits
            self._move(lambda: self._fork_paused(session, edits, step=step))
        elif step:
            session.step()
        else:
            session.continue_()

    def pause(self) -> None:
        """Holds the run at the next superstep boundary."""
        if self._may("pause") and self._session is not None:
            self._session.pause()

    def try_now(self) -> None:
        """Refused model calls that wait for their next try begin it at once."""
        if self._session is not None:
            for view, _ in self.waits:
                view.next_try = None
            self._session.try_now()

    def stop(self) -> None:
        """Cancels the run."""
        if not self._may("stop"):
            return
        if self._session is not None and self._session.state not in ENDED:
            self._session.stop()
        else:
            self._tasks.cancel_turn()
            self._set_state(RunState.CANCELLED)

    def restart(self) -> None:
        """Stops what runs and starts again with the same input."""
        if self._may("restart"):
            self._start(self._last_input)

    def retry(self) -> None:
        """Goes on from the last checkpoint of a branch that failed, was stopped or interrupted, as a new branch. Only
        nodes that failed, or are drawn differently now, are called again. A held failure is retried where it stands."""
        point, branch, session = self._retry_point(), self.branch, self._session
        if not self._may("retry"):
            return
        if session is not None and self.held_failures:
            session.retry_failed()
        elif point is not None and branch is not None:
            self._move(lambda: self._retry(branch, point))

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Answers requests by id; continues the run."""
        session = self._session
        if session is None or not self._may("answer"):
            return
        document = self._pinned or Workflow()
        try:
            values = {
                form.request: answer_value(form.data, form.response_type, answers[form.request], document)
                for form in self.requests
                if form.request in answers
            }
        except ValueProblem as problem:
            self.failed_to_start.emit(str(problem))
            return
        if values:
            session.answer(values)
            for request in values:
                self.keep_draft(request, None)

    def toggle_breakpoint(self, node: str) -> None:
        """Sets a breakpoint on a node or takes it away; holds for the run in progress too."""
        self.setup.toggle("node", node)

    def restore(self, checkpoint: str, *, recorded: bool = False) -> None:
        """Shows the moment of a checkpoint, paused there; Run or Step continues from it as a new branch. ``recorded``:
        steps with outside effects then give again what they gave."""
        if self._may("restore"):
            self._move(lambda: self._go_with_recorded(checkpoint, QueueEdits(), run=False, recorded=recorded))

    def fork(self, checkpoint: str, queued: Mapping[str, str] | None = None, *, recorded: bool = False) -> None:
        """Runs a new branch from a checkpoint, with the texts of queued messages replaced; without ``queued`` by the
        drafts that were typed for the messages that wait there."""
        if self._may("fork"):
            texts = self.drafts_at(checkpoint) if queued is None else dict(queued)
            self.drafts.clear()
            self._move(lambda: self._go_with_recorded(checkpoint, QueueEdits(texts), run=True, recorded=recorded))

    def drafts_at(self, checkpoint: str) -> dict[str, str]:
        """Texts that were typed for messages that wait at the moment shown, by message, where they differ."""
        waiting = self.queued if self.stands_at(checkpoint) else []
        return {q.message: self.drafts[q.message] for q in waiting if self.drafts.get(q.message, q.text) != q.text}

    def stands_at(self, checkpoint: str) -> bool:
        """Whether canvas, messages and state show exactly this moment, not a superstep that failed after it."""
        return self.here == checkpoint and self.state not in _BEYOND

    def show_branch(self, branch: str) -> None:
        """Shows a branch at its end; one that was not finished can go on from there."""
        at_its_end = branch == self.branch and self.here == self._tree.last_checkpoint(branch)
        if not at_its_end and self._may("restore"):
            self._move(lambda: self._go_to_end_of(branch, run=False))

    @property
    def unanswered(self) -> BranchView | None:
        """The shown branch, else the newest one, if it waits for answers and its questions are not shown yet."""
        newest = max(self.branches, key=lambda b: (b.number, b.started), default=None)
        found = next((b for b in self.branches if b.branch == self.branch), newest)
        waits = found is not None and found.state == RunState.WAITING and not found.elsewhere and not self.requests
        return found if waits else None

    def is_interrupted(self, branch: str) -> bool:
        """Whether a branch ran when its program ended, and has a checkpoint to go on from."""
        view = self._tree.branch(branch)
        interrupted = view is not None and view.state == INTERRUPTED
        return interrupted and self._tree.last_checkpoint(branch) is not None

    def resume(self, branch: str | None = None) -> None:
        """Goes on with an interrupted branch (default: the shown one) from its last checkpoint, on the same branch.
        Nodes that had finished by then are not called again."""
        chosen = branch or self.branch
        if chosen is not None and self.is_interrupted(chosen) and self._may("restore"):
            self._move(lambda: self._go_to_end_of(chosen, run=True))

    def mark(
        self,
        checkpoint: str,
        *,
        name: str | None = None,
        note: str | None = None,
        pinned: bool | None = None,
        tags: Sequence[str] | None = None,
    ) -> None:
        """Names, describes, pins or tags a checkpoint; what is None stays as it is."""
        old = self._tree.mark(checkpoint)
        new = Mark(
            old.name if name is None else name.strip(),
            old.note if note is None else note,
            old.pinned if pinned is None else pinned,
            old.tags if tags is None else tuple(dict.fromkeys(t for t in (tag.strip() for tag in tags) if t)),
        )
        if new != old:
            self._keep(lambda store: store.set_mark(checkpoint, new), lambda: self._tree.set_mark(checkpoint, new))

    def rename_branch(self, branch: str, name: str) -> None:
        """Another name of a branch; an empty one changes nothing."""
        view, new = self._tree.branch(branch), name.strip()
        if view is not None and new and new != view.name:
            self._keep(lambda store: store.update_run(branch, name=new), lambda: self._rename(branch, new))

    def _rename(self, branch: str, name: str) -> None:
        self._tree.rename(branch, name)
        if self._session is not None and self._session.record.id == branch:
            self._session.record = replace(self._session.record, name=name)

    def removal_of(self, branch: str) -> tuple[int, int, int]:
        """What deleting a branch takes away: checkpoints, bytes at most, and how many of them are named or pinned."""
        own = self._tree.own_checkpoints(branch)
        return len(own), sum(view.bytes for view in own), sum(bool(v.name or v.pinned) for v in own)

    def forks_of(self, branch: str) -> int:
        """How many branches begin at a checkpoint of this one."""
        own = {view.checkpoint for view in self._tree.own_checkpoints(branch)}
        return len({c.branch for c in self.checkpoints if c.parent in own and c.branch != branch})

    def delete_branch(self, branch: str) -> None:
        """Takes a branch with its checkpoints and its log away; :meth:`put_back` undoes it until the file is compacted.
        Branches that were forked from it stay."""
        view = self._tree.branch(branch)
        if view is not None and view.elsewhere:
            self.failed_to_start.emit(f"{view.name} is at work in {view.elsewhere}. Stop it there first.")
        elif view is not None and self._may("restore"):
            self._move(lambda: self._delete(branch))

    def fork_mapped(self, checkpoint: str, mapping: NodeMapping) -> None:
        """Runs a new branch on the drawing as it is now, from a checkpoint of an older drawing."""
        if self._may("fork"):
            self._move(lambda: self._go_to_mapped(checkpoint, mapping))

    def reopen(self) -> None:
        """The document has another id: its runs are kept elsewhere. What runs is stopped."""
        if self._services is not None:
            self._move(self._reopen)

    async def close(self) -> None:
        """Ends what runs and gives the store up. What was active is listed as interrupted next time."""
        self._drawing_timer.stop()
        self._watch_timer.stop()
        self.stop_compacting()
        self._drafts_timer.stop()
        self._on_drafts_timer_timeout()
        if self._batch is not None:
            await self._batch.close()
        await self._tasks.close()
        try:
            await self._write_kept()
        except (StoreError, OSError) as error:
            self._fail(f"Names of checkpoints were not kept: {error}.")
        if self._session is not None:
            await self._session.close()
        self._pump.clear()
        if self._store is not None:
            await self._store.close()
