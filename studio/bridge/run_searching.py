"""Finding checkpoints of the workflow that is open."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from studio.bridge.run_comparing import RunComparing
from studio.bridge.run_services import RunServices
from studio.bridge.run_views import CheckpointView
from studio.debugger.branches import Stretch, replay
from studio.debugger.search import Findable, Happened, HappenedFolder, Query, QueryProblem, parse
from studio.debugger.states import ENDED

_NOTHING = Happened()
_PIECE = 100
"""Checkpoints that are looked at in one piece of work."""


class RunSearching(RunComparing):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    found = Signal(str, object, str)
    """A query, the ids of the checkpoints that it finds (oldest first), and a sentence if it cannot be understood or is
    still being looked for."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        self._happened: dict[str, dict[str, Happened]] = {}
        self._wanted = ""
        super().__init__(services, parent)

    def search(self, text: str) -> None:
        """Looks for checkpoints; ``found`` follows, for the last query that was asked."""
        self._wanted = text
        try:
            query = parse(text)
        except QueryProblem as problem:
            self.found.emit(text, (), str(problem))
            return
        if not query.needs_logs or self._services is None:
            self._tasks.turn(lambda: self._find(text, query))
        else:
            self._tasks.turn(lambda: self._search(text, query))

    async def _search(self, text: str, query: Query) -> None:
        missing = [b.branch for b in self.branches if b.branch not in self._happened]
        for at, branch in enumerate(missing):
            if text != self._wanted:
                return
            if at % 10 == 9:
                self.found.emit(text, (), f"Reading branch {at + 1} of {len(missing)}…")
            await self._read(branch)
        await self._find(text, query)
        # A branch that goes on is read again the next time.
        settled = {b.branch for b in self.branches if b.state in ENDED and not b.elsewhere}
        self._happened = {branch: read for branch, read in self._happened.items() if branch in settled}

    async def _read(self, branch: str) -> None:
        assert self._services is not None
        folder = HappenedFolder()
        await replay([Stretch(branch, None)], await self._opened_store(), self._services.codec, folder.fold)
        self._happened[branch] = folder.by_checkpoint

    async def _find(self, text: str, query: Query) -> None:
        """Looks at every checkpoint, some at a time so that the window goes on."""
        views, found = list(self.checkpoints), list[str]()
        branches = {b.branch: b for b in self.branches}
        last = {view.branch: view.checkpoint for view in views}
        names = {n.id: n.name for n in self._services.document().nodes} if self._services is not None else {}
        for at, view in enumerate(views):
            branch = branches.get(view.branch)
            state = branch.state if branch is not None and last[view.branch] == view.checkpoint else ""
            if query.matches(self._findable(view, branch.name if branch is not None else "", state, names)):
                found.append(view.checkpoint)
            if at % _PIECE == _PIECE - 1:
                await asyncio.sleep(0)
        if text == self._wanted:
            self.found.emit(text, tuple(found), "")

    def _findable(self, view: CheckpointView, branch: str, state: str, names: Mapping[str, str]) -> Findable:
        happened = self._happened.get(view.branch, {}).get(view.checkpoint, _NOTHING)
        drawn = tuple(names[node] for node in happened.nodes if node in names)
        return Findable(
            happened, view.created, view.superstep, drawn, view.name, view.note, view.tags, branch, state, view.pinned
        )

    # -------------------------------------------------------------------------------------------------- jumping

    def checkpoint_before_message(self, message: str) -> str | None:
        """The last checkpoint before the superstep that sent a message of the shown run."""
        view = next((m for m in self.messages if m.message == message), None)
        return None if view is None else self._before(view.superstep)

    def checkpoint_before_error(self) -> str | None:
        """The last checkpoint before what failed in the shown run; None if nothing did."""
        failed = [i.superstep for i in self.invocations.values() if i.status == "failed" and not i.inside]
        return self._before(failed[-1]) if failed else None

    def _before(self, superstep: int) -> str | None:
        """Of the checkpoints on the way of the shown branch the last with fewer supersteps done."""
        if self.branch is None:
            return None
        way = {stretch.run: stretch.until for stretch in self._tree.way_to(self.branch, None)}
        found: str | None = None
        for run, until in way.items():
            for view in self._tree.own_checkpoints(run):
                if view.superstep < max(superstep, 1):
                    found = view.checkpoint
                if view.checkpoint == until:
                    break
        return found
