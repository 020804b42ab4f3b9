"""Finding checkpoints of the workflow that is open."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from studio.bridge.run_comparing import RunComparing
from studio.bridge.run_services import RunServices
from studio.bridge.run_views import CheckpointView
from studio.debugger.branches import Stretch, replay
from studio.debugger.search import Findable, Happened, HappenedFolder, Query, QueryProblem, parse
from studio.debugger.states import ENDED

_NOTHING = Happened()


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
            self.found.emit(text, self._matching(query), "")
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
        if text == self._wanted:
            self.found.emit(text, self._matching(query), "")
        # A branch that goes on is read again the next time.
        settled = {b.branch for b in self.branches if b.state in ENDED and not b.elsewhere}
        self._happened = {branch: read for branch, read in self._happened.items() if branch in settled}

    async def _read(self, branch: str) -> None:
        assert self._services is not None
        folder = HappenedFolder(self._services.cost_of)
        await replay([Stretch(branch, None)], await self._opened_store(), self._services.codec, folder.fold)
        self._happened[branch] = folder.by_checkpoint

    def _matching(self, query: Query) -> tuple[str, ...]:
        return tuple(view.checkpoint for view in self.checkpoints if query.matches(self._findable(view)))

    def _findable(self, view: CheckpointView) -> Findable:
        branch = self._tree.branch(view.branch)
        happened = self._happened.get(view.branch, {}).get(view.checkpoint, _NOTHING)
        names: tuple[str, ...] = ()
        if self._services is not None:
            document = self._services.document()
            names = tuple(n.name for n in document.nodes if n.id in happened.nodes)
        last = branch is not None and self._tree.last_checkpoint(branch.branch) == view.checkpoint
        state = branch.state if branch is not None and last else ""
        name = branch.name if branch is not None else ""
        return Findable(
            happened, view.created, view.superstep, names, view.name, view.note, view.tags, name, state, view.pinned
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
