"""Comparing branches and checkpoints of the workflow that is open."""

from __future__ import annotations

from PySide6.QtCore import Signal

from studio.bridge.run_upkeep import RunUpkeep
from studio.debugger.states import HALTED, INTERRUPTED, RunState


class RunComparing(RunUpkeep):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    compared = Signal(str, str, object)
    """Both keys of a comparison that was asked for, and the
    :class:`studio.debugger.run_comparison.RunComparison`, or a sentence why there is none."""

    def compare(self, a: str, b: str) -> None:
        """Compares two branches or checkpoints, by id; ``compared`` follows."""
        if self._services is not None:
            self._tasks.turn(lambda: self._compare_two(a, b))

    def titles_of(self, a: str, b: str) -> tuple[str, str]:
        """Both sides of a comparison in a few words that tell them apart: every run has a branch called "main"."""
        titles = self.title_of(a), self.title_of(b)
        if titles[0] != titles[1]:
            return titles
        return self._with_run(a, titles[0]), self._with_run(b, titles[1])

    def _with_run(self, key: str, title: str) -> str:
        view = next((c for c in self.checkpoints if c.checkpoint == key), None)
        branch = self._tree.branch(view.branch if view is not None else key)
        return f"{title} of run {branch.number}" if branch is not None else title

    def title_of(self, key: str) -> str:
        """A branch or checkpoint in a few words: "Fork A", "main after superstep 3"."""
        view = next((c for c in self.checkpoints if c.checkpoint == key), None)
        branch = self._tree.branch(view.branch if view is not None else key)
        if branch is None:
            return key
        if view is None or key == self._tree.last_checkpoint(view.branch):
            return branch.name
        if view.name:
            return view.name
        when = "at the input" if view.kind == "input" else f"after superstep {view.superstep}"
        return f"{branch.name} {when}"

    async def _compare_two(self, a: str, b: str) -> None:
        assert self._services is not None
        from studio.debugger.comparing import Comparing, Moment

        store = await self._opened_store()
        sides: list[Moment] = []
        for key, title in zip((a, b), self.titles_of(a, b), strict=True):
            record, checkpoint = self._tree.record_of(key), key
            if record is None:
                record, checkpoint = self._tree.record(key), self._tree.last_checkpoint(key)  # type: ignore[assignment]
            if record is None:
                self.compared.emit(a, b, "One of the two is no longer there.")
                return
            # Up to its last checkpoint, a branch that failed or was stopped hides what it did afterwards.
            at_end = checkpoint == self._tree.last_checkpoint(record.id) and not self._goes_on(record.id)
            way = self._tree.way_to(record.id, None if at_end else checkpoint)
            sides.append(Moment(record, checkpoint, way, title))
        names = {c.checkpoint: c.name for c in self.checkpoints if c.name}
        comparing = Comparing(store, self._services.codec, self._services.document(), names)
        self.compared.emit(a, b, await comparing.compare(*sides))

    def _goes_on(self, branch: str) -> bool:
        view = self._tree.branch(branch)
        return view is not None and view.state in {INTERRUPTED, RunState.RUNNING, *HALTED}
