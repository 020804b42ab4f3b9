"""What happens to the runs that are kept: other programs at work on them, rules of retention, undo, compacting."""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio.bridge.run_services import RunServices
from studio.bridge.run_turns import RunTurns
from studio.checkpoints import RetentionRules, RunStore, StoreError, UnusableStore
from studio.debugger.states import ENDED, HALTED, INTERRUPTED, RunState

if TYPE_CHECKING:
    from studio.checkpoints.retention import Retention
    from studio.checkpoints.upkeep import Compaction, Discarded, Sizes, Stop

_LOOKS_EVERY_MS = 1000
"""How often the window looks whether another program wrote; one look takes some microseconds."""


@dataclass(frozen=True, slots=True)
class Preview:
    """What rules would take away: checkpoints, whole branches that lose their last one, bytes that compacting frees."""

    rules: RetentionRules
    retention: Retention
    branches: tuple[str, ...]
    freed: int


class RunUpkeep(RunTurns):
    """Part of :class:`studio.bridge.run_model.RunModel`."""

    upkeep_changed = Signal()
    """Sizes, rules, what can be put back, or how far compacting is."""
    previewed = Signal(object)
    """A :class:`Preview` that was asked for."""
    compacted = Signal(object)
    """:class:`studio.checkpoints.upkeep.Compaction`, or None: it was stopped."""

    def __init__(self, services: RunServices | None = None, parent: QObject | None = None) -> None:
        self.rules = RetentionRules()
        """The rules of this workflow."""
        self.sizes: Sizes | None = None
        """None until they were asked for with :meth:`measure`."""
        self.compacting = ""
        """What compacting does just now; "" while nobody compacts."""
        self.file_trouble = ""
        """What is wrong with the file of runs, in sentences; "" if nothing is."""
        self._stop: Stop | None = None
        self._looking = False
        self._last_state = RunState.IDLE
        super().__init__(services, parent)
        self._watch_timer = QTimer(self)
        self._watch_timer.setInterval(_LOOKS_EVERY_MS)
        self._watch_timer.timeout.connect(self.look_elsewhere)
        if services is not None:
            self._watch_timer.start()
        self.state_changed.connect(self._on_state_changed)

    # ------------------------------------------------------------------------------------------ other programs

    def look_elsewhere(self) -> None:
        """Shows what other programs did to the runs of this workflow since the last look."""
        store = self._store
        if store is None or self._looking or not (store.changed_elsewhere() or self._tree.busy_elsewhere()):
            return
        self._looking = True
        self._tasks.turn(self._look_elsewhere)

    async def _look_elsewhere(self) -> None:
        try:
            shown = self._tree.branch(self.branch or "")
            followed = shown is not None and shown.elsewhere
            if await self._tree.load(await self._opened_store()):
                await self._tree.find_waiting(await self._opened_store())
                if self._services is not None:
                    await self._mark_unfit(self._services)
                shown = self._tree.branch(self.branch or "")
                self._tell_tree()
                self.state_changed.emit()
                if followed and shown is not None:
                    await self._go_to_end_of(shown.branch, run=False)
        finally:
            self._looking = False

    # ------------------------------------------------------------------------------------------ a broken file

    async def _opened_store(self) -> RunStore:
        """The store; of a damaged file what can be read. What is wrong is in :attr:`file_trouble`."""
        try:
            store = await super()._opened_store()
        except UnusableStore as problem:
            self._tell_trouble(f"{problem}.")
            raise
        if (lost := getattr(store, "lost", None)) is not None and not self.file_trouble:
            name = store.original.name  # type: ignore[attr-defined]
            self._tell_trouble(f"{name} is damaged. {lost.sentence()} Nothing of it was changed.")
        return store

    async def _give_up_store(self) -> None:
        """What is known of one file holds for no other."""
        await super()._give_up_store()
        self.sizes, self.rules, self.file_trouble = None, RetentionRules(), ""

    def _tell_trouble(self, text: str) -> None:
        if text != self.file_trouble:
            self.file_trouble = text
            self.upkeep_changed.emit()

    async def _list_branches(self) -> None:
        """Damage is sometimes only found when a page is read: the file is then opened again, to be read only."""
        try:
            await super()._list_branches()
        except UnusableStore as problem:
            if problem.kind != "damaged" or self._store is None or self._services is None:
                if not self.file_trouble:
                    raise
                return
            await self._give_up_store()
            self._store = await self._services.open_damaged()
            await super()._list_branches()

    def begin_new_file(self) -> None:
        """Puts a file of runs that cannot be used aside, under another name, and begins a new one."""
        if self.file_trouble and self._services is not None:
            self._move(self._begin_new_file)

    async def _begin_new_file(self) -> None:
        assert self._services is not None
        await self._leave()
        await self._give_up_store()
        self._services.set_aside()
        self._tree.clear()
        self._tell_trouble("")
        await self._reset()

    # --------------------------------------------------------------------------------------------- memory only

    @property
    def in_memory_only(self) -> bool:
        """Whether no message of a run is kept on disk."""
        return self._services is not None and not self._services.document().runs_on_disk

    @property
    def left_on_disk(self) -> int:
        """Bytes of runs from before, while new ones are kept in memory only."""
        return self._services.disk_bytes() if self._services is not None and self.in_memory_only else 0

    def remove_from_disk(self) -> None:
        """Deletes the runs from before, for ever."""
        if self._services is not None and self.in_memory_only:
            self._services.remove_from_disk()
            self.upkeep_changed.emit()

    # ------------------------------------------------------------------------------------------------ the rules

    def set_retention(self, rules: RetentionRules) -> None:
        """Other rules; they take nothing away before :meth:`prune` or the end of a run."""
        self.rules = rules
        self._keep(lambda store: store.set_retention(rules))
        self.upkeep_changed.emit()

    def measure(self) -> None:
        """Asks for :attr:`rules` and :attr:`sizes`; ``upkeep_changed`` follows."""
        if self._services is not None and (self._store is not None or self._services.store_exists()):
            self._tasks.turn(self._measure)

    async def _measure(self) -> None:
        store = await self._opened_store()
        self.rules, self.sizes = await store.retention(), await store.sizes()
        self.upkeep_changed.emit()

    def preview(self, rules: RetentionRules) -> None:
        """Asks what rules would take away; ``previewed`` follows."""
        if self._services is not None:
            self._tasks.turn(lambda: self._preview(rules))

    async def _preview(self, rules: RetentionRules) -> None:
        self.previewed.emit(await self._planned(rules))

    async def _planned(self, rules: RetentionRules) -> Preview:
        from studio.checkpoints.retention import Kept, plan_retention

        store = await self._opened_store()
        await self._see_others(store)
        branches = self.branches
        infos = self._tree.infos()
        # A branch that ended needs nothing to go on; one that waits, is paused or was cut does.
        waiting = {b.branch for b in branches if b.state in {*HALTED, INTERRUPTED}}
        kept = Kept(
            {i.id: self._tree.mark(i.id) for i in infos},
            waiting,
            self._at_work(),
            self._tree.fork_points(),
        )
        size = (await store.sizes()).file if rules.megabytes is not None else 0
        found = plan_retention(infos, kept, rules, time.time(), file_bytes=size)
        whole = self._tree.emptied(found.ids, keep=waiting | self._at_work())
        return Preview(rules, found, whole, await store.freed_by(found.ids, whole))

    def prune(self, rules: RetentionRules | None = None) -> None:
        """Takes away what the rules (default: those of the workflow) do not keep; :meth:`put_back` undoes it."""
        if self._services is not None:
            self._tasks.turn(lambda: self._prune(rules or self.rules))

    async def _prune(self, rules: RetentionRules) -> None:
        found = await self._planned(rules)
        ids = tuple(c for c in found.retention.ids if c != self.here)
        if ids:
            text = "1 checkpoint by the rules" if len(ids) == 1 else f"{len(ids)} checkpoints by the rules"
            await self._discard(text, ids, found.branches)

    # ------------------------------------------------------------------------------------------- away and back

    def delete_checkpoints(self, checkpoints: Collection[str]) -> None:
        """Takes single checkpoints away; :meth:`put_back` undoes it."""
        ids = tuple(c for c in checkpoints if c != self.here)
        if ids:
            text = "1 checkpoint" if len(ids) == 1 else f"{len(ids)} checkpoints"
            self._tasks.turn(lambda: self._discard(text, ids, ()))

    @property
    def discarded(self) -> tuple[Discarded, ...]:
        """What can be put back, oldest first."""
        return tuple(self._tree.discarded)

    def put_back(self, number: int | None = None) -> None:
        """Undoes one removal (default: the last)."""
        if self.discarded:
            chosen = self.discarded[-1].number if number is None else number
            self._tasks.turn(lambda: self._put_back(chosen))

    async def _put_back(self, number: int) -> None:
        await (await self._opened_store()).put_back(number)
        await self._reload()

    async def _discard(self, text: str, checkpoints: Collection[str], runs: Collection[str]) -> None:
        await (await self._opened_store()).discard(text, time.time(), checkpoints, runs)
        await self._reload()

    async def _reload(self) -> None:
        await self._tree.load(await self._opened_store())
        if self._services is not None:
            await self._mark_unfit(self._services)
        self._tell_tree()
        await self._measure()

    # ----------------------------------------------------------------------------------------------- compacting

    def why_not_compact(self) -> str:
        """A sentence while the file cannot be compacted, else ""."""
        if self.compacting:
            return "The file is being compacted."
        if self._tree.busy_elsewhere():
            return "Another program works on these runs. Wait until it has ended."
        return "Wait until the run has ended, or stop it." if self._now not in {RunState.IDLE, *ENDED} else ""

    def compact(self) -> None:
        """Removes for good what was taken away, and gives the room back; ``compacted`` follows."""
        if not self.why_not_compact():
            from studio.checkpoints.upkeep import Stop

            self._stop = Stop()
            self._say_compacting("Compacting")
            stop = self._stop
            self._tasks.turn(lambda: self._compact(stop))

    def stop_compacting(self) -> None:
        """Ends compacting as soon as it can."""
        if self._stop is not None:
            self._stop.set()

    async def _compact(self, stop: Stop) -> None:
        from studio.checkpoints.upkeep import Stopped

        done: Compaction | None = None
        try:
            done = await (await self._opened_store()).compact(self._say_compacting, stop)
        except Stopped:
            pass
        finally:
            self._stop = None
            self._say_compacting("")
        await self._reload()
        self.compacted.emit(done)

    def _say_compacting(self, text: str) -> None:
        self.compacting = text
        self.upkeep_changed.emit()

    # ---------------------------------------------------------------------------------------------------------

    def _at_work(self) -> set[str]:
        """Branches that a session of this or of another program changes just now."""
        busy = {b.branch for b in self.branches if b.elsewhere}
        session = self._session
        return busy | {session.record.id} if session is not None and session.state not in ENDED else busy

    def _on_state_changed(self) -> None:
        before, self._last_state = self._last_state, self.state
        ended = self.state in ENDED and before not in {RunState.IDLE, *ENDED}
        if ended and self.rules.automatic and self._services is not None:
            self._tasks.turn(self._prune_by_rules)

    async def _prune_by_rules(self) -> None:
        """Never in the way of a run: what cannot be read is said, and nothing is taken away."""
        try:
            await self._prune(self.rules)
        except (StoreError, OSError) as error:
            self._fail(f"The rules for keeping checkpoints were not applied: {error}.")
